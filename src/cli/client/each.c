#include "cli/client/each.h"

#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/errtext.h"
#include "cli/client/words.h"
#include "cli/verb.h"

#define AT_ONCE 16 /* requests, each on a connection: the server makes them durable together */

/* One that was sent. */
struct asked {
    struct client *client;
    bool waits; /* for its reply */
    int64_t id, member;
    bool ranged;
};

struct each {
    struct talk *talk;
    const struct each_request *request;
    char *body;
    struct asked asked[AT_ONCE]; /* in a ring */
    unsigned next;
    int64_t done, passed_over;
    int status;
};

/* Read the reply. -1 ends it all: there is no server to ask. */
static int take_reply(struct each *e, struct asked *a, int rc, berth_error_t *err)
{
    char name[WORDS_JOB];

    if (rc == 0)
        rc = talk_receive(e->talk, a->client, err);
    a->waits = false;
    if (rc == 0) {
        e->done++;
        return 0;
    }
    if (errno == ECONNREFUSED || errno == ECONNRESET || errno == ENOMEM || errno == EACCES) {
        e->status = talk_failed(e->talk, err);
        return -1;
    }
    if (a->ranged && (errno == ENOENT || errno == EEXIST)) {
        e->passed_over++;
        return 0;
    }
    fprintf(stderr, "berth %s: %s: %s\n", e->talk->verb, words_job(a->id, a->member, name),
            err->text);
    e->status = CLI_FAILED;
    return 0;
}

static int ask(void *context, int64_t id, int64_t member, bool ranged)
{
    struct each *e = context;
    struct asked *a = &e->asked[e->next++ % AT_ONCE];
    struct strbuf path = {0};
    berth_error_t err;
    int rc = 0;

    if (a->waits && take_reply(e, a, 0, &err) < 0)
        return -1;
    if (!a->client)
        a->client = client_open(e->talk->socket, &err);
    words_path(&path, id, member, e->request->suffix);
    *a = (struct asked){a->client, true, id, member, ranged};
    if (!a->client || path.failed)
        rc = errtext_set(&err, ENOMEM, "out of memory");
    else if (client_send(a->client, e->request->method, strbuf_text(&path), e->body,
                         e->body ? strlen(e->body) : 0, &err) < 0)
        rc = talk_explain(e->talk, &err);
    int saved = errno;
    strbuf_clear(&path);
    errno = saved;
    return rc < 0 ? take_reply(e, a, rc, &err) : 0;
}

static int begin(struct each *e, struct talk *talk, const struct each_request *request,
                 berth_error_t *err)
{
    *e = (struct each){.talk = talk, .request = request, .status = CLI_OK};
    if (!request->body || (e->body = json_dumps(request->body, JSON_COMPACT)))
        return 0;
    return errtext_set(err, ENOMEM, "out of memory");
}

/* Read the replies that are still to come, in the order of the requests, unless the server is gone. */
static void end(struct each *e, bool gone)
{
    berth_error_t err;

    for (unsigned i = 0; i < AT_ONCE; i++) {
        struct asked *a = &e->asked[(e->next + i) % AT_ONCE];
        if (a->waits && !gone)
            gone = take_reply(e, a, 0, &err) < 0;
    }
    for (unsigned i = 0; i < AT_ONCE; i++)
        client_close(e->asked[i].client);
    free(e->body);
}

int each_job(struct talk *talk, const struct ids *ids, const struct each_request *request)
{
    struct each e;
    berth_error_t err;

    if (begin(&e, talk, request, &err) < 0)
        return talk_failed(talk, &err);
    end(&e, ids_each(ids, ask, &e) != 0);
    if (e.done == 0 && e.passed_over > 0 && e.status == CLI_OK) {
        fprintf(stderr, "berth %s: none of these jobs is there, or it is too late for it\n",
                talk->verb);
        e.status = CLI_FAILED;
    }
    return e.status;
}

/* Jobs that are alive, each once: members of one come one after the other. */
struct gathered {
    int64_t *v;
    size_t n, cap;
};

static int gather(void *context, const char *text, size_t length)
{
    struct gathered *g = context;
    json_t *job = json_loadb(text, length, 0, NULL);
    int64_t id = json_integer_value(json_object_get(job, "id"));

    json_decref(job);
    if (id < 1 || (g->n && g->v[g->n - 1] == id))
        return 0;
    if (g->n == g->cap) {
        size_t cap = g->cap ? 2 * g->cap : 256;
        int64_t *grown = realloc(g->v, cap * sizeof(*grown));
        if (!grown)
            return -1;
        g->v = grown;
        g->cap = cap;
    }
    g->v[g->n++] = id;
    return 0;
}

static int each_live(struct talk *talk, const struct each_request *request, berth_error_t *err)
{
    struct each e;
    const struct passwd *user = getpwuid(geteuid());
    struct strbuf path = {0};
    struct gathered g = {0};

    if (begin(&e, talk, request, err) < 0)
        return talk_failed(talk, err);
    strbuf_puts(&path, "/v1/jobs");
    if (user)
        words_query(&path, "user", user->pw_name);
    bool gone = talk_list(talk, strbuf_text(&path), gather, &g, err) < 0;
    if (gone)
        e.status = talk_failed(talk, err);
    for (size_t i = 0; i < g.n && !gone; i++)
        gone = ask(&e, g.v[i], -1, true) != 0;
    end(&e, gone);
    strbuf_clear(&path);
    free(g.v);
    return e.status;
}

int each_word(const char *verb, char **words, int n, bool all, const struct each_request *request)
{
    struct talk talk;
    struct ids ids = {0};
    berth_error_t err;
    int status;

    if (all && n > 0)
        return cli_usage(verb, "--all takes no job, got '%s'", words[0]);
    if (!all && n == 0)
        return cli_usage(verb, "no job given");
    if (!all && ids_read(&ids, words, (size_t)n, &err) < 0)
        return cli_usage(verb, "%s", err.text);
    if (talk_open(&talk, verb, &err) < 0)
        status = talk_failed(&talk, &err);
    else if (all)
        status = each_live(&talk, request, &err);
    else
        status = each_job(&talk, &ids, request);
    talk_close(&talk);
    ids_clear(&ids);
    return status;
}
