#include "server/core/notify.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/core/job_text.h"
#include "server/core/members.h"
#include "server/core/users.h"

static const struct {
    const char *word;
    unsigned on;
} words[] = {{"begin", NOTIFY_BEGIN}, {"end", NOTIFY_END}, {"fail", NOTIFY_FAIL}};
#define WORDS (sizeof(words) / sizeof(*words))

unsigned notify_on_read(const char *text)
{
    unsigned on = 0;
    for (;;) {
        size_t n = strcspn(text, ","), i = 0;
        while (i < WORDS && (strlen(words[i].word) != n || strncmp(words[i].word, text, n) != 0))
            i++;
        if (i == WORDS)
            return 0;
        on |= words[i].on;
        if (!text[n])
            return on;
        text += n + 1;
    }
}

struct notify *notify_create(const char *to, unsigned on)
{
    struct notify *n = malloc(sizeof(*n) + strlen(to) + 1);
    if (!n)
        return NULL;
    n->on = on;
    strcpy(n->to, to);
    return n;
}

int notify_load(struct job *job, struct json_part notify)
{
    static const char *const keys[] = {"to", "on"};
    struct json_part v[2];
    char *to = NULL;
    if (!notify.at)
        return 0;
    json_find(notify, keys, 2, v);
    if (json_part_copy(v[0], &to) < 0)
        return -1;
    if (!to)
        return 0;
    job->notify = notify_create(to, (unsigned)json_part_whole(v[1], NOTIFY_END));
    free(to);
    return job->notify ? 0 : -1;
}

void notify_put(const struct job *job, struct json_out *out)
{
    if (!job->notify)
        return;
    json_open(out, "notify", '{');
    json_put_text(out, "to", job->notify->to);
    json_put_int(out, "on", job->notify->on);
    json_close(out, '}');
}

/* The state of a job all of whose members have ended: the first of these that one has. */
static enum store_state over_state(const struct job *job)
{
    static const enum store_state order[] = {STORE_FAILED, STORE_TIMEOUT, STORE_CANCELLED};
    for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++)
        if (job->counts[order[i]] > 0)
            return order[i];
    return STORE_DONE;
}

static void put_notification(const struct job *job, const char *event, const char *state,
                             struct strbuf *text)
{
    struct json_out out = {.text = text};
    json_open(&out, NULL, '{');
    json_put_int(&out, "id", job->id);
    json_put_text(&out, "name", job->name);
    json_put_text(&out, "user", job->user);
    json_put_text(&out, "queue", job->queue);
    json_put_text(&out, "event", event);
    json_put_text(&out, "state", state);
    json_put_uint(&out, "members", member_count(job));
    json_put_uint(&out, "failed", job->counts[STORE_FAILED] + job->counts[STORE_TIMEOUT]);
    json_close(&out, '}');
    strbuf_putc(text, '\n');
}

/* Without memory nobody is told. */
static void tell_user(server_t *s, const struct job *job, const char *event, const char *state)
{
    const struct user *user = user_find(s, job->uid);
    struct strbuf text = {0};
    char id[32];
    if (!user || !s->platform.notify)
        return;
    put_notification(job, event, state, &text);
    snprintf(id, sizeof(id), "%" PRId64, job->id);
    const struct server_notification n = {.to = job->notify->to,
                                          .text = strbuf_text(&text),
                                          .as_user = s->options.for_all,
                                          .uid = job->uid,
                                          .gid = user->gid,
                                          .groups = user->gids,
                                          .n_groups = user->n_gids,
                                          .user = user->name,
                                          .home = user->home,
                                          .directory = s->directory,
                                          .id = id,
                                          .name = job->name,
                                          .event = event,
                                          .state = state};
    if (!text.failed)
        s->platform.notify(s->platform.context, &n);
    strbuf_clear(&text);
}

void notify_begun(server_t *s, const struct job *job)
{
    if (job->notify && job->notify->on & NOTIFY_BEGIN)
        tell_user(s, job, "begin", "running");
}

void notify_over(server_t *s, const struct job *job)
{
    if (!job->notify)
        return;
    enum store_state state = over_state(job);
    bool failed = state == STORE_FAILED || state == STORE_TIMEOUT;
    if (job->notify->on & NOTIFY_END || (failed && job->notify->on & NOTIFY_FAIL))
        tell_user(s, job, "end", job_state_word(state, false));
}
