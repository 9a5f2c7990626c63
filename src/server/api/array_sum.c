#include "server/api/array_sum.h"

#include <stdlib.h>
#include <string.h>

#include "berth/sched_reason.h"
#include "server/core/gang.h"
#include "server/core/members.h"
#include "server/core/roles.h"

static const enum sum_state sum_of[] = {
    [STORE_PENDING] = SUM_PENDING, [STORE_STARTING] = SUM_RUNNING,
    [STORE_RUNNING] = SUM_RUNNING, [STORE_DONE] = SUM_DONE,
    [STORE_FAILED] = SUM_FAILED,   [STORE_CANCELLED] = SUM_CANCELLED,
    [STORE_TIMEOUT] = SUM_TIMEOUT,
};

static const enum store_state stored_as[SUM_STATES] = {
    [SUM_PENDING] = STORE_PENDING, [SUM_HELD] = STORE_PENDING,  [SUM_RUNNING] = STORE_RUNNING,
    [SUM_DONE] = STORE_DONE,       [SUM_FAILED] = STORE_FAILED, [SUM_CANCELLED] = STORE_CANCELLED,
    [SUM_TIMEOUT] = STORE_TIMEOUT,
};

void array_sum_clear(struct array_sum *sum)
{
    for (int i = 0; i < SUM_STATES; i++) {
        idset_clear(&sum->members[i]);
        free(sum->reason[i]);
    }
    memset(sum, 0, sizeof(*sum));
}

static void add_members(struct array_sum *sum, enum sum_state state, uint32_t first, uint32_t last)
{
    sum->counts[state] += last - first + 1;
    if (idset_add_range(&sum->members[state], first, last) < 0)
        sum->no_memory = true;
}

/* Count those that have ended together. */
static void add_masses(struct array_sum *sum, const struct job *job)
{
    for (const struct mass *mass = job->masses; mass; mass = mass->next) {
        struct idset some = {0};
        int rc = idset_copy(&some, &mass->spans);
        if (rc == 0 && job->indices.n > 0)
            rc = idset_pick(&some, &job->indices);
        if (rc == 0)
            rc = idset_unite(&sum->members[sum_of[mass->as.state]], &some);
        sum->counts[sum_of[mass->as.state]] += (uint32_t)some.count;
        sum->no_memory = sum->no_memory || rc < 0;
        idset_clear(&some);
    }
}

/* In which state a member is counted if it does not wait as its job does; else in that of its job's. */
static enum sum_state counted_as(const struct job *job, const struct member *m)
{
    return m->state == STORE_PENDING && member_held(job, m) ? SUM_HELD : sum_of[m->state];
}

/* Those that wait as their job does are those that are left: most of them have no record. */
void array_sum_job(struct array_sum *sum, const struct job *job)
{
    enum sum_state left = job->held ? SUM_HELD : SUM_PENDING;
    struct idset *waiting = &sum->members[left];
    int rc = job->indices.n > 0 ? idset_copy(waiting, &job->indices)
                                : idset_add_range(waiting, 0, job->members - 1);
    for (uint32_t i = 0; (i = member_next_own(job, i)) < job->members; i++) {
        enum sum_state state = counted_as(job, member_record(job, i));
        if (state != left)
            add_members(sum, state, i, i);
    }
    add_masses(sum, job);
    for (int k = 0; k < SUM_STATES && rc == 0; k++)
        if (k != (int)left)
            rc = idset_subtract(waiting, &sum->members[k]);
    sum->counts[left] = (uint32_t)waiting->count;
    sum->no_memory = sum->no_memory || rc < 0;
}

static void add_usage(int64_t *sum, int64_t more)
{
    if (more >= 0)
        *sum = (*sum < 0 ? 0 : *sum) + more;
}

static void add_reason(struct array_sum *sum, const struct store_member *m)
{
    char **reason = &sum->reason[sum_of[m->state]];
    if (*reason || !m->reason || !*m->reason)
        return;
    *reason = strdup(m->reason);
    sum->no_memory = sum->no_memory || !*reason;
}

