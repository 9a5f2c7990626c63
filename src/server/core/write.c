/* Writing what is unsaved to the store. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "berth/sched_snapshot.h"
#include "server/core/awaited_store.h"
#include "server/core/bulk.h"
#include "server/core/members.h"
#include "server/core/notify.h"
#include "server/core/priv.h"
#include "server/core/shares_kept.h"
#include "server/core/users.h"

static int write_changed_job(server_t *s, struct job *job, berth_error_t *err)
{
    struct store_job to;
    job_to_store(job, &to);
    if (!job->is_new && !job->request)
        return store_set_job(s->store, &to, err);
    strbuf_reset(&s->text);
    idset_encode_steps(&job->indices, &s->text);
    if (s->text.failed)
        return errtext_no_memory(err);
    to.indices = job->indices.n > 0 ? strbuf_text(&s->text) : NULL;
    if (!job->is_new)
        return store_rewrite_job(s->store, &to, err) < 0 ? -1 : store_set_job(s->store, &to, err);
    to.environment = job->environment ? job->environment->text : "[]";
    if (job->script) {
        to.script = job->script->text;
        to.script_length = job->script->length;
    }
    return store_add_job(s->store, &to, err);
}

/* What the store keeps of a member, but for what the core and its run know. */
static struct store_member member_to_store(const struct job *job, uint32_t i)
{
    const struct member *m = member_record(job, i);
    struct own own = own_of(m);
    return (struct store_member){.job = job->id,
                                 .member = i,
                                 .state = (enum store_state)m->state,
                                 .cancelled = m->cancelled,
                                 .timed_out = m->timed_out,
                                 .preempted = m->preempted,
                                 .requeue = m->requeue,
                                 .own_hold = own.has_hold,
                                 .held = own.held,
                                 .own_priority = own.has_priority,
                                 .own_times = own.has_times,
                                 .priority = own.priority,
                                 .limit = own.limit,
                                 .estimate = own.estimate,
                                 .attempts = m->attempts,
                                 .retries = m->retries,
                                 .how = m->run && m->run->key ? m->how : -1,
                                 .at = -1,
                                 .until = -1,
                                 .nodes = -1,
                                 .cores = -1,
                                 .gpus = -1,
                                 .reason = m->reason,
                                 .start_wall = -1,
                                 .end_wall = -1,
                                 .peak_memory = -1,
                                 .cpu_time = -1};
}

/* What its run has come to. */
static void run_to_store(struct store_member *to, const struct run *run)
{
    to->key = run->key;
    to->held_resources = run->resources;
    to->nodes = run->holds.nodes;
    to->cores = run->holds.cores;
    to->gpus = run->holds.gpus;
    to->start_wall = run->start_wall;
    to->end_wall = run->end_wall;
    to->exit_status = run->exit_status;
    to->exit_signal = run->exit_signal;
    to->peak_memory = run->peak_memory;
    to->cpu_time = run->cpu_time;
}

