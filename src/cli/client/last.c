#include "cli/client/last.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "base/strbuf.h"

#define LAST "last"

/* Whether a text begins with the word, and not with a longer one. */
static bool is_last(const char *text)
{
    size_t n = sizeof(LAST) - 1;
    return strncmp(text, LAST, n) == 0 && (text[n] == '\0' || strchr("[.:,", text[n]));
}

/* Ask the server for the id. */
static int ask_last(struct connection *s, int64_t *id, berth_error_t *err)
{
    json_t *answer = NULL;
    if ((!s->client && connection_open(s, s->verb, err) < 0) ||
        connection_ask(s, "GET", "/v1/jobs/last", NULL, &answer, err) < 0)
        return -1;
    *id = json_integer_value(json_object_get(answer, "id"));
    json_decref(answer);
    return 0;
}

const char *last_word(struct connection *s, const char *word, char room[LAST_WORD_SIZE],
                      berth_error_t *err)
{
    int64_t id;
    word = word ? word : LAST;
    if (!is_last(word) || strchr(word, ':') || strchr(word, ','))
        return word;
    if (ask_last(s, &id, err) < 0)
        return NULL;
    int n = snprintf(room, LAST_WORD_SIZE, "%" PRId64 "%s", id, word + sizeof(LAST) - 1);
    if (n < LAST_WORD_SIZE)
        return room;
    errtext_set(err, EINVAL, "'%.40s...' is not a job, expected last or last[2]", word);
    return NULL;
}

char **last_words(struct connection *s, char **words, size_t n, berth_error_t *err)
{
    char room[LAST_WORD_SIZE];
    char **copy = calloc(n + 1, sizeof(*copy));
    for (size_t i = 0; copy && i < n; i++) {
        const char *word = last_word(s, words[i], room, err);
        copy[i] = word ? strdup(word) : NULL;
        if (copy[i])
            continue;
        if (word)
            errtext_no_memory(err);
        last_words_free(copy);
        return NULL;
    }
    if (!copy)
        errtext_no_memory(err);
    return copy;
}

void last_words_free(char **words)
{
    int saved = errno;
    for (size_t i = 0; words && words[i]; i++)
        free(words[i]);
    free(words);
    errno = saved;
}

int last_depend(struct connection *s, json_t *job, berth_error_t *err)
{
    const char *at = json_string_value(json_object_get(job, "dependency"));
    struct strbuf text = {0};
    int64_t id = 0;
    bool any = false;
    for (; at && *at; at++) {
        strbuf_putc(&text, *at);
        if (*at != ':' || !is_last(at + 1))
            continue;
        if (!any && ask_last(s, &id, err) < 0) {
            strbuf_clear(&text);
            return -1;
        }
        any = true;
        strbuf_put_int(&text, id);
        at += sizeof(LAST) - 1;
    }
    int rc = any && (text.failed ||
                     json_object_set_new(job, "dependency", json_string(strbuf_text(&text))) < 0)
                 ? errtext_no_memory(err)
                 : 0;
    strbuf_clear(&text);
    return rc;
}
