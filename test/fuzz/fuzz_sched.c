/* Any sequence of calls of the scheduling core leaves it in order, also calls that it refuses,
 * passes that come late and jobs that outlast their duration.
 *
 * The first bytes choose machine and policy. Then each byte is a call, and those after it are
 * its arguments; the end of the input reads as zeroes.
 */
#include "fuzz.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "berth/sched.h"

enum {
    HANDLES = 64,    /* kept, to be used again: live ones and gone ones */
    CALLS_MAX = 512, /* a longer input says nothing new */
    CHECK_EVERY = 8
};

struct input {
    const uint8_t *data;
    size_t size;
};

struct machine {
    sched_t *s;
    int64_t now;
    sched_job_t handle[HANDLES];
    size_t handles;
    size_t calls;
};

static uint8_t byte(struct input *in)
{
    if (in->size == 0)
        return 0;
    in->size--;
    return *in->data++;
}

/* Mostly small, at times any number at all. */
static int64_t number(struct input *in)
{
    uint8_t first = byte(in);
    if (first < 224)
        return first % 32;
    if (first < 248)
        return (int64_t)byte(in) * 16;
    uint64_t v = 0;
    for (int i = 0; i < 8; i++)
        v = v << 8 | byte(in);
    return (int64_t)v;
}

static sched_job_t pick(struct machine *m, struct input *in)
{
    uint8_t i = byte(in);
    if (m->handles == 0 || i == 255)
        return number(in);
    return m->handle[i % m->handles];
}

static sched_t *create(struct input *in)
{
    static const char *const names[] = {"fcfs", "easy", "hybrid", "conservative",
                                        "",     NULL,   "ageing"};
    struct sched_params params = {.policy = names[byte(in) % 7]};
    int64_t units = number(in);
    params.reservation_depth = number(in) - 1;
    params.queue_depth = number(in);
    params.order = (enum sched_order)(byte(in) % 4);
    berth_error_t err;
    errno = 0;
    sched_t *s = sched_create_flat(units, &params, &err);
    FUZZ_CHECK(s || errno == EINVAL);
    return s;
}

static void submit(struct machine *m, struct input *in)
{
    struct sched_request request;
    request.units = number(in);
    request.duration = number(in);
    request.priority = (int8_t)byte(in);
    request.tag = m->calls;
    errno = 0;
    sched_job_t job = sched_submit(m->s, m->now, &request);
    if (job < 0) {
        FUZZ_CHECK(errno == EINVAL);
        return;
    }
    int state = sched_state(m->s, job);
    FUZZ_CHECK(state == SCHED_WAITING || state == SCHED_REJECTED);
    m->handle[m->handles < HANDLES ? m->handles++ : m->calls % HANDLES] = job;
}

static void pass(struct machine *m, bool more)
{
    const struct sched_decision *d;
    size_t n;
    size_t running = sched_running(m->s);
    size_t waiting = sched_waiting(m->s);
    size_t starts = 0;
    FUZZ_CHECK(sched_pass(m->s, m->now, more, &d, &n) == 0);
    for (size_t i = 0; i < n; i++) {
        int state = sched_state(m->s, d[i].job);
        starts += d[i].kind == SCHED_START;
        FUZZ_CHECK(d[i].kind == SCHED_RESERVE || d[i].at == m->now);
        FUZZ_CHECK((d[i].reason != NULL) == (d[i].kind == SCHED_REJECT));
        FUZZ_CHECK(d[i].kind != SCHED_START || state == SCHED_RUNNING);
        FUZZ_CHECK(d[i].kind != SCHED_REJECT || state == -1);
    }
    FUZZ_CHECK(sched_running(m->s) == running + starts);
    FUZZ_CHECK(sched_waiting(m->s) <= waiting - starts);
    FUZZ_CHECK(more || sched_next_time(m->s) > m->now);
}

/* What a call does to a job agrees with the job's state before it. */
static void call_on_job(struct machine *m, struct input *in, int call)
{
    sched_job_t job = pick(m, in);
    int before = sched_state(m->s, job);
    bool waits = before == SCHED_WAITING || before == SCHED_RESERVED;
    bool ok;
    if (call == 0) {
        ok = sched_finish(m->s, m->now, job, true) == 0;
        FUZZ_CHECK(ok == (before == SCHED_RUNNING));
    } else if (call == 1) {
        ok = sched_cancel(m->s, m->now, job) == 0;
        FUZZ_CHECK(ok == (before >= 0));
    } else {
        ok = sched_prioritize(m->s, m->now, job, (int8_t)byte(in)) == 0;
        FUZZ_CHECK(ok == (waits || before == SCHED_RUNNING));
        int after = sched_state(m->s, job);
        /* A holder that others go before now gives its reservation back. */
        FUZZ_CHECK(after == before || (before == SCHED_RESERVED && after == SCHED_WAITING));
        return;
    }
    FUZZ_CHECK(!ok || sched_state(m->s, job) == -1);
}

static void step_time(struct machine *m, struct input *in)
{
    int64_t next = sched_next_time(m->s);
    int64_t more = number(in);
    if (more == 0 && next != INT64_MAX && next > m->now)
        m->now = next; /* just in time */
    else if (more > 0 && more < INT64_MAX - m->now)
        m->now += more;
}

static void back_in_time(struct machine *m)
{
    const struct sched_decision *d;
    size_t n;
    struct sched_request request = {.units = 1, .duration = 1};
    FUZZ_CHECK(sched_submit(m->s, -1, &request) == -1 && errno == EINVAL);
    FUZZ_CHECK(sched_pass(m->s, -1, false, &d, &n) == -1 && errno == EINVAL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    struct machine m = {.s = create(&in)};
    if (!m.s)
        return 0;
    for (; in.size > 0 && m.calls < CALLS_MAX; m.calls++) {
        uint8_t call = byte(&in) % 16;
        if (call < 6)
            submit(&m, &in);
        else if (call < 9)
            pass(&m, call == 8);
        else if (call < 12)
            step_time(&m, &in);
        else if (call < 15)
            call_on_job(&m, &in, call - 12);
        else
            back_in_time(&m);
        if (m.calls % CHECK_EVERY == 0)
            FUZZ_CHECK(sched_check(m.s));
    }
    pass(&m, false);
    FUZZ_CHECK(sched_check(m.s));
    sched_destroy(m.s);
    return 0;
}
