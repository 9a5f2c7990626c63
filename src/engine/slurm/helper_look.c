/* What has become of directed runs, by their folders and by what Slurm says, and what berth-slurm does then. */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/errtext.h"
#include "engine/local/messages.h"
#include "engine/slurm/helper.h"
#include "engine/slurm/judge.h"
#include "engine/slurm/talk.h"

#define LOOK_LEAST 100  /* ms between two looks into a folder */
#define LOOK_MOST  2000 /* the same, of a run that has begun long ago */

/* ---- Events ---- */

static void tell_event(struct helper *h, const struct held_run *run, struct engine_event *e)
{
    struct strbuf b = {0};
    size_t begun = wire_begin(&h->out);
    e->key = run->key;
    message_put_event_content(&b, e);
    wire_put_u8(&h->out, TALK_EVENT);
    strbuf_put(&h->out, strbuf_text(&b), b.len);
    wire_end(&h->out, begun);
    strbuf_clear(&b);
}

static void tell_end(struct helper *h, struct held_run *run, enum engine_what what, int signal,
                     const char *format, const char *detail)
{
    char text[300];
    struct engine_event e = {.what = what,
                             .at = helper_wall(),
                             .exit_signal = signal,
                             .peak_memory = -1,
                             .cpu_time = -1};
    snprintf(text, sizeof(text), format, detail);
    e.text = format[0] ? text : NULL;
    tell_event(h, run, &e);
    run->told_end = true;
}

/* What one of its nodes has said. What can't be read is as good as nothing. */
static int read_event(const struct helper *h, const struct held_run *run, const char *name,
                      const char *node, struct strbuf *bytes, struct engine_event *e)
{
    strbuf_reset(bytes);
    if (folder_get(h->runs, run->key, name, node, bytes))
        return -1;
    struct wire w = {.at = bytes->data, .left = bytes->len};
    return message_event_content(&w, e);
}

static void tell_started(struct helper *h, struct held_run *run)
{
    struct strbuf bytes = {0};
    struct engine_event e, first = {0};
    int64_t at = 0;
    bool any = false;
    for (size_t i = 0; i < run->ask.n_places; i++) {
        if (read_event(h, run, "own/started.", run->ask.places[i].node, &bytes, &e))
            continue;
        if (!any)
            first = e;
        any = true;
        at = e.at > at ? e.at : at;
    }
    first.what = ENGINE_STARTED;
    first.at = at;
    first.text = NULL;
    if (any)
        tell_event(h, run, &first);
    run->told_started = true;
    strbuf_clear(&bytes);
}

/* The worse of two ends: what is not known before what failed, and that before what has ended. */
static int badness(enum engine_what what)
{
    return what == ENGINE_LOST ? 3 : what == ENGINE_FAILED ? 2 : what == ENGINE_ENDED ? 0 : 1;
}

static void add_end(struct engine_event *sum, const struct engine_event *e, char text[300])
{
    if (badness(e->what) > badness(sum->what))
        sum->what = e->what;
    if (e->text && (!sum->text || badness(e->what) == badness(sum->what))) {
        snprintf(text, 300, "%s", e->text);
        sum->text = text;
    }
    sum->at = e->at > sum->at ? e->at : sum->at;
    sum->exit_status = e->exit_status > sum->exit_status ? e->exit_status : sum->exit_status;
    sum->exit_signal = sum->exit_signal ? sum->exit_signal : e->exit_signal;
    sum->peak_memory = e->peak_memory > sum->peak_memory ? e->peak_memory : sum->peak_memory;
    if (e->cpu_time >= 0)
        sum->cpu_time = (sum->cpu_time < 0 ? 0 : sum->cpu_time) + e->cpu_time;
}

/* All that have begun have ended: one end is made of theirs. */
static void tell_ended(struct helper *h, struct held_run *run)
{
    struct strbuf bytes = {0};
    struct engine_event e, sum = {.what = ENGINE_ENDED, .peak_memory = -1, .cpu_time = -1};
    char text[300];
    for (size_t i = 0; i < run->ask.n_places; i++) {
        if (run->heard[i] != HEARD_ENDED)
            continue;
        if (read_event(h, run, "own/ended.", run->ask.places[i].node, &bytes, &e))
            e = (struct engine_event){.what = ENGINE_LOST,
                                      .text = "lost: what it said at its end cannot be read",
                                      .at = helper_wall(),
                                      .peak_memory = -1,
                                      .cpu_time = -1};
        add_end(&sum, &e, text);
    }
    tell_event(h, run, &sum);
    run->told_end = true;
    helper_read_cancel(h, run);
    if (run->cancel && (sum.exit_signal || sum.exit_status))
        helper_cancel(h, run->job); /* berth-run waits for that */
    strbuf_clear(&bytes);
}

