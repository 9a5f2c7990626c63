/* A waiting job is to ask for something else, to wait for others, or to be charged otherwise, or another number of members of an
 * array may run at once: what was submitted is read again, with what the request says in its place.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/api/rewrite.h"

#include "base/errtext.h"
#include "config/members.h"
#include "server/api/job_read.h"
#include "server/core/job_text.h"
#include "server/core/members.h"
#include "server/core/priv.h"
#include "server/core/rewrite.h"
#include "server/core/users.h"

/* What can be changed so. */
static const struct {
    const char *key;
    enum rewrite_what what;
} keys[] = {
    {"name", REWRITE_ASKED},      {"tasks", REWRITE_ASKED},           {"nodes", REWRITE_ASKED},
    {"nodes_max", REWRITE_ASKED}, {"cores", REWRITE_ASKED},           {"gpus", REWRITE_ASKED},
    {"memory", REWRITE_ASKED},    {"gpu_memory", REWRITE_ASKED},      {"gpu_type", REWRITE_ASKED},
    {"licenses", REWRITE_ASKED},  {"exclusive", REWRITE_ASKED},       {"requires", REWRITE_ASKED},
    {"account", REWRITE_ACCOUNT}, {"dependency", REWRITE_DEPENDENCY}, {"at_once", REWRITE_AT_ONCE}};

#define KEYS (sizeof(keys) / sizeof(*keys))

/* What the first of them in a request changes. False: it has none. */
static bool find_what(const json_t *body, enum rewrite_what *what)
{
    for (size_t i = 0; i < KEYS; i++) {
        *what = keys[i].what;
        if (json_object_get(body, keys[i].key))
            return true;
    }
    return false;
}

static bool is_rewrite_key(const char *key, enum rewrite_what what)
{
    for (size_t i = 0; i < KEYS; i++)
        if (keys[i].what == what && strcmp(keys[i].key, key) == 0)
            return true;
    return false;
}

bool api_is_rewrite(const json_t *body)
{
    enum rewrite_what what;
    return find_what(body, &what);
}

int api_rewrite_check(struct call *c)
{
    const char *key;
    json_t *value;
    enum rewrite_what what;
    find_what(c->body, &what);
    const json_t *most = json_object_get(c->body, "at_once");
    if (most && !json_is_null(most) &&
        (!json_is_integer(most) || json_integer_value(most) < 1 ||
         json_integer_value(most) > MEMBERS_MAX))
        return api_refuse(c, 400, "at_once",
                          "key \"at_once\": expected a whole number from 1 to %d, or null",
                          MEMBERS_MAX);
    json_object_foreach (c->body, key, value) {
        if (!is_rewrite_key(key, what))
            return api_refuse(c, 400, key, "key \"%.60s\": expected in a request of its own", key);
    }
    return 0;
}

/* A time of a stored request, as a request has it. */
static int keep_time(const server_t *s, json_t *request, const char *key, struct json_part part)
{
    int64_t at = json_part_whole(part, 0);
    if (at <= 0)
        return 0;
    double wall = (double)server_wall_time(s, at) / 1e6;
    return json_object_set_new(request, key, json_real(wall > 0 ? wall : 0));
}

/* The parts of what was submitted that are stored by themselves. */
static int put_stored_back(const server_t *s, json_t *request, const struct job_parts *parts,
                           const json_t *stored)
{
    const json_t *error = json_object_get(json_object_get(stored, "shown"), "error");
    json_t *jobspec = json_object_get(stored, "jobspec_text");
    if (jobspec && json_object_set(request, "jobspec", jobspec) < 0)
        return -1;
    if (!json_object_get(request, "command") && !jobspec &&
        json_object_set_new(request, "script", json_string("#")) < 0) /* it has one, that stays */
        return -1;
    if (json_is_string(error) && !json_object_get(request, "error") &&
        json_object_set_new(request, "apart", json_true()) < 0)
        return -1;
    return keep_time(s, request, "begin", parts->begin) < 0 ||
                   keep_time(s, request, "deadline", parts->deadline) < 0
               ? -1
               : 0;
}

/* What is gone with another value of a key. */
static void drop_with(json_t *request, const json_t *body)
{
    static const char *const pairs[][2] = {
        {"gpus", "gpu_type"}, {"gpus", "gpu_memory"}, {"nodes", "nodes_max"}};
    for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
        if (json_object_get(body, pairs[i][0]))
            json_object_del(request, pairs[i][1]);
}