void array_sum_add(struct array_sum *sum, const struct store_member *m)
{
    struct job_shown shown = {0};
    job_show_end(m, &shown);
    if ((shown.exit_status > 0 || shown.exit_signal > 0) && sched_reason_gang_is_over(m->reason))
        shown.exit_status = shown.exit_signal = -1;
    if (!sum->any) {
        sum->any = true;
        sum->start = sum->end = sum->peak_memory = sum->cpu_time = -1;
        sum->exit_status = sum->exit_signal = -1;
        sum->nodes = sum->cores = sum->gpus = -1;
    }
    add_reason(sum, m);
    bool range = m->last > m->member;
    sum->ranges = sum->ranges || range;
    add_members(sum, sum_of[m->state], m->member, range ? m->last : m->member);
    if (shown.start >= 0 && (sum->start < 0 || shown.start < sum->start))
        sum->start = shown.start;
    sum->end = shown.end > sum->end ? shown.end : sum->end;
    sum->exit_status = shown.exit_status > sum->exit_status ? shown.exit_status : sum->exit_status;
    sum->exit_signal = shown.exit_signal > sum->exit_signal ? shown.exit_signal : sum->exit_signal;
    sum->peak_memory = shown.peak_memory > sum->peak_memory ? shown.peak_memory : sum->peak_memory;
    add_usage(&sum->cpu_time, shown.cpu_time);
    sum->attempts += m->attempts;
    sum->nodes = m->nodes > sum->nodes ? m->nodes : sum->nodes;
    sum->cores = m->cores > sum->cores ? m->cores : sum->cores;
    sum->gpus = m->gpus > sum->gpus ? m->gpus : sum->gpus;
}

void array_sum_added(struct array_sum *sum, const char *indices)
{
    struct idset all = {0};
    if (!sum->ranges || !indices)
        return;
    if (idset_decode_steps(&all, indices, strlen(indices), NULL) < 0)
        sum->no_memory = true;
    for (int k = 0; k < SUM_STATES && !sum->no_memory; k++) {
        sum->no_memory = idset_pick(&sum->members[k], &all) < 0;
        sum->counts[k] = (uint32_t)sum->members[k].count;
    }
    idset_clear(&all);
}

int array_sum_stored(struct array_sum *sum, store_t *store, int64_t id, berth_error_t *err)
{
    struct store_job job;
    struct store_member member;
    struct store_cursor *cursor = store_find_members(store, id, err);
    int rc = cursor ? 1 : -1;
    while (rc > 0 && (rc = store_next(cursor, NULL, &member, err)) > 0)
        array_sum_add(sum, &member);
    store_cursor_close(cursor);
    if (rc == 0 && sum->ranges && (rc = store_read_job(store, id, &job, err)) == 0)
        array_sum_added(sum, job.indices);
    return rc;
}

/* The state of the whole: running if any member runs, else pending or held if any waits, else failed,
 * timeout, cancelled or done, whichever comes first.
 */
static enum sum_state state_of_sum(const struct array_sum *sum)
{
    static const enum sum_state order[] = {SUM_RUNNING, SUM_PENDING, SUM_HELD,
                                           SUM_FAILED,  SUM_TIMEOUT, SUM_CANCELLED};
    for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++)
        if (sum->counts[order[i]] > 0)
            return order[i];
    return SUM_DONE;
}

static const char *word_of(enum sum_state state)
{
    return job_state_word(stored_as[state], state == SUM_HELD);
}

bool array_sum_has(const struct array_sum *sum, unsigned states)
{
    for (int i = 0; i < SUM_STATES; i++)
        if (sum->counts[i] > 0 && (states & 1u << stored_as[i]))
            return true;
    return false;
}

uint32_t array_sum_first(const server_t *s, const struct array_sum *sum, const struct job *job)
{
    enum sum_state state = sum->counts[SUM_PENDING] > 0 ? SUM_PENDING
                           : sum->counts[SUM_HELD] > 0  ? SUM_HELD
                                                        : state_of_sum(sum);
    int64_t leader = state == SUM_PENDING ? gang_leader(s, job) : -1;
    if (leader >= 0 && idset_has(&sum->members[state], (uint32_t)leader))
        return (uint32_t)leader;
    uint32_t first = idset_first(&sum->members[state]);
    return first < job->members ? first : member_next(job, 0);
}

