/* What a job is now, for expectations and for tables. */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "berth/sched_query.h"
#include "config/seconds.h"
#include "sim/play_priv.h"

/* The present values of what can be expected of a job. */
struct found {
    enum scenario_state state;
    int64_t start, end;
    const char *reason, *resources, *how, *queue;
    bool expected; /* the start of a reservation */
};

/* Whether a waiting job is the one that its handle is of. */
static bool is_first(const struct play *p, size_t job)
{
    const struct play_submission *s = &p->submissions[p->jobs[job].submission];
    return s->n == 1 ||
           sched_index(p->d.sched, play_handle(p, job)) == (int64_t)p->jobs[job].member;
}

enum scenario_state play_look(const struct play *p, size_t job)
{
    const struct play_job *j = &p->jobs[job];
    switch (j->state) {
    case PLAY_RUNNING:
        return SCENARIO_IS_RUNNING;
    case PLAY_DONE:
        return SCENARIO_IS_DONE;
    case PLAY_FAILED:
        return SCENARIO_IS_FAILED;
    case PLAY_CANCELLED:
        return SCENARIO_IS_CANCELLED;
    case PLAY_REJECTED:
        return SCENARIO_IS_REJECTED;
    case PLAY_PREEMPTED:
        return SCENARIO_IS_PREEMPTED;
    case PLAY_WAITING:
        break;
    }
    switch (sched_state(p->d.sched, play_handle(p, job))) {
    case SCHED_RESERVED: /* of those that wait together, the first */
        return is_first(p, job) ? SCENARIO_IS_RESERVED : SCENARIO_IS_PENDING;
    case SCHED_BLOCKED:
        return j->held ? SCENARIO_IS_HELD : SCENARIO_IS_BLOCKED;
    case SCHED_REJECTED:
        return SCENARIO_IS_REJECTED;
    default:
        return SCENARIO_IS_PENDING;
    }
}

bool play_waits(const struct play *p, size_t job)
{
    return p->jobs[job].state == PLAY_WAITING && play_look(p, job) != SCENARIO_IS_REJECTED;
}

/* Look at everything about a job. `kept` keeps what the core would forget. */
static int look_closely(struct play *p, size_t job, struct strbuf *kept, struct found *f)
{
    const struct play_job *j = &p->jobs[job];
    struct play_submission *s = &p->submissions[j->submission];
    struct sched_annotation a;
    const char *resources = NULL;
    *f = (struct found){.state = play_look(p, job),
                        .start = j->start,
                        .end = j->end,
                        .reason = j->reason ? j->reason : "",
                        .resources = j->resources ? j->resources : "",
                        .how = j->started ? decisions_how(j->how) : ""};
    strbuf_reset(kept);
    if (play_waits(p, job)) {
        sched_job_t handle = play_handle(p, job);
        if (sched_annotate(p->d.sched, handle, &a) < 0)
            return -1;
        f->start = is_first(p, job) ? a.start : -1;
        f->end = is_first(p, job) ? a.until : -1;
        f->how = f->resources = "";
        char reason[SCHED_REASON_TEXT];
        if (!play_pilots_reason(p, job, reason))
            sched_reason_text(&a.reason, reason);
        size_t length = strlen(reason);
        strbuf_put(kept, reason, length + 1);
        if (a.queue && play_intern(p, a.queue, &s->queue) < 0)
            return -1;
        if (f->state == SCENARIO_IS_RESERVED) {
            f->expected = a.expected;
            if (sched_resources(p->d.sched, handle, &resources) < 0)
                return -1;
            strbuf_puts(kept, resources);
        }
        strbuf_text(kept);
        if (kept->failed) {
            errno = ENOMEM;
            return -1;
        }
        f->reason = kept->data;
        if (resources)
            f->resources = kept->data + length + 1;
    }
    f->queue = intern_text(&p->names, s->queue);
    return 0;
}

int play_row(struct play *p, size_t job, struct play_row *row)
{
    struct found f;
    const struct play_job *j = &p->jobs[job];
    if (look_closely(p, job, &p->line, &f) < 0)
        return -1;
    *row = (struct play_row){
        .name = play_name(p, job, &p->name),
        .queue = f.queue,
        .user = intern_text(&p->names, p->submissions[j->submission].user),
        .state = scenario_state_name(f.state),
        .waits = play_waits(p, job),
        .expected = f.expected,
        .submit = j->submit,
        .start = f.start,
        .end = f.end < INT64_MAX ? f.end : -1, /* nobody knows */
        .how = f.how,
        .resources = f.resources,
        .reason = f.reason,
    };
    return 0;
}

static bool is_as_expected(int expected, enum scenario_state found)
{
    if (expected < 0 || expected == (int)found)
        return true;
    switch ((enum scenario_state)expected) {
    case SCENARIO_IS_PENDING:
        return found == SCENARIO_IS_BLOCKED || found == SCENARIO_IS_HELD ||
               found == SCENARIO_IS_RESERVED;
    case SCENARIO_IS_BLOCKED:
        return found == SCENARIO_IS_HELD;
    default:
        return false;
    }
}