/* ---- Looking ---- */

struct found {
    size_t started, ended;
    bool broken;
};

/* What its nodes have said since the last look. */
static struct found listen_to_nodes(struct helper *h, struct held_run *run)
{
    struct found found = {0};
    struct strbuf bytes = {0};
    struct engine_event e;
    for (size_t i = 0; i < run->ask.n_places; i++) {
        const char *node = run->ask.places[i].node;
        if (run->heard[i] != HEARD_ENDED && folder_has(h->runs, run->key, "own/ended.", node))
            run->heard[i] = HEARD_ENDED;
        if (run->heard[i] == HEARD_NOTHING && folder_has(h->runs, run->key, "own/started.", node))
            run->heard[i] = HEARD_STARTED;
        found.started += run->heard[i] >= HEARD_STARTED;
        found.ended += run->heard[i] == HEARD_ENDED;
        if (run->heard[i] == HEARD_ENDED && run->ask.n_places > 1)
            found.broken = found.broken || read_event(h, run, "own/ended.", node, &bytes, &e) ||
                           e.what != ENGINE_ENDED;
    }
    strbuf_clear(&bytes);
    return found;
}

/* The others have not begun where the first one could not. */
static bool all_have_ended(const struct held_run *run, const struct found *found)
{
    return found->ended == run->ask.n_places ||
           (found->ended > 0 && found->ended == found->started && found->broken &&
            run->heard[0] == HEARD_ENDED);
}

/* ---- Doing ---- */

static void submit_held(struct helper *h, struct held_run *run)
{
    berth_error_t err = {""};
    if (!h->answers || !h->chosen[0])
        return;
    run->waits = h->n_going == SUBMIT_MOST;
    if (run->waits)
        return;
    if (folder_put(h->runs, run->key, "asked", NULL, "", 0)) {
        helper_answered(h, false, "the folder of a run cannot be written");
        return;
    }
    run->asked_at = helper_now();
    if (helper_submit(h, run, &err))
        helper_submitted(h, run, "", errno, err.text);
}

/* Whether two runs ask for the same, as members of an array do, but for their nodes. */
static bool is_alike(const struct directed *a, const struct directed *b)
{
    return strcmp(a->label, b->label) == 0 && a->n_places == b->n_places && a->tasks == b->tasks &&
           a->cores == b->cores && a->gpus == b->gpus && a->memory == b->memory &&
           a->limit == b->limit && a->uid == b->uid && a->gid == b->gid;
}

static void decline(struct helper *h, struct held_run *run, const char *why)
{
    if (folder_take(h->runs, run->key) == 0)
        tell_end(h, run, ENGINE_DECLINED, 0, "Slurm: %s", why);
}

/* Slurm has refused a run. Members of the same array that are still to be submitted it would refuse as well, on the same
 * nodes, and anywhere if it has given the same reason on others.
 */
static void decline_alike(struct helper *h, struct held_run *run, const char *why)
{
    const char *node = run->ask.places[0].node;
    struct refusal *last = &h->refusal;
    bool anywhere = strcmp(last->label, run->ask.label) == 0 && strcmp(last->why, why) == 0 &&
                    strcmp(last->node, node) != 0;
    decline(h, run, why);
    for (size_t i = 0; i < h->n; i++) {
        struct held_run *other = h->v[i];
        if (!other->asked_at && !other->told_end && is_alike(&run->ask, &other->ask) &&
            (anywhere || strcmp(other->ask.places[0].node, node) == 0))
            decline(h, other, why);
    }
    snprintf(last->label, sizeof(last->label), "%s", run->ask.label);
    snprintf(last->node, sizeof(last->node), "%s", node);
    snprintf(last->why, sizeof(last->why), "%s", why);
}

/* Another one may be submitted. */
static void wake_next(struct helper *h)
{
    size_t i = 0;
    while (i < h->n && (!h->v[i]->waits || h->v[i]->told_end))
        i++;
    if (i == h->n)
        return;
    h->v[i]->waits = false;
    h->v[i]->look_at = 0;
}

