/* Encoding and decoding records of jobs and members. */
#include "server/store/record.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

/* Version 2 of a job adds `count` and `indices`, whose text may have steps from version 3 on. Version 2 of a member adds
 * `how`, version 6 `retries` and `begin`, version 7 what members of gangs have, claims and `since`, version 8 `apart`,
 * version 9 who is stopped for whom, where they are not 0.
 */
enum { JOB_VERSION = 3, MEMBER_VERSION = 10 };

static void record_put_number(struct strbuf *out, int64_t number)
{
    uint64_t left = (uint64_t)number << 1 ^ (number < 0 ? UINT64_MAX : 0);
    for (; left >= 0x80; left >>= 7)
        strbuf_putc(out, (char)(left | 0x80));
    strbuf_putc(out, (char)left);
}

static void record_put_text(struct strbuf *out, const char *text)
{
    size_t length = text ? strlen(text) : 0;
    record_put_number(out, text ? (int64_t)length + 1 : 0);
    if (text)
        strbuf_put(out, text, length + 1);
}

/* A position in a record. After a failure everything reads as zero. */
struct reader {
    const unsigned char *at, *end;
    bool failed;
};

static uint64_t reader_fail(struct reader *r)
{
    r->failed = true;
    r->at = r->end;
    return 0;
}

static uint64_t get_bits(struct reader *r)
{
    uint64_t bits = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        if (r->at == r->end)
            return reader_fail(r);
        uint64_t byte = *r->at++;
        if (shift == 63 && byte > 1)
            return reader_fail(r);
        bits |= (byte & 0x7f) << shift;
        if (byte < 0x80)
            return bits;
    }
    return reader_fail(r);
}

static int64_t record_get_number(struct reader *r, int64_t low, int64_t high)
{
    uint64_t bits = get_bits(r);
    int64_t number = (int64_t)(bits >> 1 ^ (0 - (bits & 1)));
    if (number < low || number > high) {
        reader_fail(r);
        return low > 0 ? low : 0;
    }
    return number;
}

static const char *record_get_text(struct reader *r)
{
    int64_t size = record_get_number(r, 0, (int64_t)STORE_TEXT_MAX + 1);
    if (size == 0)
        return NULL;
    const char *text = (const char *)r->at;
    if (size > r->end - r->at || memchr(text, 0, (size_t)size) != text + size - 1) {
        reader_fail(r);
        return NULL;
    }
    r->at += size;
    return text;
}

static int reader_finish(const struct reader *r)
{
    if (!r->failed && r->at == r->end)
        return 0;
    errno = EINVAL;
    return -1;
}

void store_job_encode(struct strbuf *out, const struct store_job *job)
{
    strbuf_putc(out, JOB_VERSION);
    record_put_number(out, job->gid);
    record_put_number(out, job->members);
    record_put_number(out, job->submitted);
    record_put_number(out, job->submitted_wall);
    record_put_number(out, job->nodes);
    record_put_number(out, job->cores);
    record_put_number(out, job->gpus);
    record_put_text(out, job->user);
    record_put_text(out, job->name);
    record_put_number(out, job->count);
    record_put_text(out, job->indices);
}

int store_job_decode(const void *data, size_t length, struct store_job *job)
{
    struct reader r = {data, (const unsigned char *)data + length, false};
    int version = length > 0 ? *r.at++ : 0;
    if (version < 1 || version > JOB_VERSION)
        reader_fail(&r);
    job->gid = (uint32_t)record_get_number(&r, 0, UINT32_MAX);
    job->members = (uint32_t)record_get_number(&r, 1, UINT32_MAX);
    job->submitted = record_get_number(&r, INT64_MIN, INT64_MAX);
    job->submitted_wall = record_get_number(&r, -1, INT64_MAX);
    job->nodes = record_get_number(&r, 0, INT64_MAX);
    job->cores = record_get_number(&r, 0, INT64_MAX);
    job->gpus = record_get_number(&r, 0, INT64_MAX);
    job->user = record_get_text(&r);
    job->name = record_get_text(&r);
    job->count = version > 1 ? (uint32_t)record_get_number(&r, 1, job->members) : job->members;
    job->indices = version > 1 ? record_get_text(&r) : NULL;
    if (!job->indices != (job->count == job->members))
        reader_fail(&r);
    return reader_finish(&r);
}

