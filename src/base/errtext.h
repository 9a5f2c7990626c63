/* Filling an error text (berth/error.h). */
#ifndef BASE_ERRTEXT_H
#define BASE_ERRTEXT_H

#include "berth/error.h"

/* Write a formatted line into err, which may be NULL, and set errno to errnum. Returns -1, so that a
 * failing function can end with `return errtext_set(err, EINVAL, "...")`.
 */
int errtext_set(berth_error_t *err, int errnum, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
