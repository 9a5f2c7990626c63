/* A list of regular expressions (PCRE2), of which the first that matches decides.
 *
 * What a pattern may cost is bounded: its length and its brackets when it is compiled, its steps and its
 * memory when it is matched, so that no pattern hangs or grows. Nothing is compiled to machine code. Nothing
 * depends on the locale.
 */
#ifndef SHARE_CLASS_PATTERNS_H
#define SHARE_CLASS_PATTERNS_H

#include <stdbool.h>
#include <stddef.h>

#include "berth/error.h"

struct class_patterns;

/* Compile n patterns, each a text of any bytes. Returns NULL with EINVAL, and which pattern is wrong, where
 * and why, or with ENOMEM.
 */
struct class_patterns *class_patterns_compile(const char *const *patterns, size_t n,
                                              berth_error_t *err);

void class_patterns_destroy(struct class_patterns *p);

/* Find the first pattern that matches a part of the text; their number if none does. *gave_up is true if one
 * before that was given up on. Returns 0, or -1 with ENOMEM. The steps of each are bounded.
 */
int class_patterns_find(const struct class_patterns *p, const char *text, size_t length,
                        size_t *found, bool *gave_up);

#endif
