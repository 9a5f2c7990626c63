/* Whether a waiting job would start now if it asked for less (sched_what_if), asked in random scenes of
 * named queues, against the obvious way: another scheduler is given all jobs as they are known to this one,
 * but for that job, which asks for less there, and runs a pass. Asking changes nothing: not what is known
 * of any job, nor what is decided later.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "berth/resource.h"
#include "berth/sched_admin.h"
#include "berth/sched_query.h"
#include "berth/sched_snapshot.h"
#include "fixture/machine.h"
#include "queue_scene.h"

enum { SCENES = 60, TEXT = 1000 };

static struct scene first, second;
static struct random questions;
static struct {
    uint64_t asked, would, shorter, fewer, reserved, limited, missed, beside, preempted;
} seen;

/* What a job asks for instead. */
struct less {
    char jobspec[TEXT]; /* "": its own */
    int64_t duration;
};

static int make_one(void *context, int64_t n, struct sched_instead *instead)
{
    const struct less *less = context;
    (void)n;
    if (less->jobspec[0]) {
        instead->jobspec = less->jobspec;
        instead->jobspec_length = strlen(less->jobspec);
    }
    instead->duration = less->duration;
    return 0;
}

static bool ask(struct scene *c, const struct scene_job *j, struct less *less)
{
    struct sched_question question = {.make = make_one, .context = less, .least = 1, .most = 1};
    berth_error_t err = {""};
    if (sched_what_if(c->sched, c->now, j->handle, &question, 1, &err) < 0)
        scene_fail(c, err.text, __FILE__, __LINE__);
    return question.found == 1;
}

/* ---- The obvious way ---- */

/* What other jobs do in a pass before one starts. */
struct turns {
    bool taken;    /* one that goes before it starts, or is promised a time and was not */
    bool preempts; /* others are preempted for one that goes before it */
    bool moved;    /* one keeps its promise on other resources, or is promised an earlier time, */
    bool earlier;  /* and goes before it, or starts earlier than that */
    bool left;     /* one that goes before it leaves its queue, which considers another one */
};

/* Whether a job that goes before ours is over a limit, and its queue considers another one in its place. A
 * pass says so at its end.
 */
static bool leaves(const struct scene *c, const struct scene_job *j, const struct sched_decision *d)
{
    const struct scene_job *k = &c->job[d->tag + d->member];
    const struct sched_queue_config *q = &c->config.queue[scene_lane(c, k->queue)];
    return (q->queue_depth > 0 || q->max_queue_depth > 0) && k != j && scene_before(c, k, j) &&
           (d->kind == SCHED_WAIT || d->kind == SCHED_REJECT) &&
           d->reason->kind == SCHED_REASON_LIMIT;
}

static void note_turn(const struct scene *c, const struct scene_job *j, sched_t *to,
                      const struct sched_decision *d, struct turns *before)
{
    const struct scene_job *k = &c->job[d->tag + d->member];
    struct sched_annotation a;
    if (d->kind == SCHED_PREEMPT) {
        SCENE_CHECK(c, sched_annotate(to, d->other, &a) == 0);
        before->preempts |= scene_before(c, &c->job[a.tag + a.member], j);
        return;
    }
    bool reserves = d->kind == SCHED_RESERVE, had = scene_state(c, k) == SCHED_RESERVED;
    if (k != j && scene_before(c, k, j))
        before->taken |= d->kind == SCHED_START || (reserves && !had);
    int64_t was = had ? sched_start_time(c->sched, k->handle) : INT64_MIN;
    bool moves = k != j && reserves && d->at <= was;
    bool starts_earlier = k != j && d->kind == SCHED_START && d->at < was;
    before->moved |= moves;
    before->earlier |= (moves || starts_earlier) && scene_before(c, k, j);
}

/* Have a job that was promised something submitted again, with what it asks for instead. Until the next pass, others are told
 * what they were told because of its promise.
 */
static void submit_again(struct scene *c, sched_t *to, sched_job_t job, const struct less *less)
{
    berth_error_t err = {""};
    size_t length = strlen(less->jobspec);
    SCENE_CHECK(c, sched_hold(to, c->now, job) == 0);
    if (length > 0 && sched_set_jobspec(to, c->now, job, less->jobspec, length, &err) < 0)
        scene_fail(c, err.text, __FILE__, __LINE__);
    SCENE_CHECK(c, sched_release(to, c->now, job) == 0);
}

