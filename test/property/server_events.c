/* Streams of events: what was read once stays as it is, and whoever goes on from a number gets what follows
 * it, each event once and in order, whatever happened to the server meanwhile.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/idset.h"
#include "server_scene.h"

static uint64_t hash_of(const char *text, size_t n)
{
    uint64_t h = 1469598103934665603u;
    while (n-- > 0)
        h = (h ^ (unsigned char)*text++) * 1099511628211u;
    return h;
}

/* Cut the first event off a text of n bytes, so that it is a string of its own, without the empty line
 * behind it. Its length with that goes to *length. False: there is no whole one. A string function on all
 * of the text would measure it for each event under a sanitizer.
 */
static bool cut_event(char *text, size_t n, size_t *length, struct seen_event *to)
{
    char *end = memchr(text, '\n', n);
    while (end && end + 1 < text + n && end[1] != '\n')
        end = memchr(end + 1, '\n', (size_t)(text + n - end) - 1);
    if (!end || end + 1 >= text + n || strncmp(text, "id: ", 4) != 0)
        return false;
    *end = '\0';
    const char *data = strstr(text, "\ndata: "), *job = data ? strstr(data, "\"job\":") : NULL;
    if (!data)
        return false;
    *length = (size_t)(end - text) + 2;
    *to = (struct seen_event){strtoll(text + 4, NULL, 10), job ? strtoll(job + 6, NULL, 10) : 0,
                              hash_of(text, *length)};
    return true;
}

/* Others are stopped for a job, which starts when they have ended: it has had its turn. */
static void note_preemption(struct scene *c, const char *text)
{
    const char *whom = strstr(text, "\"for\":\"");
    char *end = NULL;
    int64_t id = whom ? strtoll(whom + 7, &end, 10) : 0;
    int64_t member = id > 0 && *end == '[' ? strtoll(end + 1, NULL, 10) : 0;
    if (id > 0 && id < c->n && member < MEMBERS)
        c->told[id].member[member].preempts = c->told[id].member[member].took = true;
}

/* The ends of members that are told together. */
static void count_ends(struct scene *c, struct told *t, const char *text, int64_t id)
{
    struct idset members = {0};
    const char *list = strstr(text, "\"members\":\"");
    size_t n = list ? strcspn(list + 11, "\"") : 0;
    if (!list || idset_decode_steps(&members, list + 11, n, NULL) < 0 || members.count == 0)
        scene_fail(c, "an end is of nobody", id, -1);
    for (uint32_t m = idset_first(&members); m != IDSET_NONE; m = idset_next(&members, m)) {
        if (!told_has(t, (int)m) && t->sure)
            scene_fail(c, "an end of a member that there isn't", id, m);
        if (m < MEMBERS && t->member[m].n_ends++ > 0)
            scene_fail(c, "its end is told twice", id, m);
    }
    idset_clear(&members);
}

/* What it says of a job's life. */
static void count_event(struct scene *c, const char *text, int64_t id)
{
    char kind[24] = "";
    const char *member = strstr(text, "\"member\":");
    const char *event = strstr(text, "\nevent: ");
    int m = member ? atoi(member + 9) : 0;
    if (event)
        snprintf(kind, sizeof(kind), "%.*s", (int)strcspn(event + 8, "\n"), event + 8);
    if (id == 0)
        return;
    struct told *t = told_of(c, id);
    if (m < 0 || m >= MEMBERS)
        scene_fail(c, "an event of a member that there isn't", id, m);
    t->n_submitted += strcmp(kind, "submitted") == 0;
    t->member[m].n_started += strcmp(kind, "started") == 0;
    if (strcmp(kind, "preempted") == 0) /* what it was promised has come true, and is gone */
        t->touched = true;
    if (strcmp(kind, "preempted") == 0 || strcmp(kind, "awaited") == 0)
        note_preemption(c, text);
    if (strcmp(kind, "preempted") == 0 && t->sure && !t->preemptible)
        scene_fail(c, "it is preempted and may not be", id, m);
    if (strcmp(kind, "requeued") == 0) {
        laws_arrived(c, t, id, m);
        t->member[m].took = false;
    }
    if (!laws_is_over(kind) || (strcmp(kind, "done") != 0 && strcmp(kind, "failed") != 0 &&
                                strcmp(kind, "cancelled") != 0 && strcmp(kind, "timeout") != 0))
        return;
    if (strcmp(kind, "timeout") == 0 && t->sure && t->limited == NO_LIMIT)
        scene_fail(c, "it is stopped at a limit that it has not", id, m);
    if (member && member[9] == 'n' && strstr(text, "\"members\":"))
        count_ends(c, t, text, id);
    else if (t->member[m].n_ends++ > 0)
        scene_fail(c, "its end is told twice", id, m);
}

static void add_event(struct scene *c, struct seen_event e, const char *text)
{
    if (c->n_events > 0 && e.number <= c->events[c->n_events - 1].number)
        scene_fail(c, "an event comes behind later ones", e.job, e.number);
    if (c->n_events == c->cap_events) {
        c->cap_events = c->cap_events * 2 + 64;
        c->events = realloc(c->events, c->cap_events * sizeof(*c->events));
        if (!c->events)
            abort();
    }
    c->events[c->n_events++] = e;
    count_event(c, text, e.job);
}