static void put_time_or_none(struct strbuf *out, int64_t ticks)
{
    if (ticks < 0)
        strbuf_puts(out, "none");
    else
        seconds_put(out, ticks);
}

static bool differ_time(struct strbuf *out, const char *name, const char *key, int64_t expected,
                        int64_t found)
{
    if (expected < 0 || expected == found)
        return false;
    strbuf_puts(out, name);
    strbuf_puts(out, key);
    put_time_or_none(out, expected);
    strbuf_puts(out, ", found ");
    put_time_or_none(out, found);
    return true;
}

static bool differ_text(struct strbuf *out, const char *name, const char *key, const char *expected,
                        const char *found)
{
    if (!expected || strcmp(expected, found) == 0)
        return false;
    strbuf_puts(out, name);
    strbuf_puts(out, key);
    strbuf_puts(out, expected);
    strbuf_puts(out, ", found ");
    strbuf_puts(out, *found ? found : "none");
    return true;
}

/* Append the first expectation that is not met, "b running, found pending (dependency a)"; false if all are
 * met.
 */
static bool differ(struct strbuf *out, const char *name, const struct scenario_expected *e,
                   const struct found *f)
{
    if (is_as_expected(e->state, f->state))
        return differ_text(out, name, " queue ", e->queue, f->queue) ||
               differ_time(out, name, " start ", e->start, f->start) ||
               differ_time(out, name, " end ", e->end, f->end) ||
               differ_text(out, name, " how ", e->how, f->how) ||
               differ_text(out, name, " reason ", e->reason, f->reason) ||
               differ_text(out, name, " resources ", e->resources, f->resources);
    strbuf_puts(out, name);
    strbuf_putc(out, ' ');
    strbuf_puts(out, scenario_state_name((enum scenario_state)e->state));
    strbuf_puts(out, ", found ");
    strbuf_puts(out, scenario_state_name(f->state));
    if (*f->reason) {
        strbuf_puts(out, " (");
        strbuf_puts(out, f->reason);
        strbuf_putc(out, ')');
    }
    return true;
}

/* Begin the line about an expectation. */
static void begin_expectation(const struct play *p, const struct scenario_event *e,
                              struct strbuf *out)
{
    strbuf_reset(out);
    strbuf_puts(out, p->source);
    strbuf_putc(out, ':');
    strbuf_put_uint(out, e->line);
    strbuf_puts(out, ": expected ");
}

static int tell_unmet(struct play *p, struct strbuf *text)
{
    const char *line = strbuf_text(text);
    if (text->failed) {
        errno = ENOMEM;
        return -1;
    }
    p->unmet++;
    if (p->options.unmet)
        p->options.unmet(p->options.unmet_arg, line);
    return 0;
}

/* Whether jobs are as expected; reports the first that is not. */
static int expect_jobs(struct play *p, const struct scenario_event *e, size_t first, size_t n,
                       const struct scenario_expected *expected)
{
    struct strbuf text = {0};
    struct found f;
    int rc = 0;
    for (size_t job = first; job < first + n && rc == 0; job++) {
        begin_expectation(p, e, &text);
        rc = look_closely(p, job, &p->line, &f);
        if (rc == 0 && differ(&text, play_name(p, job, &p->name), expected, &f)) {
            rc = tell_unmet(p, &text);
            break;
        }
    }
    strbuf_clear(&text);
    return rc;
}

static int expect_unknown(struct play *p, const struct scenario_event *e, const char *id)
{
    struct strbuf text = {0};
    begin_expectation(p, e, &text);
    strbuf_puts(&text, id);
    strbuf_puts(&text, ", found no such job");
    int rc = tell_unmet(p, &text);
    strbuf_clear(&text);
    return rc;
}

/* The jobs that an expectation is about; false: there is no such job. */
static bool find_expected(const struct play *p, const struct scenario_job *job,
                          struct play_range *jobs)
{
    if (!play_find(p, job->id, job->length, jobs))
        return false;
    if (job->member < 0)
        return true;
    if (!jobs->has_members)
        return false;
    jobs->first = play_member(p, p->jobs[jobs->first].submission, (uint64_t)job->member);
    jobs->n = 1;
    return jobs->first != SIZE_MAX;
}

int play_expect(struct play *p, const struct scenario_event *e)
{
    const char *id;
    json_t *value;
    struct key_place place = {p->source, e->line};
    json_object_foreach (e->object, id, value) {
        struct scenario_expected expected;
        struct scenario_job job;
        struct play_range jobs;
        scenario_job_parse(id, &job);
        scenario_expected_read(value, &place, &expected, NULL);
        int rc = find_expected(p, &job, &jobs) ? expect_jobs(p, e, jobs.first, jobs.n, &expected)
                                               : expect_unknown(p, e, id);
        if (rc < 0)
            return -1;
    }
    return 0;
}
