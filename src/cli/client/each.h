/* One command for each of many things: `submit --each FILE`, `submit ... ::: a b c`, `submit --cc 1-9`; and one gang for
 * each index of an array of gangs, `submit --gang 4 --array 1-9`.
 *
 * "{}" stands for the thing and "{#}" for its number, from 1, in the command, its arguments, the name and the names of
 * files. A command in which "{}" is nowhere gets the thing as its last argument. --cc is like that, with "{cc}", but adds
 * nothing to a command.
 */
#ifndef CLI_CLIENT_EACH_H
#define CLI_CLIENT_EACH_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "berth/error.h"

struct each {
    const char *mark; /* "{}" or "{cc}"; NULL: there is one job, or an array of gangs */
    bool is_gangs;    /* each is a gang, which knows its index and how many there are, */
    uint32_t most;    /* of which so many run at once; 0: no bound */
    char **v;         /* the things */
    size_t n, cap;
    char *text; /* that of a file, into which v points */
};

/* Take the words behind ":::", if there are any, from a command line. 0, or -1 with EINVAL or ENOMEM. */
int each_take_words(struct each *e, int *argc, char **argv, berth_error_t *err);

/* Take the lines of a file ("-": standard input) that are not empty. 0, or -1 with errno and a text. */
int each_take_lines(struct each *e, const char *path, berth_error_t *err);

/* Take the numbers of a set, "1-9,12", or the words of a list, "a,b". 0, or -1 with errno and a text. */
int each_take_set(struct each *e, const char *set, berth_error_t *err);

/* Take the indices of an array of gangs, if a job is that: a gang by its request or its jobspec, with an array beside
 * it. 0, or -1 with errno and a text.
 */
int each_take_gangs(struct each *e, const json_t *job, berth_error_t *err);

/* Whether there are several jobs, or could be. */
static inline bool each_is_list(const struct each *e)
{
    return e->mark || e->is_gangs;
}

/* The list of jobs for the API; the first has the environment for all. NULL with errno and a text. */
json_t *each_jobs(const struct each *e, const json_t *job, berth_error_t *err);

void each_clear(struct each *e);

#endif
