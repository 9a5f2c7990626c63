/* Members of an array that end together while they wait in its entry: all are cancelled, or the core rejects
 * them. They get no records, as nothing is to be said of one that is not true of all: they are the spans
 * between the members that have records, however many they are. The store has a row for each span.
 */
#include <stdlib.h>
#include <string.h>

#include "server/core/job_text.h"
#include "server/core/members.h"
#include "server/core/priv.h"
#include "server/core/users.h"

static const struct mass *mass_of(const struct job *job, uint32_t i)
{
    const struct mass *mass = job->masses;
    while (mass && !idset_has(&mass->spans, i))
        mass = mass->next;
    return mass;
}

const struct member *mass_member(const struct job *job, uint32_t i)
{
    const struct mass *mass = mass_of(job, i);
    return mass ? &mass->as : NULL;
}

bool mass_is_unsaved(const struct job *job, uint32_t i)
{
    const struct mass *mass = mass_of(job, i);
    return mass && mass->unsaved;
}

int64_t mass_end_wall(const struct job *job, uint32_t i)
{
    const struct mass *mass = mass_of(job, i);
    return mass ? mass->wall : -1;
}

static void mass_free(struct mass *mass)
{
    if (!mass)
        return;
    idset_clear(&mass->spans);
    free(mass->as.reason);
    free(mass);
}

void masses_clear(struct job *job)
{
    while (job->masses) {
        struct mass *mass = job->masses;
        job->masses = mass->next;
        mass_free(mass);
    }
}

/* How many members there are from one index to another. */
static uint32_t member_count_between(const struct job *job, uint32_t first, uint32_t last)
{
    const struct idset *all = &job->indices;
    uint32_t n = last - first + 1;
    return all->n == 0 ? n : (uint32_t)idset_count_in(all, first, n);
}

/* Add the members from first to last to a mass, without those that do not exist at either end. */
static int add_span(const struct job *job, struct mass *mass, int64_t first, int64_t last)
{
    last = member_previous(job, last);
    first = first <= last ? (int64_t)member_next(job, (uint32_t)first) : first;
    return first > last ? 0 : idset_add_range(&mass->spans, (uint32_t)first, (uint32_t)last);
}

/* Add all members that have no record and are in no other mass. */
static int add_spans(const struct job *job, struct mass *mass)
{
    int64_t from = 0;
    uint32_t i = 0;
    for (; (i = member_next_own(job, i)) < job->members; from = ++i)
        if (add_span(job, mass, from, (int64_t)i - 1) < 0)
            return -1;
    if (add_span(job, mass, from, (int64_t)job->members - 1) < 0)
        return -1;
    for (const struct mass *other = job->masses; other; other = other->next)
        if (idset_subtract(&mass->spans, &other->spans) < 0)
            return -1;
    return 0;
}

static struct mass *mass_create(enum store_state state, const char *reason, int64_t wall)
{
    struct mass *mass = calloc(1, sizeof(*mass));
    char *copy = reason ? strdup(reason) : NULL;
    if (!mass || (reason && !copy)) {
        free(mass);
        free(copy);
        return NULL;
    }
    mass->as = (struct member){.handle = -1,
                               .at = -1,
                               .reason = copy,
                               .state = (uint8_t)state,
                               .how = -1,
                               .cancelled = state == STORE_CANCELLED};
    mass->wall = wall;
    return mass;
}

/* Count the ends of the members from first to last. */
static void count_ends(server_t *s, struct job *job, uint32_t first, uint32_t last,
                       enum store_state state)
{
    uint32_t n = member_count_between(job, first, last);
    s->table.n_held -= job_held(job);
    job->counts[STORE_PENDING] -= n;
    job->counts[state] += n;
    job->live -= n;
    s->table.n_held += job_held(job);
    s->table.counts[STORE_PENDING] -= n;
    s->table.counts[state] += n;
    user_charge(s, job->uid, -(int64_t)n, 0, 0);
}