static int write_changed_member(server_t *s, struct job *job, uint32_t i, berth_error_t *err)
{
    const struct member *m = member_record(job, i);
    struct sched_record r = {.at = -1, .until = -1};
    struct store_member to = member_to_store(job, i);
    struct strbuf also = {0};
    bool waits = m->handle >= 0 && m->state == STORE_PENDING;
    bool holds =
        m->handle >= 0 && (m->reserved || m->state == STORE_STARTING || m->state == STORE_RUNNING);
    if ((holds || waits) && sched_record(s->sched, m->handle, &r) < 0)
        return errtext_set(err, errno, "job %" PRId64 ": cannot store it: %s", job->id,
                           strerror(errno));
    to.claims = waits && m->claims && r.claim;
    to.preempts = waits && (m->preempts || m->reserved) && r.preempts;
    to.apart = waits && job->members > 1 && !member_is_in_entry(job, i);
    bool alone = job->members == 1 || to.apart; /* an array's entry goes by the submission */
    to.since = waits && alone && r.since != job->submitted ? r.since : 0;
    to.replaced = m->replaced;
    to.broke = job->gang.is_over && job->gang.by == i;
    to.left = to.broke ? job->gang.left : 0;
    to.expected = waits && r.expected;
    to.waits = waits && r.waits;
    to.begin = waits && (m->retries > 0 || job->members == 1) ? r.request.begin : 0;
    to.displaced = waits && r.displaced;
    to.promised = to.displaced ? r.promised : 0;
    const char *resources = m->run && m->run->outside ? m->run->outside : r.resources;
    if ((holds || to.claims || to.preempts) && resources) {
        to.at = r.at;
        to.until = r.until;
        to.resources = resources;
        to.stopping = r.stopping;
        if (awaited_to_store(&r, &to, &also) < 0) {
            strbuf_clear(&also);
            return errtext_no_memory(err);
        }
        if (r.limit)
            to.reason = r.limit;
    }
    if (!member_is_live(m)) /* in case there was no memory for a run */
        to.end_wall = s->clock.wall;
    if (m->run)
        run_to_store(&to, m->run);
    int rc = store_set_member(s->store, &to, err);
    strbuf_clear(&also);
    return rc;
}

static int write_values(server_t *s, berth_error_t *err)
{
    char text[200];
    if (s->runs.next_key != s->runs.stored_key) {
        snprintf(text, sizeof(text), "%" PRIu64, s->runs.next_key);
        if (store_put(s->store, "next-key", text, err) < 0)
            return -1;
    }
    if (s->engine.heard_key != s->engine.stored_heard) {
        snprintf(text, sizeof(text), "%" PRIu64, s->engine.heard_key);
        if (store_put(s->store, "heard-key", text, err) < 0)
            return -1;
    }
    if (s->unsaved.settings) {
        char *settings = json_dumps(s->settings, JSON_COMPACT);
        int rc = settings ? store_put(s->store, "settings", settings, err) : errtext_no_memory(err);
        free(settings);
        if (rc < 0)
            return -1;
    }
    return 0;
}

static int write_clock(server_t *s, berth_error_t *err)
{
    char text[200];
    snprintf(text, sizeof(text), "%.79s %" PRId64 " %" PRId64 " %" PRId64,
             s->platform.boot(s->platform.context), s->clock.offset, s->clock.now, s->clock.wall);
    return store_put(s->store, "clock", text, err);
}

int server_write(server_t *s, berth_error_t *err)
{
    if (s->unsaved.n_jobs == 0 && !s->unsaved.bulks && s->unsaved.n_members == 0 &&
        s->unsaved.n_events == 0 && !s->unsaved.settings && !s->unsaved.shares &&
        s->runs.next_key == s->runs.stored_key &&
        s->clock.now - s->clock.stored < SERVER_CLOCK_EVERY)
        return 0;
    for (size_t i = 0; i < s->unsaved.n_jobs; i++)
        if (write_changed_job(s, s->unsaved.jobs[i], err) < 0 ||
            masses_write(s, s->unsaved.jobs[i], err) < 0)
            return -1;
    for (size_t i = 0; i < s->unsaved.n_members; i++)
        if (write_changed_member(s, s->unsaved.members[i].job, s->unsaved.members[i].member, err) <
            0)
            return -1;
    for (size_t i = 0; i < s->unsaved.n_events; i++) {
        const struct unsaved_event *h = &s->unsaved.events[i];
        struct store_event event = {
            .wall = h->wall, .job = h->job, .member = h->member, .kind = h->kind, .data = h->data};
        if (store_add_event(s->store, &event, err) < 0)
            return -1;
    }
    if (s->unsaved.bulks && bulk_write(s, err) < 0)
        return -1;
    return write_values(s, err) < 0 || shares_write(s, err) < 0 || write_clock(s, err) < 0
               ? -1
               : store_commit(s->store, err);
}