void array_show(server_t *s, const struct job *job, const struct array_sum *sum,
                struct job_shown *shown)
{
    job_show(s, job, array_sum_first(s, sum, job), shown);
    shown->member = -1;
    *shown->role = '\0';
    shown->end = -1;
    shown->exit_status = shown->exit_signal = -1;
    shown->priority = job->priority;
    shown->limit = job->limit;
    shown->planned = job->estimate;
    shown->state = word_of(state_of_sum(sum));
}

/* A gang whose others go on has when enough of its members have. */
static bool gang_has_succeeded(const struct store_job *job, const struct array_sum *sum)
{
    struct job_parts parts;
    job_parts(job->request, &parts);
    struct job_gang gang = job_gang_read(&parts);
    struct job_roles *roles;
    if (gang.min == 0 || gang.failure == SCHED_FAIL_ALL || sum->counts[SUM_DONE] < gang.min ||
        job_roles_read(parts.roles, &roles) < 0)
        return false;
    bool enough = !roles || job_roles_enough(roles, &sum->members[SUM_DONE]);
    free(roles);
    return enough;
}

void array_show_stored(const struct store_job *job, const struct array_sum *sum,
                       struct job_shown *shown)
{
    const struct store_member whole = {.state = stored_as[state_of_sum(sum)],
                                       .attempts = sum->attempts,
                                       .reason = sum->reason[state_of_sum(sum)],
                                       .how = -1,
                                       .nodes = sum->any ? sum->nodes : -1,
                                       .cores = sum->any ? sum->cores : -1,
                                       .gpus = sum->any ? sum->gpus : -1,
                                       .start_wall = sum->start,
                                       .end_wall = sum->end,
                                       .peak_memory = sum->peak_memory,
                                       .cpu_time = sum->cpu_time};
    job_show_stored(job, &whole, shown);
    shown->member = -1;
    *shown->role = '\0';
    shown->exit_status = sum->exit_status;
    shown->exit_signal = sum->exit_signal;
    if (!gang_has_succeeded(job, sum))
        return;
    shown->state = job_state_word(STORE_DONE, false);
    shown->reason = NULL;
    shown->exit_status = 0;
    shown->exit_signal = -1;
}

static void put_set(struct json_out *out, const char *key, const struct idset *set)
{
    json_key(out, key);
    strbuf_putc(out->text, '"');
    idset_encode_steps(set, out->text);
    strbuf_putc(out->text, '"');
}

static void put_ranges(struct json_out *out, const struct array_sum *sum)
{
    struct idset all = {0};
    bool failed = sum->no_memory;
    json_open(out, "ranges", '{');
    for (int i = 0; i < SUM_STATES; i++) {
        if (sum->members[i].n == 0)
            continue;
        put_set(out, word_of((enum sum_state)i), &sum->members[i]);
        failed = idset_unite(&all, &sum->members[i]) < 0 || failed;
    }
    json_close(out, '}');
    put_set(out, "indices", &all);
    idset_clear(&all);
    out->text->failed = out->text->failed || failed;
}

void array_sum_words(struct strbuf *out, const struct array_sum *sum)
{
    bool any = false;
    for (int i = 0; i < SUM_STATES; i++) {
        if (sum->counts[i] == 0)
            continue;
        strbuf_puts(out, any ? ", " : "");
        strbuf_put_uint(out, sum->counts[i]);
        strbuf_putc(out, ' ');
        strbuf_puts(out, word_of((enum sum_state)i));
        any = true;
    }
}

void array_sum_put(struct json_out *out, const struct array_sum *sum)
{
    json_open(out, "summary", '{');
    json_put_uint(out, "held", sum->counts[SUM_HELD]);
    json_put_uint(out, "pending", sum->counts[SUM_PENDING]);
    for (enum sum_state i = SUM_RUNNING; i < SUM_STATES; i++)
        json_put_uint(out, word_of(i), sum->counts[i]);
    json_close(out, '}');
    put_ranges(out, sum);
}
