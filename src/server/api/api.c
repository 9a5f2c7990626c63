/* Finding the route of a request, reading its query and path, and refusing it. */
#include "server/api/api.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "server/core/job_text.h"
#include "server/core/members.h"
#include "server/core/priv.h"
#include "server/core/users.h"
#include "server/core/work.h"

#define WEIGHTY    ((size_t)1 << 20) /* shorter bodies are never heavy */
#define WEIGHT_MAX ((size_t)10000000)
#define SLICES     8 /* of history dropped for one request */

static void put_api_error(struct strbuf *out, const char *message, const char *key, size_t length)
{
    struct json_out j = {.text = out};
    strbuf_reset(out);
    json_open(&j, NULL, '{');
    json_open(&j, "error", '{');
    json_put_text(&j, "message", message);
    char *copy = key ? strndup(key, length) : NULL;
    json_put_text(&j, "key", copy);
    free(copy);
    strbuf_puts(out, "}}\n");
}

int api_refuse(struct call *c, int status, const char *key, const char *form, ...)
{
    char message[512];
    va_list args;
    va_start(args, form);
    vsnprintf(message, sizeof(message), form, args);
    va_end(args);
    c->reply->status = status;
    c->reply->wait = false;
    put_api_error(c->out, message, key, key ? strlen(key) : 0);
    return -1;
}

static int http_status(int errnum)
{
    switch (errnum) {
    case ENOENT:
        return 404;
    case EPERM:
    case EACCES:
        return 403;
    case EEXIST:
        return 409;
    case EAGAIN:
        return 429;
    case ENOMEM:
        return 503;
    case ENOSPC:
    case EDQUOT:
    case EIO:
        return 507;
    default:
        return 400;
    }
}

/* The key that a text names: key "nodes": ... or unknown key "x", ... */
static const char *key_in(const char *text, size_t *length)
{
    const char *key = strstr(text, "key \"");
    const char *end = key ? strchr(key + 5, '"') : NULL;
    *length = end ? (size_t)(end - key) - 5 : 0;
    return end ? key + 5 : NULL;
}

int api_no_job(struct call *c)
{
    const char *member = strchr(c->rest, '.');
    return member ? api_refuse(c, 404, NULL, "there is no job %.*s[%s]", (int)(member - c->rest),
                               c->rest, member + 1)
                  : api_refuse(c, 404, NULL, "there is no job %s", c->rest);
}

int api_wrong(struct call *c, const berth_error_t *why)
{
    static const char place[] = "request: ";
    size_t length;
    c->reply->status = http_status(errno);
    c->reply->wait = false;
    const char *text = why->text[0] ? why->text : strerror(errno);
    if (strncmp(text, place, sizeof(place) - 1) == 0)
        text += sizeof(place) - 1;
    const char *key = key_in(text, &length);
    put_api_error(c->out, text, key, length);
    return -1;
}

void api_no_memory(struct server_reply *reply)
{
    reply->status = 503;
    reply->wait = false;
    put_api_error(&reply->body, "out of memory", NULL, 0);
}

void api_done(struct call *c)
{
    strbuf_puts(c->out, "{}\n");
    c->reply->wait = true;
}

/* ---- Query ---- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decode a part of a query; NULL with ENOMEM, or EINVAL for a NUL. */
static char *url_decode(const char *text, size_t length)
{
    char *to = malloc(length + 1);
    size_t n = 0;
    for (size_t i = 0; to && i < length; i++) {
        char c = text[i] == '+' ? ' ' : text[i];
        if (c == '%' && i + 2 < length + 0 && hex_digit(text[i + 1]) >= 0 &&
            hex_digit(text[i + 2]) >= 0) {
            c = (char)(hex_digit(text[i + 1]) << 4 | hex_digit(text[i + 2]));
            i += 2;
        }
        if (c == '\0') {
            free(to);
            errno = EINVAL;
            return NULL;
        }
        to[n++] = c;
    }
    if (to)
        to[n] = '\0';
    return to;
}