struct mass *mass_prepare(server_t *s, const struct job *job, enum store_state state,
                          const char *reason)
{
    struct mass *mass = mass_create(state, reason, s->clock.wall);
    if (mass && add_spans(job, mass) == 0)
        return mass;
    mass_free(mass);
    return NULL;
}

/* {"members":"3-99", "by":"ann"} */
static char *event_data(const struct job *job, const struct mass *mass, const char *key,
                        const char *text)
{
    struct strbuf data = {0};
    struct json_out out = {.text = &data};
    struct idset members = {0};
    bool failed = idset_copy(&members, &mass->spans) < 0 ||
                  (job->indices.n > 0 && idset_pick(&members, &job->indices) < 0);
    json_open(&out, NULL, '{');
    if (text)
        json_put_text(&out, key, text);
    json_key(&out, "members");
    strbuf_putc(&data, '"');
    idset_encode_steps(&members, &data);
    strbuf_putc(&data, '"');
    json_close(&out, '}');
    idset_clear(&members);
    data.failed = data.failed || failed;
    return strbuf_steal(&data);
}

void mass_end(server_t *s, struct job *job, struct mass *mass, const char *kind, const char *key,
              const char *text)
{
    if (mass->spans.n == 0) {
        mass_free(mass);
        return;
    }
    mass->next = job->masses;
    job->masses = mass;
    mass->unsaved = true;
    for (uint32_t k = 0; k < mass->spans.n; k++)
        count_ends(s, job, mass->spans.v[k].lo, mass->spans.v[k].hi,
                   (enum store_state)mass->as.state);
    server_event(s, job->id, -1, kind, event_data(job, mass, key, text));
    job_changed(s, job);
}

static bool is_same_or_none(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

int mass_load(server_t *s, struct job *job, const struct store_member *from)
{
    struct mass *mass = job->masses;
    bool alike = mass && mass->as.state == from->state && mass->wall == from->end_wall &&
                 is_same_or_none(mass->as.reason, from->reason);
    if (!alike && !(mass = mass_create(from->state, from->reason, from->end_wall)))
        return -1;
    if (idset_add_range(&mass->spans, from->member, from->last) < 0) {
        if (!alike)
            mass_free(mass);
        return -1;
    }
    if (!alike) {
        mass->next = job->masses;
        job->masses = mass;
    }
    count_ends(s, job, from->member, from->last, from->state);
    return 0;
}

int masses_write(server_t *s, struct job *job, berth_error_t *err)
{
    for (const struct mass *mass = job->masses; mass; mass = mass->next)
        for (uint32_t k = mass->unsaved ? mass->spans.n : 0; k-- > 0;) {
            const struct idset_range *span = &mass->spans.v[k];
            struct store_member to = {.job = job->id,
                                      .member = span->lo,
                                      .last = span->hi,
                                      .count = member_count_between(job, span->lo, span->hi),
                                      .state = (enum store_state)mass->as.state,
                                      .cancelled = mass->as.cancelled,
                                      .how = -1,
                                      .at = -1,
                                      .until = -1,
                                      .nodes = -1,
                                      .cores = -1,
                                      .gpus = -1,
                                      .reason = mass->as.reason,
                                      .start_wall = -1,
                                      .end_wall = mass->wall,
                                      .peak_memory = -1,
                                      .cpu_time = -1};
            if (store_set_member(s->store, &to, err) < 0)
                return -1;
        }
    return 0;
}

void masses_saved(struct job *job)
{
    for (struct mass *mass = job->masses; mass; mass = mass->next)
        mass->unsaved = false;
}

bool masses_check(const struct job *job)
{
    for (const struct mass *mass = job->masses; mass; mass = mass->next) {
        if (!idset_check(&mass->spans) || mass->as.state < STORE_DONE)
            return false;
        for (const struct mass *other = mass->next; other; other = other->next)
            if (idset_meets(&mass->spans, &other->spans))
                return false;
        for (uint32_t i = 0; (i = member_next_own(job, i)) < job->members; i++)
            if (idset_has(&mass->spans, i))
                return false;
    }
    return true;
}
