/* Job ids as text (Flux RFC 19): a 64-bit number that Flux shows in several ways.
 *
 *     decimal    123456789012345
 *     hex        0x7048860ddf79
 *     dothex     0000.7048.860d.df79
 *     kvs        job.0000.7048.860d.df79
 *     F58        ƒxv12grS4 or fxv12grS4: digits in base 58 behind an ƒ, in UTF-8, or an f
 */
#ifndef BASE_JOBID_H
#define BASE_JOBID_H

#include <stddef.h>
#include <stdint.h>

/* Read a job id in any of these forms; each may have "job." before it. Returns 0, or -1 with EINVAL, or
 * ERANGE for a number of more than 64 bits.
 */
int jobid_parse(const char *text, size_t length, uint64_t *id);

#endif