static int refuse_parameter(struct call *c, const struct api_query *q, const char *name)
{
    struct strbuf known = {0};
    for (; q->name; q++) {
        strbuf_puts(&known, known.len ? ", " : "");
        strbuf_puts(&known, q->name);
    }
    api_refuse(c, 400, name, "unknown \"%.40s\" in the query, expected %s", name,
               known.len ? strbuf_text(&known) : "none");
    strbuf_clear(&known);
    return -1;
}

static int read_parameter(struct call *c, struct api_query *all, const char *at, size_t length)
{
    const char *equals = memchr(at, '=', length);
    size_t name_length = equals ? (size_t)(equals - at) : length;
    char *name = url_decode(at, name_length);
    int rc = name ? 0 : api_refuse(c, 400, NULL, "the query is malformed");
    struct api_query *q = all;
    while (rc == 0 && q->name && strcmp(q->name, name) != 0)
        q++;
    if (rc == 0 && !q->name)
        rc = refuse_parameter(c, all, name);
    if (rc == 0) {
        free(q->value);
        q->value = equals ? url_decode(equals + 1, length - name_length - 1) : strdup("");
        if (!q->value)
            rc =
                api_refuse(c, errno == EINVAL ? 400 : 503, q->name, "%s: malformed value", q->name);
    }
    free(name);
    return rc;
}

int api_query(struct call *c, struct api_query *q)
{
    const char *at = c->request->query;
    while (at && *at) {
        size_t length = strcspn(at, "&");
        if (length > 0 && read_parameter(c, q, at, length) < 0)
            return -1;
        at += length + (at[length] == '&');
    }
    return 0;
}

void api_query_clear(struct api_query *q)
{
    for (; q->name; q++)
        free(q->value);
}

static bool read_whole(const char *text, int64_t *number, char **end)
{
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    long long value = strtoll(text, end, 10);
    *number = value;
    return errno == 0;
}

int api_query_whole(struct call *c, const struct api_query *q, int64_t *number)
{
    char *end;
    *number = -1;
    if (!q->value)
        return 0;
    if (read_whole(q->value, number, &end) && !*end)
        return 0;
    return api_refuse(c, 400, q->name, "%s: expected a whole number, got \"%.40s\"", q->name,
                      q->value);
}

/* ---- States ---- */

static int add_state(struct api_states *states, const char *word, size_t n)
{
    static const struct {
        const char *word;
        unsigned states;
    } words[] = {{"running", 1u << STORE_STARTING | 1u << STORE_RUNNING},
                 {"done", 1u << STORE_DONE},
                 {"failed", 1u << STORE_FAILED},
                 {"cancelled", 1u << STORE_CANCELLED},
                 {"timeout", 1u << STORE_TIMEOUT},
                 {"pending", 1u << STORE_PENDING},
                 {"held", 1u << STORE_PENDING}};
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        if (strlen(words[i].word) != n || strncasecmp(words[i].word, word, n) != 0)
            continue;
        states->bits |= words[i].states;
        states->pending = states->pending || i == 5;
        states->held = states->held || i == 6;
        return 0;
    }
    return -1;
}

int api_states_read(struct call *c, struct api_states *states, const char *text)
{
    while (*text) {
        size_t n = strcspn(text, ",");
        if (add_state(states, text, n) < 0)
            return api_refuse(c, 400, "state",
                              "state: expected pending, held, running, done, failed, cancelled or "
                              "timeout, got \"%.*s\"",
                              (int)(n > 40 ? 40 : n), text);
        text += n + (text[n] == ',');
    }
    return 0;
}

bool api_states_fit(const struct api_states *states, const struct job *job, uint32_t member)
{
    const struct member *m = member_look(job, member);
    if (!member_is_live(m) || !(states->bits & 1u << m->state))
        return false;
    return m->state != STORE_PENDING || (member_held(job, m) ? states->held : states->pending);
}

/* ---- Jobs of the path ---- */

bool api_owns(const struct call *c, uint32_t uid)
{
    return c->admin || c->request->peer.uid == uid;
}

