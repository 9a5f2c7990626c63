/* Filling an error text (berth/error.h). */
#ifndef BASE_ERRTEXT_H
#define BASE_ERRTEXT_H

#include <stddef.h>

#include "berth/error.h"

#define ERRTEXT_LIST_MAX 160 /* bytes for a list of words in an error text */

/* Write a formatted line into err, which may be NULL, and set errno to errnum. Returns -1, so that a
 * failing function can end with `return errtext_set(err, EINVAL, "...")`.
 */
int errtext_set(berth_error_t *err, int errnum, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for ENOMEM, "out of memory". */
int errtext_no_memory(berth_error_t *err);

/* For a reader of length bytes of text that found something other than it expected, such as "a number":
 * write what is at the offset, `offset 3: expected a number, found 'x'`. Sets errno to EINVAL and returns
 * -1.
 */
int errtext_expected(berth_error_t *err, const char *text, size_t length, size_t offset,
                     const char *expected);

/* Write a list of words, which ends with NULL, as "a, b or c" into the size bytes at text; what does not
 * fit is cut. `last` comes before the last of several words, such as " or ". Returns text.
 */
const char *errtext_list(char *text, size_t size, const char *const *words, const char *last);

#endif