/* Another scheduler that is given all jobs, but for one (unless NULL) that asks for less and has just come
 * back to its place. Returns it with that job's handle; the machine is its own.
 */
static sched_t *give_all(struct scene *c, const struct scene_job *j, const struct less *less,
                         match_t **match, sched_job_t *changed)
{
    struct sched_record record;
    berth_error_t err = {""};
    sched_t *to = scene_copy(c, match);
    bool reserved = j && sched_state(c->sched, j->handle) == SCHED_RESERVED;
    for (sched_job_t job = sched_first(c->sched); job >= 0; job = sched_next(c->sched, job)) {
        SCENE_CHECK(c, sched_record(c->sched, job, &record) == 0);
        if (j && job == j->handle && !reserved) {
            record.state = SCHED_WAITING;
            record.fresh = true;
            if (less->jobspec[0]) {
                record.request.jobspec = less->jobspec;
                record.request.jobspec_length = strlen(less->jobspec);
            }
        }
        sched_job_t h = sched_restore(to, c->now, &record, &err);
        if (h < 0)
            scene_fail(c, err.text, __FILE__, __LINE__);
        if (j && job == j->handle)
            *changed = h;
    }
    if (reserved)
        submit_again(c, to, *changed, less);
    return to;
}

/* Whether the job starts in a pass of a scheduler where it asks for less. */
static bool starts(struct scene *c, const struct scene_job *j, const struct less *less,
                   struct turns *before)
{
    const struct sched_decision *decisions;
    match_t *match;
    size_t n;
    sched_job_t changed = -1;
    sched_t *to = give_all(c, j, less, &match, &changed);
    bool started = false;
    *before = (struct turns){0};
    if (less->duration == 0 ||
        sched_set_duration(to, c->now, changed, less->duration, 0, NULL) == 0) {
        SCENE_CHECK(c, sched_pass(to, c->now, false, &decisions, &n) == 0);
        for (size_t i = 0; i < n; i++) {
            before->left |= leaves(c, j, &decisions[i]);
            if (!started)
                note_turn(c, j, to, &decisions[i], before);
            started |= decisions[i].kind == SCHED_START &&
                       &c->job[decisions[i].tag + decisions[i].member] == j;
        }
    }
    SCENE_CHECK(c, sched_check(to));
    sched_destroy(to);
    match_destroy(match);
    return started;
}

/* Whether the job comes within its queue's depth in another scheduler because that one finds out, without
 * any question, that a job before it is over a limit. This one has not: it knows that the job can't start,
 * and does not look at it.
 */
static bool is_let_in(struct scene *c, const struct scene_job *j)
{
    const struct sched_queue_config *q = &c->config.queue[scene_lane(c, j->queue)];
    const struct sched_decision *decisions;
    match_t *match;
    size_t n;
    bool found = false;
    if (q->queue_depth == 0 && q->max_queue_depth == 0)
        return false;
    sched_t *to = give_all(c, NULL, NULL, &match, NULL);
    SCENE_CHECK(c, sched_pass(to, c->now, false, &decisions, &n) == 0);
    for (size_t i = 0; i < n && !found; i++) {
        const struct scene_job *k = &c->job[decisions[i].tag + decisions[i].member];
        found = decisions[i].kind == SCHED_WAIT &&
                decisions[i].reason->kind == SCHED_REASON_LIMIT &&
                scene_lane(c, k->queue) == scene_lane(c, j->queue) && scene_before(c, k, j) &&
                sched_state(c->sched, k->handle) == SCHED_WAITING;
    }
    sched_destroy(to);
    match_destroy(match);
    return found;
}

/* ---- What is known ---- */

static void note_record(struct strbuf *out, const struct sched_record *r, const char *resources)
{
    char line[2 * TEXT];
    snprintf(line, sizeof(line),
             "%s %u %d %" PRId64 " %" PRId64 " %" PRId64 " %d %d %s %d %d | %" PRId64 " %" PRId64
             " %s %s %s %" PRId64 " %.*s\n",
             r->request.id, r->member, r->state, r->submitted, r->at, r->until, r->how, r->held,
             r->reason, r->fresh, r->untold, r->request.duration, r->request.priority,
             r->request.queue, r->request.user, r->request.dependency ? r->request.dependency : "",
             r->request.begin, (int)r->request.jobspec_length, r->request.jobspec);
    strbuf_puts(out, line);
    strbuf_puts(out, resources);
}