struct job *api_job(struct call *c)
{
    struct store_job stored;
    berth_error_t why = {""};
    struct job *job = job_lookup(c->s, c->id);
    int rc = job ? -1 : store_read_job(c->s->store, c->id, &stored, &why);
    if (!job && rc < 0 && errno != ENOENT) {
        api_wrong(c, &why);
        return NULL;
    }
    if (!job && rc == 0) {
        if (api_owns(c, stored.uid))
            api_refuse(c, 409, NULL, "job %lld has ended", (long long)c->id);
        else
            api_refuse(c, 403, NULL, "job %lld is another user's", (long long)c->id);
        return NULL;
    }
    if (!job || (c->member >= 0 && (!member_exists(job, c->member) || job->members == 1))) {
        api_no_job(c);
        return NULL;
    }
    if (!api_owns(c, job->uid)) {
        api_refuse(c, 403, NULL, "job %lld is another user's", (long long)c->id);
        return NULL;
    }
    if (c->member >= 0 && !member_is_live(member_look(job, (uint32_t)c->member))) {
        api_refuse(c, 409, NULL, "job %s has ended", c->rest);
        return NULL;
    }
    return job;
}

int api_members(struct call *c, struct progress *p, size_t *steps, size_t cost,
                int (*each)(struct call *c, struct progress *p, struct job *job, uint32_t member))
{
    struct job *job = p->begun ? job_lookup(c->s, c->id) : api_job(c);
    if (!job)
        return p->begun ? 1 : -1; /* all of it has ended meanwhile */
    p->begun = true;
    for (; p->next < (c->member >= 0 ? 1 : job->members); p->next++) {
        if (*steps == 0)
            return 0;
        int64_t from = (int64_t)job->members - 1 - p->next;
        int64_t at = job->is_behind ? member_previous(job, from) : member_previous_own(job, from);
        if (c->member < 0 && at < 0)
            break;
        uint32_t i = (uint32_t)(c->member >= 0 ? c->member : at);
        p->next = c->member >= 0 ? 0 : job->members - 1 - i;
        bool live = member_is_live(member_look(job, i)) &&
                    (!p->states || api_states_fit(p->states, job, i));
        work_spend(steps, live ? cost : 1);
        if (live && each(c, p, job, i) < 0)
            return -1;
    }
    return 1;
}

/* ---- Routing ---- */

struct route {
    const char *method, *path; /* '#': a job, "17" or "17.3"; '*': a name at the end */
    void (*answer)(struct call *c);
    bool has_body, for_admins;
    bool leaves; /* each call leaves something in the store */
};

static const struct route routes[] = {
    {"GET", "/v1/server", api_server_get, false, false, false},
    {"GET", "/metrics", api_metrics_get, false, false, false},
    {"POST", "/v1/server/reload", api_server_reload, false, true, false},
    {"POST", "/v1/server/stop", api_server_stop, false, true, false},
    {"POST", "/v1/jobs", api_jobs_post, false, false, false},
    {"GET", "/v1/jobs", api_jobs_get, false, false, false},
    {"POST", "/v1/jobs/cancel", api_jobs_change, true, false, false},
    {"POST", "/v1/jobs/hold", api_jobs_change, true, false, true},
    {"POST", "/v1/jobs/release", api_jobs_change, true, false, true},
    {"POST", "/v1/jobs/requeue", api_jobs_change, true, false, true},
    {"POST", "/v1/jobs/signal", api_jobs_change, true, false, false},
    {"POST", "/v1/jobs/update", api_jobs_change, true, false, true},
    {"GET", "/v1/jobs/last", api_job_last, false, false, false},
    {"GET", "/v1/jobs/#", api_job_get, false, false, false},
    {"GET", "/v1/jobs/#/events", api_job_events, false, false, false},
    {"GET", "/v1/jobs/#/explain", api_job_explain, false, false, false},
    {"PATCH", "/v1/jobs/#", api_job_patch, true, false, true},
    {"DELETE", "/v1/jobs/#", api_job_delete, false, false, false},
    {"POST", "/v1/jobs/#/signal", api_job_signal, true, false, false},
    {"POST", "/v1/jobs/#/requeue", api_job_requeue, false, false, true},
    {"GET", "/v1/queues", api_queues_get, false, false, false},
    {"PATCH", "/v1/queues/*", api_queue_patch, true, true, false},
    {"GET", "/v1/shares", api_shares_get, false, false, false},
    {"PATCH", "/v1/shares", api_shares_patch, true, true, false},
    {"GET", "/v1/nodes", api_nodes_get, false, false, false},
    {"GET", "/v1/resources", api_resources_get, false, false, false},
    {"PATCH", "/v1/resources", api_resources_patch, true, true, false},
    {"GET", "/v1/classes", api_classes_get, false, false, false},
    {"GET", "/v1/classes/*", api_class_settings_get, false, false, false},
    {"PATCH", "/v1/classes/*", api_classes_patch, true, true, false},
    {"DELETE", "/v1/classes/*", api_classes_delete, false, true, false},
    {"GET", "/v1/blocks", api_blocks_get, false, false, false},
    {"POST", "/v1/blocks", api_blocks_post, true, true, false},
    {"DELETE", "/v1/blocks/*", api_block_delete, false, true, false},
    {"GET", "/v1/pilots", api_pilots_get, false, false, false},
    {"POST", "/v1/pilots", api_pilots_post, true, true, false},
    {"GET", "/v1/pilots/auto", api_auto_get, false, false, false},
    {"POST", "/v1/pilots/auto", api_auto_post, true, true, false},
    {"PATCH", "/v1/pilots/auto", api_auto_patch, true, true, false},
    {"DELETE", "/v1/pilots/auto", api_auto_delete, false, true, false},
    {"PATCH", "/v1/pilots/*", api_pilot_patch, true, true, false},
    {"DELETE", "/v1/pilots/*", api_pilot_delete, false, true, false},
    {"GET", "/v1/events", api_events_get, false, false, false},
};

