/* SPDX-License-Identifier: MIT */
#ifndef FZ_BANNED_H
#define FZ_BANNED_H

/*
 * Included by the build in front of every source file of ours: functions
 * that have no safe use here become compile errors.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#pragma GCC poison strcpy strcat strncpy strncat sprintf vsprintf strtok
#pragma GCC poison atoi atol atoll atof gets system popen tmpnam mktemp
#pragma GCC poison gmtime localtime ctime asctime

#endif