/* All that a shell could keep of a scheduler. */
static char *state_of(struct scene *c)
{
    struct strbuf text = {0};
    struct sched_record record;
    const char *hints;
    size_t length;
    for (sched_job_t job = sched_first(c->sched); job >= 0; job = sched_next(c->sched, job)) {
        SCENE_CHECK(c, sched_record(c->sched, job, &record) == 0);
        char *resources = record.resources ? strdup(record.resources) : strdup("");
        SCENE_CHECK(c, sched_record(c->sched, job, &record) == 0);
        note_record(&text, &record, resources);
        free(resources);
    }
    SCENE_CHECK(c, sched_hints(c->sched, &hints, &length) == 0);
    strbuf_put(&text, hints, length);
    for (size_t i = 0; i < c->config.config.n_queues; i++) {
        struct sched_queue_stats stats;
        SCENE_CHECK(c, sched_queue_stats(c->sched, c->config.queue[i].name, &stats) == 0);
        strbuf_put(&text, (const char *)stats.now, sizeof(stats.now));
        strbuf_put(&text, (const char *)&stats.submitted, 7 * sizeof(uint64_t));
    }
    strbuf_put_int(&text, sched_next_time(c->sched));
    strbuf_putc(&text, '\0');
    return strbuf_steal(&text);
}

/* ---- Looks at a scene ---- */

static void draw_less(const struct scene_job *j, struct less *less)
{
    struct scene_job smaller = *j;
    *less = (struct less){.duration = random_between(&questions, 0, j->duration)};
    if (random_between(&questions, 0, 2) == 0)
        return;
    smaller.count = (int)random_between(&questions, 1, j->count);
    smaller.cores = (int)random_between(&questions, 1, j->cores > 0 ? j->cores : 1);
    smaller.gpus = (int)random_between(&questions, 0, j->gpus);
    scene_jobspec(&smaller, less->jobspec, sizeof(less->jobspec));
}

static bool waits(const struct scene *c, const struct scene_job *j)
{
    int state = j->gone || j->running ? -1 : sched_state(c->sched, j->handle);
    if (j->members > 1 && sched_index(c->sched, j->handle) != j->member)
        return false; /* it waits for the next one of its array, which is asked about */
    return state == SCHED_WAITING || state == SCHED_RESERVED || state == SCHED_BLOCKED;
}

/* Whether a job that goes before this one is over a limit, which it may no longer be once this one gives up
 * its promise.
 */
static bool is_limited_before(const struct scene *c, const struct scene_job *j)
{
    struct sched_annotation a;
    for (int i = 0; i < c->jobs; i++)
        if (waits(c, &c->job[i]) && scene_before(c, &c->job[i], j) &&
            sched_annotate(c->sched, c->job[i].handle, &a) == 0 &&
            a.reason.kind == SCHED_REASON_LIMIT)
            return true;
    return false;
}

/* Whether its array keeps it while another member is promised a time. */
static bool is_kept_by_array(const struct scene *c, const struct scene_job *j)
{
    struct sched_annotation a;
    return sched_annotate(c->sched, j->handle, &a) == 0 && a.reason.kind == SCHED_REASON_LIMIT &&
           a.reason.limit.whose == SCHED_OF_ARRAY;
}

/* Whether a limit of nodes may have it choose other nodes. */
static bool is_limited_by_nodes(const struct scene *c, const struct scene_job *j)
{
    const int queue[] = {j->queue, scene_lane(c, j->queue)};
    bool is = false;
    for (size_t i = 0; i < 2; i++) {
        const struct sched_limits *l = &c->config.queue[queue[i]].limits;
        for (size_t k = 0; k < l->n_user; k++)
            is |= strcmp(l->user[k].what, "node") == 0;
        for (size_t k = 0; k < l->n_queue; k++)
            is |= strcmp(l->queue[k].what, "node") == 0;
    }
    return is;
}