bool store_job_is_valid(const struct store_job *job)
{
    return job->id > 0 && job->count > 0 && job->count <= job->members &&
           !job->indices == (job->count == job->members) && job->submitted_wall >= -1 &&
           job->nodes >= 0 && job->cores >= 0 && job->gpus >= 0;
}

enum {
    CANCELLED = 1,
    TIMED_OUT = 2,
    PREEMPTED = 4,
    REQUEUE = 8,
    STOPPING = 16,
    DISPLACED = 32,
    EXPECTED = 64,
    WAITS = 128,
    OWN_HOLD = 256,
    HELD = 512,
    OWN_PRIORITY = 1024,
    OWN_TIMES = 2048,
    RETRIED = 4096,
    CLAIMS = 8192,
    SINCE = 16384,
    REPLACED = 32768,
    BROKE = 65536,
    APART = 131072,
    STOPPED_FOR = 262144,
    PREEMPTS = 524288,
    AWAITED_ALSO = 1048576
};

static int rare_flags(const struct store_member *m)
{
    return (m->claims ? CLAIMS : 0) | (m->since > 0 ? SINCE : 0) |
           (m->replaced > 0 ? REPLACED : 0) | (m->broke ? BROKE : 0) | (m->apart ? APART : 0) |
           (m->stopped_for > 0 ? STOPPED_FOR : 0) | (m->preempts ? PREEMPTS : 0) |
           (m->awaited_also ? AWAITED_ALSO : 0);
}

/* What few members have, only where it is there. */
static void put_rare(struct strbuf *out, const struct store_member *m)
{
    if (m->since > 0)
        record_put_number(out, m->since);
    if (m->replaced > 0)
        record_put_number(out, m->replaced);
    if (m->broke)
        record_put_number(out, m->left);
    if (m->stopped_for > 0) {
        record_put_number(out, m->stopped_for);
        record_put_number(out, m->stopped_for_member);
    }
    if (m->awaited_also)
        record_put_text(out, m->awaited_also);
}

static void get_rare(struct reader *r, int flags, struct store_member *m)
{
    m->claims = flags & CLAIMS;
    m->broke = flags & BROKE;
    m->apart = flags & APART;
    m->preempts = flags & PREEMPTS;
    if (flags & SINCE)
        m->since = record_get_number(r, 1, INT64_MAX);
    if (flags & REPLACED)
        m->replaced = (uint32_t)record_get_number(r, 1, UINT32_MAX);
    if (flags & BROKE)
        m->left = (uint32_t)record_get_number(r, 0, UINT32_MAX);
    if (flags & STOPPED_FOR) {
        m->stopped_for = record_get_number(r, 1, INT64_MAX);
        m->stopped_for_member = (uint32_t)record_get_number(r, 0, UINT32_MAX);
    }
    if (flags & AWAITED_ALSO)
        m->awaited_also = record_get_text(r);
}

static int own_flags(const struct store_member *m)
{
    return (m->own_hold ? OWN_HOLD : 0) | (m->own_hold && m->held ? HELD : 0) |
           (m->own_priority ? OWN_PRIORITY : 0) | (m->own_times ? OWN_TIMES : 0);
}

/* Of what it has of its own only that is there. */
static void put_own(struct strbuf *out, const struct store_member *m)
{
    if (m->own_priority)
        record_put_number(out, m->priority);
    if (!m->own_times)
        return;
    record_put_number(out, m->limit);
    record_put_number(out, m->estimate);
}

static void get_own(struct reader *r, int flags, struct store_member *m)
{
    m->own_hold = flags & OWN_HOLD;
    m->held = flags & HELD;
    m->own_priority = flags & OWN_PRIORITY;
    m->own_times = flags & OWN_TIMES;
    if (m->held && !m->own_hold)
        reader_fail(r);
    if (m->own_priority)
        m->priority = record_get_number(r, INT64_MIN, INT64_MAX);
    if (!m->own_times)
        return;
    m->limit = record_get_number(r, 0, INT64_MAX);
    m->estimate = record_get_number(r, 0, INT64_MAX);
}