void helper_submitted(struct helper *h, struct held_run *run, const char *job, int failure,
                      const char *why)
{
    run->is_submitted = false;
    run->asked_at = helper_now(); /* what Slurm has said of it before counts for nothing */
    run->missed = false;
    run->look_at = 0;
    if (!failure) {
        snprintf(run->job, sizeof(run->job), "%.20s", job);
        folder_put(h->runs, run->key, "job", NULL, run->job, strlen(run->job));
        h->queue_at = 0;
    } else if (failure == EINVAL) {
        decline_alike(h, run, why);
    } else if (failure == ETIMEDOUT) {
        helper_answered(h, false, why); /* it is looked for before anything else */
    } else {
        run->asked_at = 0; /* nobody has heard it */
        folder_forget_asked(h->runs, run->key);
        helper_answered(h, false, why);
    }
    wake_next(h);
}

/* From here on it will never run, whatever Slurm does with its job; unless it was faster. */
static void take_from_slurm(struct helper *h, struct held_run *run, enum judgement is)
{
    char word[100];
    bool again = folder_taker(h->runs, run->key) == TAKEN_BY_SERVER;
    if (!again && folder_take(h->runs, run->key)) {
        run->look_at = 0;
        return;
    }
    helper_cancel(h, run->job);
    snprintf(word, sizeof(word), "%s%s%s", *run->state ? run->state : "it has no such job",
             *run->why && strcmp(run->why, "None") != 0 ? ", " : "",
             strcmp(run->why, "None") != 0 ? run->why : "");
    if (is == JUDGE_TAKE_KILLED) {
        tell_end(h, run, ENGINE_ENDED, run->cancel ? run->cancel : SIGKILL, "", "");
    } else if (is == JUDGE_TAKE_FAILED) {
        tell_end(h, run, ENGINE_FAILED, 0, "it was cancelled at Slurm%s", "");
    } else if (is == JUDGE_TAKE_OCCUPIED) {
        helper_hold_nodes(h, run);
        helper_ask_nodes(h);
        tell_end(h, run, ENGINE_DECLINED, 0, "Slurm has not started it at once: %s", word);
    } else {
        tell_end(h, run, ENGINE_DECLINED, 0, "Slurm has not started it: %s", word);
    }
}

static void follow_judgement(struct helper *h, struct held_run *run, enum judgement is)
{
    switch (is) {
    case JUDGE_WAIT:
        break;
    case JUDGE_SUBMIT:
        submit_held(h, run);
        break;
    case JUDGE_ENDED:
        tell_ended(h, run);
        break;
    case JUDGE_LOST:
        tell_end(h, run, ENGINE_LOST, 0, "lost: at Slurm %s",
                 *run->state  ? run->state
                 : h->answers ? "there is no such job any more"
                              : "nobody answers");
        break;
    case JUDGE_STOP:
        if (!run->stopped && folder_signal(h->runs, run->key, SIGKILL, true) == 0) {
            helper_nudge(h, run);
            run->stopped = true;
        }
        break;
    default:
        take_from_slurm(h, run, is);
    }
}

void helper_look(struct helper *h, struct held_run *run)
{
    struct squeue_job job = {.job = run->job, .state = run->state, .reason = run->why};
    struct found found = listen_to_nodes(h, run);
    struct judge_seen seen = {.taker = folder_taker(h->runs, run->key),
                              .ended = all_have_ended(run, &found),
                              .broken = found.broken,
                              .asked = run->asked_at > 0,
                              .answers = h->answers && h->answered_at >= run->asked_at,
                              .job = run->state[0] ? &job : NULL,
                              .since = run->since,
                              .given_up = run->given_up,
                              .is_lost = run->is_lost,
                              .cancel = run->cancel,
                              .now = h->answered_at};
    int64_t now = helper_ms(), age;
    if (run->given_up)
        seen.nodes_are_back = helper_nodes_are_back(h, run);
    if (!run->told_started && found.started == run->ask.n_places &&
        folder_has(h->runs, run->key, "own/started.", run->ask.places[0].node))
        tell_started(h, run);
    follow_judgement(h, run, directed_judge(&seen));
    age = (now - run->begun_at) / 20;
    run->look_at = run->waits ? INT64_MAX
                              : now + (age < LOOK_LEAST  ? LOOK_LEAST
                                       : age < LOOK_MOST ? age
                                                         : LOOK_MOST);
}