/* Read from an event that is known on: all that are known, again, and those that have come since. */
static void read_from(struct scene *c, size_t known)
{
    char query[40];
    int status;
    size_t length;
    struct seen_event e;
    snprintf(query, sizeof(query), "since=%lld",
             known > 0 ? (long long)c->events[known - 1].number : 0);
    json_t *got = scene_ask(c, "GET", "/v1/events", query, NULL, &status);
    size_t n = json_string_length(got), at = 0;
    char *text = n > 0 ? malloc(n) : NULL;
    if (n > 0 && !text)
        abort();
    if (n > 0)
        memcpy(text, json_string_value(got), n);
    if (status != 200)
        scene_fail(c, "there are no events", status, -1);
    for (; at < n && cut_event(text + at, n - at, &length, &e); at += length, known++) {
        if (known == c->n_events)
            add_event(c, e, text + at);
        else if (memcmp(&e, &c->events[known], sizeof(e)) != 0)
            scene_fail(c, "an event is another one than it was", e.job, e.number);
    }
    if (at < n || known != c->n_events)
        scene_fail(c, "events are lost", (int64_t)known, (int64_t)c->n_events);
    free(text);
    json_decref(got);
}

/* ---- Those who wait ---- */

static void waiter_close(struct waiter *w)
{
    server_stream_close(w->reply.stream);
    strbuf_clear(&w->reply.body);
    strbuf_clear(&w->text);
    w->reply.stream = NULL;
}

static void waiter_open(struct scene *c, struct waiter *w)
{
    char query[80];
    snprintf(query, sizeof(query), "follow=1&job=%lld&since=%lld", (long long)w->job,
             (long long)w->last);
    struct server_request request = {.method = "GET",
                                     .path = "/v1/events",
                                     .query = query,
                                     .peer = {.uid = SIM_OWNER, .gid = 100, .pid = 1}};
    server_request(c->w->server, &request, &w->reply);
    if (w->reply.status != 200 || !w->reply.stream)
        scene_fail(c, "nobody can wait for it", w->job, w->reply.status);
}

/* Take what has come: it is what the ledger has of the job behind the last one. */
static void waiter_take(struct scene *c, struct waiter *w)
{
    struct seen_event e;
    size_t length, at = 0;
    while (w->text.len > at && cut_event(w->text.data + at, w->text.len - at, &length, &e)) {
        size_t i = 0;
        while (i < c->n_events && (c->events[i].number <= w->last || c->events[i].job != w->job))
            i++;
        if (i == c->n_events || memcmp(&e, &c->events[i], sizeof(e)) != 0)
            scene_fail(c, "who waits for it is told something else", w->job, e.number);
        w->last = e.number;
        at += length;
    }
    if (at > 0) {
        memmove(w->text.data, w->text.data + at, w->text.len - at);
        w->text.len -= at;
        w->text.data[w->text.len] = '\0';
    }
}

static void waiter_read(struct scene *c, struct waiter *w)
{
    int rc = 1;
    if (w->job == 0 || (w->job > 0 && told_of(c, w->job)->over && scene_chance(c, 10))) {
        waiter_close(w);
        w->job = c->n > 1 ? random_between(&c->r, c->n > 20 ? c->n - 20 : 1, c->n - 1) : 0;
        w->last = 0;
        if (w->job == 0 || !told_of(c, w->job)->sure) {
            w->job = 0;
            return;
        }
    }
    if (!w->reply.stream)
        waiter_open(c, w);
    while (rc == 1)
        rc = server_stream_read(w->reply.stream, &w->text, (size_t)random_between(&c->r, 1, 4096));
    if (rc != 2)
        scene_fail(c, "a stream has ended", w->job, rc);
    strbuf_putc(&w->text, '\0');
    w->text.len--;
    waiter_take(c, w);
    for (size_t i = 0; i < c->n_events; i++)
        if (c->events[i].job == w->job && c->events[i].number > w->last)
            scene_fail(c, "who waits for it is not told", w->job, c->events[i].number);
}

void events_close(struct scene *c)
{
    for (int i = 0; i < WAITERS; i++)
        waiter_close(&c->waiter[i]);
}

void events_read(struct scene *c)
{
    bool before = scene_scarce(c, false);
    read_from(c, scene_chance(c, 8) && c->n_events > 0
                     ? c->n_events - (size_t)random_between(&c->r, 0, (int64_t)c->n_events) / 4
                     : c->n_events);
    for (int i = 0; i < WAITERS; i++)
        waiter_read(c, &c->waiter[i]);
    scene_scarce(c, before);
}

/* The life of each job is told: it came, and each member ended, once. (An event for which there is no
 * memory is lost.)
 */
void events_finish(struct scene *c)
{
    read_from(c, 0);
    for (int64_t id = 1; c->seed % 3 != 0 && id < c->n; id++) {
        const struct told *t = &c->told[id];
        if (t->sure && t->n_submitted != 1)
            scene_fail(c, "nobody was told that it came, or twice", id, t->n_submitted);
        for (int m = 0; t->sure && m < t->members; m++)
            if (told_has(t, m) &&
                (t->member[m].n_ends != 1 || t->member[m].n_started > t->member[m].starts))
                scene_fail(c, "its life is not told as it was", id, m);
    }
}
