#include "cli/client/talk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/errtext.h"
#include "base/strbuf.h"
#include "cli/client/records.h"
#include "cli/client/start.h"
#include "cli/verb.h"
#include "server/daemon/places.h"

#define SHARED_SOCKET "/var/lib/berth/berth.sock"
#define ERROR_MAX     65536 /* bytes of a reply that says what is wrong */

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && *value;
}

/* Who has said nothing about where the server is, and has none, gets that of the machine. */
static void find_shared(struct talk *s)
{
    if (geteuid() == 0 || is_set("BERTH_DIR") || is_set("BERTH_SOCKET") ||
        start_is_there(s->socket) || !start_is_there(SHARED_SOCKET))
        return;
    s->shared = true;
    memcpy(s->socket, SHARED_SOCKET, sizeof(SHARED_SOCKET));
}

int talk_open(struct talk *s, const char *verb, berth_error_t *err)
{
    memset(s, 0, sizeof(*s));
    s->verb = verb;
    if (places_directory(s->directory, err) < 0 || places_socket(s->directory, s->socket, err) < 0)
        return -1;
    find_shared(s);
    s->client = client_open(s->socket, err);
    return s->client ? 0 : -1;
}

void talk_close(struct talk *s)
{
    client_close(s->client);
    s->client = NULL;
}

int talk_start(struct talk *s, berth_error_t *err)
{
    if (client_connect(s->client, err) == 0)
        return 0;
    return errno == ECONNREFUSED ? start_server(s->socket, NULL, err) : -1;
}

int talk_failed(const struct talk *s, const berth_error_t *err)
{
    fprintf(stderr, "berth %s: %s\n", s->verb, err->text);
    return CLI_FAILED;
}

static int errno_of(long status)
{
    switch (status) {
    case 400:
    case 413:
        return EINVAL;
    case 403:
        return EPERM;
    case 404:
        return ENOENT;
    case 409:
        return EEXIST;
    case 429:
    case 503:
        return EAGAIN;
    case 507:
        return ENOSPC;
    default:
        return EPROTO;
    }
}

int talk_error(long status, const char *text, size_t length, berth_error_t *err)
{
    json_t *root = json_loadb(text, length, 0, NULL);
    const json_t *error = json_object_get(root, "error");
    const char *message = json_string_value(json_object_get(error, "message"));

    if (message)
        errtext_set(err, 0, "%s", message);
    else
        errtext_set(err, 0, "the server answers with status %ld", status);
    json_decref(root);
    errno = errno_of(status);
    return -1;
}

int talk_explain(const struct talk *s, berth_error_t *err)
{
    if (errno == ECONNREFUSED && !s->shared && !is_set("BERTH_SOCKET"))
        return errtext_set(err, ECONNREFUSED,
                           "no server runs for %s; 'berth server start' starts one", s->directory);
    return -1;
}

static int take_all(void *context, long status, const char *bytes, size_t n)
{
    struct strbuf *all = context;
    (void)status;
    strbuf_put(all, bytes, n);
    return all->failed ? -1 : 0;
}

int talk_ask_text(struct talk *s, const char *method, const char *path, const char *body,
                  size_t length, json_t **answer, berth_error_t *err)
{
    struct strbuf all = {0};
    struct client_taker taker = {&all, take_all};
    json_error_t wrong;
    long status;

    if (answer)
        *answer = NULL;
    int rc = client_ask(s->client, method, path, body, length, &taker, &status, err);
    if (rc < 0)
        rc = talk_explain(s, err);
    else if (status >= 300)
        rc = talk_error(status, all.data ? all.data : "", all.len, err);
    else if (answer) {
        *answer = json_loadb(all.data ? all.data : "", all.len, JSON_ALLOW_NUL, &wrong);
        if (!*answer)
            rc = errtext_set(err, EPROTO, "the server's answer is no JSON: %s", wrong.text);
    }
    strbuf_clear(&all);
    return rc;
}

int talk_ask(struct talk *s, const char *method, const char *path, const json_t *body,
             json_t **answer, berth_error_t *err)
{
    char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;

    if (body && !text)
        return errtext_set(err, ENOMEM, "out of memory");
    int rc = talk_ask_text(s, method, path, text, text ? strlen(text) : 0, answer, err);
    int saved = errno;
    free(text);
    errno = saved;
    return rc;
}

struct listing {
    struct records records;
    struct strbuf error;
    int errnum;
};

static int take_list(void *context, long status, const char *bytes, size_t n)
{
    struct listing *l = context;

    if (status >= 300) {
        if (l->error.len < ERROR_MAX)
            strbuf_put(&l->error, bytes, n);
        return 0;
    }
    if (records_take(&l->records, bytes, n) == 0)
        return 0;
    l->errnum = errno;
    return -1;
}

int talk_list(struct talk *s, const char *path, talk_visit visit, void *context, berth_error_t *err)
{
    struct listing l = {.records = {.visit = visit, .context = context}};
    struct client_taker taker = {&l, take_list};
    long status;
    int rc = client_ask(s->client, "GET", path, NULL, 0, &taker, &status, err);

    if (rc < 0 && l.errnum)
        rc = errtext_set(err, l.errnum, "%s", strerror(l.errnum));
    else if (rc < 0)
        rc = talk_explain(s, err);
    else if (status >= 300)
        rc = talk_error(status, l.error.data ? l.error.data : "", l.error.len, err);
    else if (!records_are_complete(&l.records))
        rc = errtext_set(err, EPROTO, "the server's answer is no list");
    int saved = errno;
    records_clear(&l.records);
    strbuf_clear(&l.error);
    errno = saved;
    return rc;
}