/* Read "17", "17.3" or "17[3]". Returns the end of it, or NULL. */
static const char *read_job_path(const char *text, int64_t *id, int64_t *member)
{
    char *end;
    *member = -1;
    if (!read_whole(text, id, &end))
        return NULL;
    if (*end != '.' && *end != '[')
        return end;
    bool bracket = *end == '[';
    if (!read_whole(end + 1, member, &end) || *member > UINT32_MAX || (bracket && *end != ']'))
        return NULL;
    return end + bracket;
}

static bool path_matches(struct call *c, const char *pattern)
{
    const char *at = c->request->path;
    for (; *pattern && at; pattern++) {
        if (*pattern == '#') {
            const char *begin = at;
            at = read_job_path(at, &c->id, &c->member);
            snprintf(c->job, sizeof(c->job), "%.*s", at ? (int)(at - begin) : 0, begin);
            c->rest = c->job;
        } else if (*pattern == '*') {
            c->rest = at;
            return *at != '\0' && !strchr(at, '/');
        } else if (*at++ != *pattern) {
            return false;
        }
    }
    return at && !*at;
}

/* The memory that JSON takes once parsed, in units of about 50 bytes: it may be a hundred times its text. */
static size_t json_weight(const char *text, size_t length)
{
    size_t weight = 0;
    for (size_t i = 0; i < length; i++) {
        switch (text[i]) {
        case '"':
            for (i++; i < length && text[i] != '"'; i++)
                i += text[i] == '\\';
            break;
        case '[':
        case '{':
            weight += 4;
            break;
        case ',':
        case ':':
            weight++;
            break;
        default:
            break;
        }
    }
    return weight;
}

/* jansson reports a lack of memory as malformed text, or not at all, so its allocations are watched. */
static json_malloc_t get_memory;
static bool ran_out;

static void *watched(size_t size)
{
    void *memory = get_memory(size);
    ran_out = ran_out || !memory;
    return memory;
}

json_t *api_load(const char *text, size_t length, size_t flags, bool *no_memory, json_error_t *why)
{
    json_free_t release;
    json_get_alloc_funcs(&get_memory, &release);
    ran_out = false;
    json_set_alloc_funcs(watched, release);
    json_t *value = json_loadb(text, length, JSON_REJECT_DUPLICATES | flags, why);
    json_set_alloc_funcs(get_memory, release);
    *no_memory = !value && ran_out;
    return value;
}

bool api_is_heavy(const char *text, size_t length)
{
    return length > WEIGHTY && json_weight(text, length) > WEIGHT_MAX;
}