/* Whether the answer may differ, as berth/sched_query.h says, and does. */
static bool is_excused(struct scene *c, const struct scene_job *j, bool does,
                       const struct turns *before)
{
    bool reserved = sched_state(c->sched, j->handle) == SCHED_RESERVED;
    if (does)
        return ((before->taken || before->left) && reserved) || before->moved ||
               is_limited_before(c, j) || is_let_in(c, j) || is_kept_by_array(c, j) ||
               is_limited_by_nodes(c, j) || (j->preempts && reserved);
    bool taken = (before->preempts || before->earlier) && reserved;
    seen.preempted += taken;
    return taken;
}

static void check_one(struct scene *c, const struct scene_job *j)
{
    struct less less;
    struct sched_record record;
    struct turns before;
    draw_less(j, &less);
    int state = sched_state(c->sched, j->handle);
    bool would = ask(c, j, &less);
    bool does = starts(c, j, &less, &before);
    if (would != does && !is_excused(c, j, does, &before)) {
        SCENE_CHECK(c, sched_record(c->sched, j->handle, &record) == 0);
        fail_msg("seed %" PRIu64 ", time %" PRId64 ": %s.%u, state %d, %s: for %" PRId64
                 " with %s it is said %s start, and does%s (taken %d, preempts %d)",
                 c->options.seed, c->now, j->id, j->member, state, record.reason, less.duration,
                 less.jobspec[0] ? less.jobspec : "what it asks for", would ? "to" : "not to",
                 does ? "" : " not", before.taken, before.preempts);
    }
    seen.asked++;
    seen.would += would;
    seen.shorter += would && !less.jobspec[0];
    seen.fewer += would && less.jobspec[0] && (less.duration == 0 || less.duration == j->duration);
    seen.reserved += would && state == SCHED_RESERVED;
    seen.limited += would && state == SCHED_BLOCKED;
    seen.missed += !would && does && !before.taken;
    seen.beside += !would && does && before.taken;
}

/* Of all jobs that wait one in three is asked about. */
static void look(struct scene *c)
{
    bool quiet = scene_is_quiet(c) && sched_next_time(c->sched) > c->now;
    for (int i = 0; i < c->jobs && quiet; i++)
        if (waits(c, &c->job[i]) && random_between(&questions, 1, 3) == 1)
            check_one(c, &c->job[i]);
}

static int scenes(void)
{
    const char *n = getenv("SCENES");
    return n ? atoi(n) : SCENES;
}

static uint64_t seed_of(int i)
{
    const char *from = getenv("SCENE_SEED");
    return (from ? (uint64_t)strtoull(from, NULL, 10) : 1u) + (uint64_t)i;
}

static void test_as_in_a_pass(void **state)
{
    (void)state;
    memset(&seen, 0, sizeof(seen));
    for (int i = 0; i < scenes(); i++) {
        questions.state = seed_of(i) + 5000;
        scene_play(&first, &(struct scene_options){
                               .seed = seed_of(i), .look = look, .apart = seed_of(i) % 2 == 0});
        strbuf_clear(&first.log);
    }
    print_message("%" PRIu64 " asked, %" PRIu64 " would start: %" PRIu64
                  " for a shorter time, %" PRIu64 " with less; %" PRIu64 " had a promise, %" PRIu64
                  " were over a limit; %" PRIu64 " would and are not said to, %" PRIu64
                  " beside one that takes its turn; %" PRIu64
                  " times others are preempted for one\n",
                  seen.asked, seen.would, seen.shorter, seen.fewer, seen.reserved, seen.limited,
                  seen.missed, seen.beside, seen.preempted);
    if (scenes() < SCENES) /* of fewer they may be any share */
        return;
    assert_true(seen.missed * 20 < seen.would);
    assert_true(seen.beside * 20 < seen.would);
    assert_true(seen.preempted * 100 < seen.would);
}

/* ---- It changes nothing ---- */

static void look_only(struct scene *c)
{
    struct less less;
    char *before = state_of(c);
    for (int i = 0; i < c->jobs; i++)
        if (waits(c, &c->job[i])) {
            draw_less(&c->job[i], &less);
            ask(c, &c->job[i], &less);
            SCENE_CHECK(c, sched_check(c->sched));
        }
    char *after = state_of(c);
    assert_string_equal(before, after);
    free(before);
    free(after);
}

