/* Numbers as written in jobspecs, the same in every locale. */
#ifndef JOBSPEC_NUMBER_H
#define JOBSPEC_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Scan decimal digits, without sign or leading zeros, up to UINT32_MAX. Returns their end, or NULL.
 */
const char *number_scan(const char *text, uint32_t *ret_value);

/* The same, with nothing after the digits. */
bool number_u32(const char *text, uint32_t *ret_value);

/* Read a decimal number, with optional sign, point and exponent, or .inf or .nan, as the nearest double. */
bool number_double(const char *text, double *ret_value);

#endif
