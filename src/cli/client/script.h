/* Scripts that carry options:
 *
 *     #!/bin/sh
 *     #BERTH -c 4 -t 1h
 *     #SBATCH --job-name="my job"
 *     #flux: -n 4
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

/* Whose options a line has. */
enum script_mark { SCRIPT_BERTH, SCRIPT_SLURM, SCRIPT_FLUX };

struct script_line {
    enum script_mark mark;
    size_t number; /* from 1 */
    int first, n;  /* its words */
};

struct script {
    char *text;
    size_t length;
    char **words; /* an empty word, then those of its lines; n in all, ended by NULL */
    int n;        /* including the first */
    struct script_line *lines;
    size_t n_lines, cap_lines;
};

/* True if the file is a script: it exists, can be read, and begins with "#!". */
bool script_is(const char *path);

/* Read a script, or standard input for "-". Returns 0, or -1 with errno and a text with the number of the
 * wrong line.
 */
int script_read(struct script *s, const char *path, berth_error_t *err);

/* Find the lines with options in the text that was read. */
int script_options(struct script *s, const char *path, berth_error_t *err);

void script_clear(struct script *s);

#endif