/* Both scenes are the same. */
static void compare_logs(void)
{
    const char *x = strbuf_text(&first.log), *y = strbuf_text(&second.log);
    size_t at = 0, line = 0;
    if (strcmp(x, y) == 0)
        return;
    if (getenv("SCENE_LOG"))
        fprintf(stderr, "%s\n-----\n%s\n", x, y);
    for (; x[at] == y[at]; at++)
        line = x[at] == '\n' ? at + 1 : line;
    fail_msg("seed %" PRIu64 ", %s: with questions \"%.*s\" became \"%.*s\"", second.options.seed,
             second.policy, (int)strcspn(x + line, "\n"), x + line, (int)strcspn(y + line, "\n"),
             y + line);
}

static void play_with_questions(uint64_t seed)
{
    static const char *const policies[] = {NULL, "first", "locality"};
    questions.state = seed + 5000;
    struct scene_options options = {
        .seed = seed, .policy = policies[seed % 3], .apart = seed % 2 == 0};
    scene_play(&first, &options);
    options.look = look_only;
    scene_play(&second, &options);
    compare_logs();
    strbuf_clear(&first.log);
    strbuf_clear(&second.log);
}

static void test_nothing_changes(void **state)
{
    (void)state;
    for (int i = 0; i < scenes(); i++)
        play_with_questions(seed_of(i));
    play_with_questions(8220190); /* a limit promised a job the present */
}

/* ---- The largest ---- */

static int make_duration(void *context, int64_t n, struct sched_instead *instead)
{
    (void)context;
    instead->duration = n;
    return 0;
}

/* Whether limits measure what a job gets: for a shorter time it may get something else, and be over one. */
static bool is_measured(const struct scene *c, const struct scene_job *j)
{
    const struct sched_queue_config *q = &c->config.queue[j->queue];
    const struct sched_queue_config *lane = &c->config.queue[scene_lane(c, j->queue)];
    return q->limits.n_job + q->limits.n_user + q->limits.n_queue + q->n_exceptions +
               lane->limits.n_queue >
           0;
}

static void look_for_longest(struct scene *c)
{
    berth_error_t err = {""};
    for (int i = 0; i < c->jobs; i++) {
        const struct scene_job *j = &c->job[i];
        if (!waits(c, j))
            continue;
        struct sched_question question = {.make = make_duration, .least = 1, .most = j->duration};
        if (sched_what_if(c->sched, c->now, j->handle, &question, 1, &err) < 0)
            scene_fail(c, err.text, __FILE__, __LINE__);
        for (int64_t duration = 1; duration <= j->duration; duration++) {
            struct less less = {.duration = duration};
            bool would = ask(c, j, &less);
            if (is_measured(c, j) && duration != question.found)
                continue;
            if (would != (duration <= question.found))
                fail_msg("seed %" PRIu64 ", time %" PRId64 ": %s.%u: %" PRId64
                         " found, but for %" PRId64 " it would%s",
                         c->options.seed, c->now, j->id, j->member, question.found, duration,
                         would ? "" : " not");
        }
    }
}

static void test_the_longest(void **state)
{
    (void)state;
    for (int i = 0; i < scenes() / 3; i++) {
        questions.state = seed_of(i) + 5000;
        scene_play(&first, &(struct scene_options){.seed = seed_of(i), .look = look_for_longest});
        strbuf_clear(&first.log);
    }
}

/* ---- Many promises ---- */

static match_t *machine(void)
{
    return machine_of("node(3 core)", &(match_options_t){.policy = "low"});
}

static sched_job_t submit_as(sched_t *s, const char *user, int cores, int64_t duration,
                             int64_t priority)
{
    char text[300];
    static uint64_t tag;
    snprintf(
        text, sizeof(text),
        "{version: 9999, resources: [{type: slot, count: %d, label: s, with: [{type: core, "
        "count: 1}]}], tasks: [{command: [a], slot: s, count: {per_slot: 1}}], attributes: {}}",
        cores);
    return sched_submit(s, 0,
                        &(struct sched_request){.jobspec = text,
                                                .jobspec_length = strlen(text),
                                                .user = user,
                                                .duration = duration,
                                                .priority = priority,
                                                .tag = ++tag});
}