/* The members of an array, "0-9%3" or their number, of which at most so many run at once; null: any number. */
static int put_at_once(json_t *request, const json_t *most)
{
    const json_t *array = json_object_get(request, "array");
    const char *members = json_string_value(array);
    struct strbuf text = {0};
    if (members)
        strbuf_put(&text, members, strcspn(members, "%"));
    else
        strbuf_put_int(&text, json_integer_value(array));
    if (json_is_integer(most)) {
        strbuf_putc(&text, '%');
        strbuf_put_int(&text, json_integer_value(most));
    }
    int rc =
        text.failed ? -1 : json_object_set_new(request, "array", json_string(strbuf_text(&text)));
    strbuf_clear(&text);
    return rc;
}

/* What was submitted, changed as the call says. NULL with ENOMEM. */
static json_t *changed_request(struct call *c, const char *text)
{
    struct job_parts parts;
    const char *key;
    json_t *value, *stored = json_loads(text, 0, NULL);
    json_t *request = stored ? json_deep_copy(json_object_get(stored, "asked")) : NULL;
    job_parts(text, &parts);
    int rc = request ? put_stored_back(c->s, request, &parts, stored) : -1;
    if (rc == 0)
        drop_with(request, c->body);
    json_object_foreach (c->body, key, value) {
        if (rc == 0 && strcmp(key, "at_once") == 0)
            rc = put_at_once(request, value);
        else if (rc == 0 && json_is_null(value))
            json_object_del(request, key);
        else if (rc == 0)
            rc = json_object_set(request, key, value);
    }
    json_decref(stored);
    if (rc == 0)
        return request;
    json_decref(request);
    errno = ENOMEM;
    return NULL;
}

static bool is_attached(const char *text)
{
    static const char *const key[] = {"attach"};
    struct json_part part;
    json_find(json_part(text, strlen(text)), key, 1, &part);
    return part.at != NULL;
}

/* The name that it was submitted with, of a stored request. NULL with ENOMEM. */
static char *name_submitted(const struct job *job, const char *text)
{
    struct job_parts parts;
    char *name = NULL;
    job_parts(text, &parts);
    return json_part_copy(parts.named, &name) < 0 ? NULL : name ? name : strdup(job->name);
}

/* The job as it is to be, not in the table, and the name that it was submitted with. NULL, and the call is refused. */
static struct job *read_again(struct call *c, struct job *job, char **named)
{
    server_t *s = c->s;
    struct job_context context = {.s = s, .user = user_find(s, job->uid), .what = ""};
    struct store_job stored = {.request = job->request};
    berth_error_t why = {""};
    struct job *by = NULL;
    if (!job->request && store_read_job(s->store, job->id, &stored, &why) < 0) {
        api_refuse(c, 503, NULL, "%s", why.text);
        return NULL;
    }
    if (is_attached(stored.request)) {
        api_refuse(c, 409, NULL, "job %s is attended by its client: what it asks for stays",
                   c->rest);
        return NULL;
    }
    *named = name_submitted(job, stored.request);
    json_t *request = context.user && *named ? changed_request(c, stored.request) : NULL;
    if (request)
        by = job_read(&context, request, job->id, &why);
    if (!request)
        api_refuse(c, 503, NULL, "out of memory");
    else if (!by)
        api_wrong(c, &why);
    json_decref(request);
    shared_text_release(context.environment);
    shared_text_release(context.script);
    return by;
}

int api_rewrite(struct call *c)
{
    berth_error_t why = {""};
    struct job *job = api_job(c);
    if (!job || api_rewrite_check(c) < 0)
        return -1;
    enum rewrite_what what;
    find_what(c->body, &what);
    if (c->member >= 0)
        return api_refuse(c, 400, NULL, "the members of an array %s: name job %lld",
                          what == REWRITE_AT_ONCE ? "are bound together" : "ask for the same",
                          (long long)c->id);
    const char *hindrance = rewrite_hindrance(job, what);
    if (hindrance)
        return api_refuse(c, 409, NULL, "job %s %s", c->rest, hindrance);
    if (entry_find_parts(c->s, job) < 0)
        return api_refuse(c, 503, NULL, "out of memory");
    char *named = NULL;
    struct job *by = read_again(c, job, &named);
    int rc = by ? job_rewrite(c->s, job, by, what, named, &why) : -1;
    if (rc < 0 && by) {
        api_refuse(c, errno == ENOMEM ? 503 : 400, NULL, "%s", why.text);
        job_discard(c->s, by);
    }
    free(named);
    if (rc == 0)
        api_event_body(c, "changed", NULL, NULL);
    return rc;
}
