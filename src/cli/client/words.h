/* Small things that the verbs share: paths of the API, a job's name in words. */
#ifndef CLI_CLIENT_WORDS_H
#define CLI_CLIENT_WORDS_H

#include <getopt.h>
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/strbuf.h"

#define WORDS_JOB 48

/* "17" or "17[3]": member -1 for a whole job. */
char *words_job(int64_t id, int64_t member, char out[WORDS_JOB]);

/* "/v1/jobs/17" or "/v1/jobs/17.3", and what follows. */
void words_path(struct strbuf *out, int64_t id, int64_t member, const char *suffix);

/* Append "key=value" to a query, escaped, behind '?' or '&'. */
void words_query(struct strbuf *path, const char *key, const char *value);

/* Append n bytes of text as a terminal may be given them: '?' in place of what controls it. */
void words_plain(struct strbuf *out, const char *text, size_t n);

/* Print text so. */
void words_print(FILE *to, const char *text);

/* Members of an object: "" and -1 where they are not there. */
const char *words_text(const json_t *object, const char *key);
double words_number(const json_t *object, const char *key);

/* Options of a verb that takes only these: the next one, or -1 at the end; '?' after what is wrong has been said, which is
 * CLI_USAGE. 'h' prints the help. Options come before or between other words.
 */
int words_option(const char *verb, int argc, char **argv, const char *letters,
                 const struct option *options);

#endif