static sched_job_t submit(sched_t *s, int cores, int64_t duration, int64_t priority)
{
    return submit_as(s, NULL, cores, duration, priority);
}

static char one[] = "{version: 9999, resources: [{type: slot, count: 1, label: s, with: "
                    "[{type: core, count: 1}]}], tasks: [{command: [a], slot: s, count: "
                    "{per_slot: 1}}], attributes: {}}";

static int make_core(void *context, int64_t n, struct sched_instead *instead)
{
    instead->jobspec = context;
    instead->jobspec_length = strlen(context);
    instead->duration = n;
    return 0;
}

/* For how long would a job start that has one core, of which n jobs behind it are promised the use, two at
 * a time for ten ticks each? It may have it for 20,000 ticks, as it goes before them all.
 */
static int64_t longest_before(int n, int64_t holders)
{
    const struct sched_queue_config queue = {.name = "q", .policy = "conservative"};
    const struct sched_config config = {
        .second = 1, .queues = &queue, .n_queues = 1, .what_if_holders = holders};
    const struct sched_decision *d;
    size_t decided;
    match_t *m = machine();
    sched_t *s = sched_create(m, &config, NULL);
    assert_non_null(s);
    submit(s, 1, 100000, 2);
    sched_job_t job = submit(s, 3, 20000, 1), ends = submit(s, 1, 10, 0);
    for (int i = 1; i < n; i++)
        submit(s, 1, 10, 0);
    assert_int_equal(sched_pass(s, 0, false, &d, &decided), 0);
    assert_int_equal(sched_state(s, job), SCHED_RESERVED);
    assert_int_equal(sched_finish(s, 5, ends, true), 0);
    struct sched_question question = {.make = make_core, .context = one, .least = 1, .most = 20000};
    assert_int_equal(sched_what_if(s, 5, job, &question, 1, NULL), 0);
    assert_true(sched_check(s));
    sched_destroy(s);
    match_destroy(m);
    return question.found;
}

static void test_many_promises(void **state)
{
    (void)state;
    assert_int_equal(longest_before(900, 0), 20000);
    /* Of twice 1,024 and more only those of the first quarter of its time are thought of. */
    int64_t found = longest_before(2500, 0);
    assert_true(found >= 5000 && found < 20000);
    /* The configuration may have another number of them. */
    assert_int_equal(longest_before(2500, 2500), 20000);
    assert_int_equal(longest_before(60, 60), 20000);
    found = longest_before(60, 30);
    assert_true(found > 0 && found < 20000);
}

/* Two jobs before it are blocked, each by its user's limit, which has promised another one a time: whether it is known that they don't go on, and
 * it would start.
 */
static bool is_known_to_start(int64_t tries)
{
    const struct sched_limit limit = {.what = "running", .most = 1};
    const struct sched_queue_config queue = {
        .name = "q", .policy = "easy", .limits = {.user = &limit, .n_user = 1}};
    const struct sched_config config = {
        .second = 1, .queues = &queue, .n_queues = 1, .what_if_tries = tries};
    const struct sched_decision *d;
    size_t decided;
    match_t *m = machine();
    sched_t *s = sched_create(m, &config, NULL);
    assert_non_null(s);
    for (int i = 0; i < 6; i++)
        submit_as(s, i % 2 ? "u1" : "u2", 1, 100, 0);
    sched_job_t job = submit_as(s, "u3", 3, 100, 0);
    assert_int_equal(sched_pass(s, 0, false, &d, &decided), 0);
    assert_int_equal(sched_state(s, job), SCHED_RESERVED);
    struct sched_question question = {.make = make_core, .context = one, .least = 1, .most = 100};
    assert_int_equal(sched_what_if(s, 0, job, &question, 1, NULL), 0);
    sched_destroy(s);
    match_destroy(m);
    return question.found > 0;
}

static void test_many_before(void **state)
{
    (void)state;
    assert_true(is_known_to_start(0));
    assert_true(is_known_to_start(2));
    assert_false(is_known_to_start(1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_in_a_pass), cmocka_unit_test(test_nothing_changes),
        cmocka_unit_test(test_the_longest),  cmocka_unit_test(test_many_promises),
        cmocka_unit_test(test_many_before),
    };
    const char *only = getenv("SCENE_TEST");
    cmocka_set_test_filter(only ? only : "*");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
