/* Slurm's commands, for people and tools that call them: the program under another name.
 *
 * Each reads the options that it has there, asks the server as any verb does, and answers in the formats that tools read.
 */
#ifndef CLI_SHIM_SHIM_H
#define CLI_SHIM_SHIM_H

#include <jansson.h>
#include <stdbool.h>

#include "base/hostlist.h"
#include "base/strbuf.h"
#include "cli/client/connection.h"
#include "cli/foreign/options.h"

/* Run the command of Slurm's that the program was called as. False if that is none; else its exit status is in *status.
 */
bool shim_run(int argc, char **argv, int *status);

/* ---- What they share ---- */

int shim_sbatch(int argc, char **argv);
int shim_salloc(int argc, char **argv);
int shim_scancel(int argc, char **argv);
int shim_scontrol(int argc, char **argv);
int shim_sacct(int argc, char **argv);
int shim_sacctmgr(int argc, char **argv);
int shim_sinfo(int argc, char **argv);
int shim_squeue(int argc, char **argv);
int shim_srun(int argc, char **argv);

/* Print "NAME: error: ..." on standard error. Returns 1, which is what Slurm's commands return. */
int shim_failed(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The caller's name, whatever the environment says; "", nobody's, if it is unknown. */
const char *shim_me(void);

/* "slurm VERSION", which tools compare with what they need. */
int shim_version(void);

/* Jobs of a command line: "17", "17_3", "17_[1-3,5]", "17.batch", separated by commas, as words of ids (config/ids.h) behind
 * each other; a step stands for its job. 0, or -1 with EINVAL or ENOMEM.
 */
struct shim_ids {
    char **words;
    size_t n, cap;
};
int shim_ids_add(struct shim_ids *ids, const char *text);
void shim_ids_clear(struct shim_ids *ids);

/* "PD,running,all" as the API's states, separated by commas. Empty: all; with *none set: jobs here are never in any of these
 * ("suspended"). False if one is no state.
 */
bool shim_states(const char *text, struct strbuf *out, bool *none);

/* Which jobs to list. */
struct shim_select {
    struct shim_ids ids;
    struct strbuf users;                /* a list "a,b"; empty: any */
    const char *queue, *name, *account; /* lists "a,b"; NULL: any */
    struct hostlist nodes;              /* of which it holds or held one; empty: any */
    struct strbuf states;               /* as the API has them; empty: all */
    bool none;                          /* none of them is in such a state */
    bool history;                       /* those that have ended too, since then */
    double since, until;                /* seconds since 1970; 0: any */
};

/* Read them, oldest first, each member of an array for itself. An array of objects, or NULL with errno and a text;
 * ENOENT: one that was named is not there.
 */
json_t *shim_jobs(struct connection *s, const struct shim_select *select, berth_error_t *err);
void shim_select_clear(struct shim_select *select);

/* Options by which squeue and sacct pick jobs, and mean the same by. A command's own have numbers from SHIM_PICKS on. */
enum shim_pick {
    SHIM_IDS,
    SHIM_STATES,
    SHIM_USERS, /* names, and numbers of such that the system knows */
    SHIM_QUEUES,
    SHIM_NAMES,
    SHIM_ACCOUNTS,
    SHIM_NODES,
    SHIM_CLUSTERS,
    SHIM_PICKS
};

/* Take one of them, with a value that lasts as long as the selection. 0, or the exit status after an error line. */
int shim_pick(const char *command, struct shim_select *select, const struct foreign_option *option,
              const char *value);

/* There is one cluster, and it may be named. 0, or the exit status after an error line if the list names another. */
int shim_cluster(const char *command, const char *list);

#endif
