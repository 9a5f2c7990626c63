/* Scripts that carry options of their own:
 *
 *     #!/bin/sh
 *     #BERTH -c 4 -t 1h
 *     #BERTH --name "my job"
 *
 * Such lines stand before the first line that is neither empty nor a comment. Words are as in a shell: quotes
 * and backslashes keep blanks, " # ..." at the end is a comment.
 */
#ifndef CLI_CLIENT_SCRIPT_H
#define CLI_CLIENT_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>

#include "berth/error.h"

#define SCRIPT_MAX ((size_t)4 << 20) /* bytes */

struct script {
    char *text;
    size_t length;
    char **words; /* an empty word, then those of its options; n in all, ended by NULL */
    int n;        /* including the first */
};

/* True if the file is a script: it exists, can be read, and begins with "#!". */
bool script_is(const char *path);

/* Read a script, or standard input for "-". Returns 0, or -1 with errno and a text with the number of the
 * wrong line.
 */
int script_read(struct script *s, const char *path, berth_error_t *err);

/* Find the options in the text that was read. */
int script_options(struct script *s, const char *path, berth_error_t *err);

void script_clear(struct script *s);

#endif
