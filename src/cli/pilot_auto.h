/* `berth pilot auto`, and what `watch` does by the rule that it sets. */
#ifndef CLI_PILOT_AUTO_H
#define CLI_PILOT_AUTO_H

#include <jansson.h>

#include "berth/error.h"
#include "cli/client/connection.h"

/* The plan of GET /v1/pilots/auto in words, for people, on standard output. */
void auto_print(const json_t *look);

/* Do what the server's plan says now: ask Slurm for one pilot at most, give back those of no use. Whether there is a rule
 * at all: 1, 0; -1: the server does not answer.
 */
int auto_follow(struct connection *connection);

/* A new pilot: let its agents in, submit its job, and tell the server its number. `more`: further options of sbatch,
 * ended by NULL. 0, with pilot and job told on standard output if `tells`; -1 with a text; whether it is not known if
 * Slurm has it all the same, in which case it is kept.
 */
struct pilot_new {
    int64_t nodes, minutes; /* minutes 0: Slurm's default */
    const char *partition;  /* NULL: Slurm's default */
    char **more;
    bool is_auto, tells;
    bool unsure; /* told by the call */
};
int pilot_make(struct connection *connection, struct pilot_new *p, berth_error_t *err);

#endif
