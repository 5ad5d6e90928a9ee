/* SPDX-License-Identifier: MIT */
#ifndef FZ_VERSION_H
#define FZ_VERSION_H

/* For --version: "git describe", or the VERSION file of a tarball. */
extern const char fz_version[];

#endif
