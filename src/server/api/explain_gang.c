#include "server/api/explain_gang.h"

static const char *const words[] = {[SCHED_NOT_READY] = "not ready",
                                    [SCHED_CONDITIONALLY_READY] = "conditionally ready",
                                    [SCHED_READY] = "ready"};

bool explain_gang_is_up(const struct sched_gang_now *now)
{
    for (size_t i = 0; i < now->n_roles; i++)
        if (now->role[i].running + now->role[i].succeeded < now->role[i].min)
            return false;
    return now->running + now->succeeded >= now->min;
}

static void put_number_between(struct strbuf *out, const char *before, int64_t n, const char *after)
{
    strbuf_puts(out, before);
    strbuf_put_int(out, n);
    strbuf_puts(out, after);
}

/* The members and the readiness of each role. */
enum of_role { OF_MIN, OF_RUNNING, OF_SUCCEEDED, OF_ROOM, OF_MORE };

static uint32_t number_of_role(const struct sched_role_now *role, enum of_role what)
{
    switch (what) {
    case OF_MIN:
        return role->min;
    case OF_RUNNING:
        return role->running;
    case OF_SUCCEEDED:
        return role->succeeded;
    case OF_ROOM:
        return role->allocated;
    default:
        return role->conditional;
    }
}

static uint32_t missing_of(const struct sched_role_now *role)
{
    uint32_t had = role->running + role->succeeded;
    return role->min > had ? role->min - had : 0;
}

/* " (server 1 of 1, worker 4 of 6)": those of each role, of which there are some or should be. */
static void put_roles(struct strbuf *out, const struct sched_gang_now *now, enum of_role what)
{
    const char *before = " (";
    for (size_t i = 0; i < now->n_roles; i++) {
        const struct sched_role_now *role = &now->role[i];
        uint32_t n = number_of_role(role, what), of = what == OF_ROOM ? missing_of(role) : 0;
        if (n == 0 && of == 0)
            continue;
        strbuf_puts(out, before);
        strbuf_puts(out, role->name);
        put_number_between(out, " ", n, "");
        if (what == OF_ROOM)
            put_number_between(out, " of ", of, "");
        before = ", ";
    }
    strbuf_puts(out, *before == ',' ? ")" : "");
}

static void put_room(struct strbuf *out, const struct sched_gang_now *now)
{
    uint32_t had = now->running + now->succeeded;
    put_number_between(out, "; there is room for ", now->allocated, " of ");
    put_number_between(out, "", (int64_t)now->min - had, "");
    put_roles(out, now, OF_ROOM);
    if (now->conditional == 0)
        return;
    put_number_between(out, ", and for ", now->conditional, " more");
    put_roles(out, now, OF_MORE);
    strbuf_puts(out, " if jobs were stopped that may be");
}

void explain_gang(struct strbuf *out, const struct sched_gang_now *now, bool looks)
{
    put_number_between(out, "It is a gang, of which ", now->min,
                       now->min == 1 ? " starts" : " start");
    strbuf_puts(out, " together");
    put_roles(out, now, OF_MIN);
    if (now->succeeded > 0) {
        put_number_between(out, "; ", now->succeeded,
                           now->succeeded == 1 ? " has succeeded" : " have succeeded");
        put_roles(out, now, OF_SUCCEEDED);
    }
    if (now->running > 0) {
        put_number_between(out, "; ", now->running, now->running == 1 ? " runs" : " run");
        put_roles(out, now, OF_RUNNING);
    } else if (looks) {
        put_room(out, now);
    }
    strbuf_puts(out, ": it is ");
    strbuf_puts(out, words[now->readiness]);
    strbuf_puts(out, ". ");
}

static void put_each_role(struct json_out *out, const struct sched_gang_now *now)
{
    if (now->n_roles == 0)
        return;
    json_open(out, "roles", '[');
    for (size_t i = 0; i < now->n_roles; i++) {
        const struct sched_role_now *role = &now->role[i];
        json_open(out, NULL, '{');
        json_put_text(out, "role", role->name);
        json_put_uint(out, "min", role->min);
        json_put_uint(out, "running", role->running);
        json_put_uint(out, "succeeded", role->succeeded);
        json_put_uint(out, "allocated", role->allocated);
        json_put_uint(out, "conditional", role->conditional);
        json_close(out, '}');
    }
    json_close(out, ']');
}

void explain_gang_put(struct json_out *out, const struct sched_gang_now *now)
{
    json_open(out, "gang", '{');
    json_put_text(out, "readiness", words[now->readiness]);
    json_put_uint(out, "min", now->min);
    json_put_uint(out, "running", now->running);
    json_put_uint(out, "succeeded", now->succeeded);
    json_put_uint(out, "allocated", now->allocated);
    json_put_uint(out, "conditional", now->conditional);
    put_each_role(out, now);
    json_close(out, '}');
}