void store_member_encode(struct strbuf *out, const struct store_member *m)
{
    int flags = (m->cancelled ? CANCELLED : 0) | (m->timed_out ? TIMED_OUT : 0) |
                (m->preempted ? PREEMPTED : 0) | (m->requeue ? REQUEUE : 0) |
                (m->stopping ? STOPPING : 0) | (m->displaced ? DISPLACED : 0) |
                (m->expected ? EXPECTED : 0) | (m->waits ? WAITS : 0) |
                (m->retries || m->begin ? RETRIED : 0) | own_flags(m) | rare_flags(m);
    strbuf_putc(out, MEMBER_VERSION);
    record_put_number(out, flags);
    record_put_number(out, (int64_t)m->key);
    record_put_number(out, m->attempts);
    record_put_number(out, m->how);
    record_put_number(out, m->at);
    record_put_number(out, m->until);
    record_put_number(out, m->promised);
    record_put_number(out, m->start_wall);
    record_put_number(out, m->exit_status);
    record_put_number(out, m->exit_signal);
    record_put_number(out, m->peak_memory);
    record_put_number(out, m->cpu_time);
    record_put_number(out, m->nodes);
    record_put_number(out, m->cores);
    record_put_number(out, m->gpus);
    record_put_text(out, m->resources);
    record_put_text(out, m->held_resources);
    record_put_text(out, m->reason);
    put_own(out, m);
    if (flags & RETRIED) {
        record_put_number(out, m->retries);
        record_put_number(out, m->begin);
    }
    put_rare(out, m);
}

int store_member_decode(const void *data, size_t length, struct store_member *m)
{
    struct reader r = {data, (const unsigned char *)data + length, false};
    int version = length > 0 ? *r.at++ : 0;
    if (version < 1 || version > MEMBER_VERSION)
        reader_fail(&r);
    int most = version > 9   ? AWAITED_ALSO
               : version > 8 ? PREEMPTS
               : version > 7 ? APART
               : version > 6 ? BROKE
                             : RETRIED;
    int flags = (int)record_get_number(&r, 0, 2 * most - 1);
    m->cancelled = flags & CANCELLED;
    m->timed_out = flags & TIMED_OUT;
    m->preempted = flags & PREEMPTED;
    m->requeue = flags & REQUEUE;
    m->stopping = flags & STOPPING;
    m->displaced = flags & DISPLACED;
    m->expected = flags & EXPECTED;
    m->waits = flags & WAITS;
    m->key = (uint64_t)record_get_number(&r, INT64_MIN, INT64_MAX);
    m->attempts = (uint32_t)record_get_number(&r, 0, UINT32_MAX);
    m->how = version > 1 ? (int)record_get_number(&r, -1, STORE_HOW_MAX) : -1;
    m->at = record_get_number(&r, INT64_MIN, INT64_MAX);
    m->until = record_get_number(&r, INT64_MIN, INT64_MAX);
    m->promised = version > 2 ? record_get_number(&r, 0, INT64_MAX) : 0;
    m->start_wall = record_get_number(&r, -1, INT64_MAX);
    m->exit_status = (int)record_get_number(&r, INT_MIN, INT_MAX);
    m->exit_signal = (int)record_get_number(&r, INT_MIN, INT_MAX);
    m->peak_memory = record_get_number(&r, -1, INT64_MAX);
    m->cpu_time = record_get_number(&r, -1, INT64_MAX);
    m->nodes = version > 3 ? record_get_number(&r, -1, INT64_MAX) : -1;
    m->cores = version > 3 ? record_get_number(&r, -1, INT64_MAX) : -1;
    m->gpus = version > 3 ? record_get_number(&r, -1, INT64_MAX) : -1;
    m->resources = record_get_text(&r);
    m->held_resources = record_get_text(&r);
    m->reason = record_get_text(&r);
    get_own(&r, flags, m);
    bool retried = flags & RETRIED;
    m->retries = retried ? (uint32_t)record_get_number(&r, 0, UINT8_MAX) : 0;
    m->begin = retried ? record_get_number(&r, 0, INT64_MAX) : 0;
    get_rare(&r, flags, m);
    return reader_finish(&r);
}

bool store_member_is_valid(const struct store_member *m)
{
    bool ended = m->state >= STORE_DONE;
    return m->job > 0 && m->state >= STORE_PENDING && m->state <= STORE_TIMEOUT &&
           m->start_wall >= -1 && m->end_wall >= (ended ? 0 : -1) && m->peak_memory >= -1 &&
           m->cpu_time >= -1 && m->how >= -1 && m->how <= STORE_HOW_MAX && m->promised >= 0 &&
           m->limit >= 0 && m->estimate >= 0 && m->retries <= UINT8_MAX && m->begin >= 0 &&
           m->since >= 0 &&
           (m->last <= m->member || (ended && m->count > 0 && m->count <= m->last - m->member + 1));
}