int api_read_body(struct call *c)
{
    json_error_t why;
    bool no_memory;
    if (c->request->length > API_READ_MAX)
        return api_refuse(c, 413, NULL, "the body is larger than 3 MiB and not an array of jobs");
    if (c->request->length == 0)
        return api_refuse(c, 400, NULL, "expected a JSON body");
    if (api_is_heavy(c->request->body, c->request->length))
        return api_refuse(c, 413, NULL, "the body has too many values");
    c->body = api_load(c->request->body, c->request->length, 0, &no_memory, &why);
    if (no_memory)
        return api_refuse(c, 503, NULL, "out of memory");
    if (!c->body)
        return api_refuse(c, 400, NULL, "the body is not valid JSON: line %d, column %d: %s",
                          why.line, why.column, why.text);
    return 0;
}

/* Check that the store has room for what a route leaves there; submissions check for themselves. */
static int find_room(struct call *c)
{
    berth_error_t why = {""};
    struct user *user = c->admin ? NULL : user_find(c->s, c->request->peer.uid);
    if (!user || user_make_room(c->s, user, STORE_ROW, 0, &c->slices, &why) == 0)
        return 0;
    return api_wrong(c, &why);
}

static void call_route(struct call *c, const struct route *route)
{
    if (route->leaves && find_room(c) < 0)
        return;
    if (route->for_admins && !c->admin) {
        api_refuse(c, 403, NULL, "only the server's owner, root and administrators may do that");
        return;
    }
    if (route->has_body && api_read_body(c) < 0)
        return;
    c->reply->stays = route->answer != api_jobs_post;
    route->answer(c);
    json_decref(c->body);
}

/* The method by which a route is found: who asks for the head of an answer is given it by the library, which leaves the
 * rest out. What is followed has no end that could be left out.
 */
static const char *method_of(const struct call *c)
{
    bool head = strcmp(c->request->method, "HEAD") == 0;
    return head && strcmp(c->request->path, "/v1/events") != 0 ? "GET" : c->request->method;
}

static void find_route(struct call *c)
{
    const char *method = method_of(c);
    bool known = false;
    for (size_t i = 0; i < sizeof(routes) / sizeof(*routes); i++) {
        if (!path_matches(c, routes[i].path))
            continue;
        known = true;
        if (strcmp(routes[i].method, method) != 0)
            continue;
        call_route(c, &routes[i]);
        return;
    }
    if (known)
        api_refuse(c, 405, NULL, "method %.20s is not allowed for %.200s", c->request->method,
                   c->request->path);
    else
        api_refuse(c, 404, NULL, "no such path: %.200s", c->request->path);
}

void server_request(server_t *s, const struct server_request *request, struct server_reply *reply)
{
    uint32_t uid = request->peer.uid;
    *reply = (struct server_reply){.status = 200, .type = "application/json"};
    struct call c = {.s = s,
                     .request = request,
                     .reply = reply,
                     .out = &reply->body,
                     .member = -1,
                     .slices = SLICES};
    server_update_clock(s);
    if (!strbuf_room(&reply->body, 256)) { /* else it could be carried out without an answer */
        api_refuse(&c, 503, NULL, "out of memory");
    } else if (!s->options.for_all && uid != s->options.uid && uid != 0) {
        api_refuse(&c, 403, NULL, "this server is for another user");
    } else if (!user_may_request(s, uid)) {
        api_refuse(&c, 429, NULL, "too many requests: expected at most %lld per second",
                   (long long)s->config->server.requests_per_second);
    } else {
        c.admin = user_is_admin(s, uid);
        find_route(&c);
    }
    if (reply->body.failed)
        api_no_memory(reply);
}

void server_failed(server_t *s, const berth_error_t *why, struct server_reply *reply)
{
    char message[700];
    (void)s;
    snprintf(message, sizeof(message), "cannot store the change%s: %.500s",
             reply->stays ? " yet; what is changed stays, but is lost if berthd ends before" : "",
             why ? why->text : "");
    server_stream_close(reply->stream);
    reply->stream = NULL;
    reply->status = 507;
    reply->type = "application/json";
    reply->wait = false;
    put_api_error(&reply->body, message, NULL, 0);
}

int server_stream_read(struct server_stream *stream, struct strbuf *out, size_t max)
{
    return stream->read(stream, out, max);
}

void server_stream_close(struct server_stream *stream)
{
    if (stream)
        stream->close(stream);
}