/* The end of a member is stored: free its run. */
static void drop_ended_run(server_t *s, struct member *m)
{
    if (member_is_live(m))
        return;
    if (m->run)
        run_destroy(s, m->run);
    m->run = NULL;
}

/* Put a job whose last end is stored before those that are to be removed. Returns the first of these. */
static struct job *note_over(struct job *job, struct job *over)
{
    if (job->live > 0 || job->is_over)
        return over;
    job->is_over = true;
    job->next_over = over;
    return job;
}

void server_mark_saved(server_t *s)
{
    for (size_t i = 0; i < s->unsaved.n_jobs; i++) {
        struct job *job = s->unsaved.jobs[i];
        if (job->is_new)
            user_charge(s, job->uid, 0, 0, -job->weight);
        job->unsaved = job->is_new = false;
        masses_saved(job);
        free(job->request);
        shared_text_release(job->environment);
        shared_text_release(job->script);
        job->request = NULL;
        job->environment = job->script = NULL;
    }
    for (size_t i = 0; i < s->unsaved.n_members; i++) {
        struct member *m = ref_record(&s->unsaved.members[i]);
        m->unsaved = false;
        drop_ended_run(s, m);
    }
    struct job *over = NULL;
    for (size_t i = 0; i < s->unsaved.n_members; i++)
        over = note_over(s->unsaved.members[i].job, over);
    for (size_t i = 0; i < s->unsaved.n_jobs; i++)
        over = note_over(s->unsaved.jobs[i], over);
    while (over) {
        struct job *job = over;
        over = job->next_over;
        notify_over(s, job);
        job_remove(s, job);
    }
    s->unsaved.n_jobs = s->unsaved.n_members = 0;
    for (size_t i = 0; i < s->unsaved.n_events; i++)
        free(s->unsaved.events[i].data);
    s->unsaved.n_events = 0;
    users_forget_stored(s);
    s->runs.stored_key = s->runs.next_key;
    s->engine.stored_heard = s->engine.heard_key;
    s->clock.stored = s->clock.now;
    s->unsaved.settings = s->unsaved.bulks = false;
    shares_stored(s);
    s->unsaved.n_commits++;
}

/* Remove what belongs to submissions that are not stored. */
static void forget_new_jobs(server_t *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->unsaved.n_members; i++)
        if (!s->unsaved.members[i].job->is_new)
            s->unsaved.members[kept++] = s->unsaved.members[i];
    s->unsaved.n_members = kept;
    kept = 0;
    for (size_t i = 0; i < s->engine.n_starts; i++)
        if (!s->engine.starts[i].job->is_new)
            s->engine.starts[kept++] = s->engine.starts[i];
    s->engine.n_starts = kept;
    kept = 0;
    for (size_t i = 0; i < s->unsaved.n_jobs; i++)
        if (!s->unsaved.jobs[i]->is_new)
            s->unsaved.jobs[kept++] = s->unsaved.jobs[i];
    s->unsaved.n_jobs = kept;
    kept = 0;
    for (size_t i = 0; i < s->unsaved.n_events; i++) {
        struct job *job = s->unsaved.events[i].job ? job_lookup(s, s->unsaved.events[i].job) : NULL;
        if (job && job->is_new)
            free(s->unsaved.events[i].data);
        else
            s->unsaved.events[kept++] = s->unsaved.events[i];
    }
    s->unsaved.n_events = kept;
}

void server_undo_submissions(server_t *s)
{
    forget_new_jobs(s);
    for (size_t i = s->table.n; i-- > 0;) {
        struct job *job = s->table.jobs[i].job;
        if (!job)
            continue;
        if (!job->is_new)
            break;
        job_withdraw(s, job);
        job_remove(s, job);
        i = i < s->table.n ? i : s->table.n; /* removing gaps may have shrunk the table */
    }
}
