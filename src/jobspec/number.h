/* Numbers as jobspecs write them, the same under every locale. */
#ifndef JOBSPEC_NUMBER_H
#define JOBSPEC_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Scan decimal digits, without sign or leading zeros, up to UINT32_MAX. Returns their end, or NULL.
 */
const char *number_scan(const char *text, uint32_t *ret_value);

/* The same, and nothing behind it. */
bool number_u32(const char *text, uint32_t *ret_value);

/* A decimal number with sign, point and exponent as may be, .inf or .nan; the nearest double. */
bool number_double(const char *text, double *ret_value);

#endif
