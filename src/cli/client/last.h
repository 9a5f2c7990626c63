/* "last": the job that the caller submitted last. */
#ifndef CLI_CLIENT_LAST_H
#define CLI_CLIENT_LAST_H

#include <jansson.h>

#include "cli/client/connection.h"

#define LAST_WORD_SIZE 40

/* A word for a job: `word`, or the id of the last one if that is NULL or "last", and its member for "last[3]".
 * Opens the connection, with which the caller goes on, if it is not open. Returns NULL with errno and a text.
 */
const char *last_word(struct connection *s, const char *word, char room[LAST_WORD_SIZE],
                      berth_error_t *err);

/* The same for n words: copies, which the caller frees with the call below. */
char **last_words(struct connection *s, char **words, size_t n, berth_error_t *err);
void last_words_free(char **words);

/* Put the id in place of "last" in the request's dependency, "afterok:last"; the connection as above. 0, or -1 with
 * errno and a text.
 */
int last_depend(struct connection *s, json_t *job, berth_error_t *err);

#endif
