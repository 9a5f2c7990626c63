/* What the lines of a script ask for that are written for other tools: words for submit, with the meanings that they
 * have there. Lines of Slurm and of Flux may both be there; Flux's take precedence.
 */
#ifndef CLI_CLIENT_DIRECTIVES_H
#define CLI_CLIENT_DIRECTIVES_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/client/script.h"
#include "cli/foreign/options.h"

struct directives {
    bool slurm;    /* it has lines of Slurm */
    int64_t tasks; /* so many tasks has the script, which runs once; 0: no line says that it does */
    struct foreign all; /* the words and warnings of all lines */
};

/* Read those of a script. `command` has n words of a command line of sbatch, if there is one; its options take
 * precedence over lines of Slurm. `name` stands before messages. 0, or -1 with errno and a text.
 */
int directives_read(struct directives *d, const struct script *s, char **command, int n,
                    const char *name, berth_error_t *err);

void directives_clear(struct directives *d);

#endif
