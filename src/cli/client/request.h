/* From the command line of submit or run, with options, command and environment, to the JSON object that the
 * API takes.
 */
#ifndef CLI_CLIENT_REQUEST_H
#define CLI_CLIENT_REQUEST_H

#include <jansson.h>
#include <stdbool.h>

#include "berth/error.h"
#include "cli/option_table.h"

/* Which options of submit run and alloc do not have. */
#define REQUEST_SUBMITS_ONLY "bulk cc each file test-only"

/* What a command line of submit or run asks for. */
struct request {
    json_t *job;      /* for POST /v1/jobs */
    const char *bulk; /* --bulk: a file of jobs, instead of a job */
    /* One job for each line of a file, for each number or word; a file of jobs that wait for each other. NULL */
    const char *each, *cc, *file;
    bool wants_help;
    bool has_output; /* the output goes to a file of the caller's choice */
    bool pty;        /* --pty: the job has a terminal */
    bool json;       /* --json: what is printed is for programs */
    bool used_input; /* a script or jobspec was read from standard input */
    /* Of the caller: the command if there is none; NULL: there must be one */
    const char *otherwise;
};

/* Read a command line, including the options in the script that it names. Of the request, `otherwise` is set
 * before. Returns 0, or -1 with errno and a text: EINVAL if the command line is wrong, else because a file can't be
 * read or memory has run out.
 */
int request_read(struct request *r, int argc, char **argv, berth_error_t *err);

/* The same for a step of a job: a script is a command like others, and its lines are not read. */
int request_read_step(struct request *r, int argc, char **argv, berth_error_t *err);

/* The same for sbatch: of `total` words, the first n are its options, then come a script (none: standard input) and its
 * arguments; or `wrap` is a line instead of a script.
 */
int request_read_sbatch(struct request *r, char **words, int n, int total, const char *wrap,
                        berth_error_t *err);

/* Take one of submit's options that is about what a job asks for, by its key, its text in optarg: into the object of a
 * request. 0, or -1 with a text.
 */
enum { REQUEST_MEM = OPTION_LONG(0), REQUEST_GPU_MEMORY, REQUEST_NAME };
int request_take(int key, json_t *job, berth_error_t *err);

/* Let the script of a job, if it has one, run once, on what its tasks have together: `berth run` in it is a step. 0, or -1 with
 * a text.
 */
int request_run_once(json_t *job, berth_error_t *err);

/* Whether a word without a slash is a program of PATH. */
bool request_is_program(const char *name);

/* What chooses the server: BERTH_DIR and BERTH_SOCKET as one text, which the caller frees; NULL with ENOMEM. A job that was
 * submitted here has it as BERTH_SUBMIT_SERVER.
 */
char *request_server(void);

/* The option by which it asks for many jobs; NULL: for one. */
const char *request_many(const struct request *r);

/* The first of its options that run and alloc do not have; NULL: none. */
const char *request_submits(const struct request *r);

/* Whether the estimate of a request, or of a change, is at most its limit, as far as it has both in
 * seconds.
 */
bool request_times_fit(const json_t *job);

#define REQUEST_TIMES_WRONG "--estimate is longer than --time-limit, expected at most as long"

void request_clear(struct request *r);

#endif
