/* SPDX-License-Identifier: MIT */
/* The one object that is rebuilt when the version changes. */
#include "version.h"

const char fz_version[] = VERSION;
