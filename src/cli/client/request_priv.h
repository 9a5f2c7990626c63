/* A command line on its way to a request: the files of request.h share this. */
#ifndef CLI_CLIENT_REQUEST_PRIV_H
#define CLI_CLIENT_REQUEST_PRIV_H

#include "cli/client/request.h"
#include "cli/option_table.h"

/* Options without a letter. */
enum {
    OPTION_MEM = REQUEST_MEM,
    OPTION_GPU_MEMORY = REQUEST_GPU_MEMORY,
    OPTION_NAME = REQUEST_NAME,
    OPTION_ARRAY,
    OPTION_DEPENDENCY,
    OPTION_BEGIN,
    OPTION_DEADLINE,
    OPTION_HOLD,
    OPTION_PRIORITY,
    OPTION_ENV,
    OPTION_CHDIR,
    OPTION_REQUEUE,
    OPTION_REQUIRES,
    OPTION_SIGNAL,
    OPTION_APPEND,
    OPTION_JOBSPEC,
    OPTION_BULK,
    OPTION_OVERCOMMIT,
    OPTION_PREEMPTIBLE,
    OPTION_ESTIMATE,
    OPTION_WRAP,
    OPTION_SLURM,
    OPTION_PTY,
    OPTION_EACH,
    OPTION_CC,
    OPTION_FILE,
    OPTION_GANG,
    OPTION_MIN,
    OPTION_FAILURE,
    OPTION_ROLE,
    OPTION_RETRIES,
    OPTION_RETRY_ON,
    OPTION_RETRY_DELAY,
    OPTION_MAX_FAILS,
    OPTION_LABEL,
    OPTION_TEST_ONLY,
    OPTION_JSON,
    OPTION_NOTIFY,
    OPTION_NOTIFY_ON
};

/* Options while they become a request. */
struct reading {
    struct request *r;
    json_t *job; /* what the options say */
    json_t *env; /* rules */
    const char *chdir, *wrap;
    const char *where; /* "script.sh: line 3: " before errors, or "" */
    bool step;         /* of a job: a script is a command */
    char **slurm;      /* a command line of sbatch, instead of one of submit, or NULL */
    int n_slurm;
    berth_error_t *err;
};

/* ---- request_options.c ---- */

/* Read options up to the first other word, at *rest. */
int request_options_read(struct reading *g, int argc, char **argv, int *rest);

/* Make it a key of the job. The value is taken; the key is told if it is not UTF-8. */
int request_put(struct reading *g, const char *key, json_t *value);

/* ---- request_values.c ---- */

/* Take an option by its key, its text in optarg. */
int request_value(struct reading *g, int key);

/* ---- request_command.c: what is run ---- */

/* Take the words behind the options: a command, or a script and its arguments. */
int request_command(struct reading *g, char **argv, int argc);
int request_script(struct reading *g, char **argv, int argc);
/* --wrap: a script of one line, which `argc` other words may not stand beside. */
int request_wrap(struct reading *g, int argc);

/* ---- request_environment.c ---- */

/* Add the directory, umask and environment of this process. */
int request_surroundings(struct reading *g);

#endif
