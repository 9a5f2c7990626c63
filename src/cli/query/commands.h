/* The commands of `berth query`. A file commands_FAMILY.c holds those of a family. */
#ifndef CLI_QUERY_COMMANDS_H
#define CLI_QUERY_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/query/session.h"

#define ANY_NUMBER (-1)

struct command {
    const char *name;
    const char *abbreviation;
    int least, most; /* words after the name; ANY_NUMBER: no limit */
    void (*run)(struct session *s, int argc, char **argv);
    const char *note; /* what `help` says */
};

/* In the order of `help`; a row without a name ends the table. */
extern const struct command query_commands[];

/* The command of that name or abbreviation, or NULL. */
const struct command *query_command(const char *name);

/* Run a line, which is modified. Lines that do not begin with the name of a command are comments. False: the
 * session is over.
 */
bool query_run(struct session *s, char *line);

/* commands_match.c */
void query_match(struct session *s, int argc, char **argv);
void query_multi_match(struct session *s, int argc, char **argv);
void query_update(struct session *s, int argc, char **argv);

/* commands_cancel.c */
void query_cancel(struct session *s, int argc, char **argv);
void query_partial_cancel(struct session *s, int argc, char **argv);

/* commands_graph.c */
void query_attach(struct session *s, int argc, char **argv);
void query_remove(struct session *s, int argc, char **argv);
void query_find(struct session *s, int argc, char **argv);
void query_set_property(struct session *s, int argc, char **argv);
void query_get_property(struct session *s, int argc, char **argv);
void query_set_status(struct session *s, int argc, char **argv);
void query_get_status(struct session *s, int argc, char **argv);

/* commands_jobs.c */
void query_list(struct session *s, int argc, char **argv);
void query_info(struct session *s, int argc, char **argv);
void query_stat(struct session *s, int argc, char **argv);
void query_cat(struct session *s, int argc, char **argv);

#endif
