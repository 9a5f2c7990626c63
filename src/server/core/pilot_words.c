#include "server/core/pilot_words.h"

#include <stdlib.h>
#include <string.h>

#include "pilot/words.h"
#include "report/explain.h"
#include "server/core/entry.h"

/* Of what it asks for too much, and how much a node has of that. */
static const struct {
    const char *before, *behind;
} never[] = {
    [PILOT_TOO_MANY_CORES] = {"it asks for more cores on a node than the ", " that a node has"},
    [PILOT_TOO_MANY_GPUS] = {"it asks for more GPUs on a node than the ", " that a node has"},
    [PILOT_TOO_MUCH_MEMORY] = {"it asks for more memory on a node than the ",
                               " MiB that a node has"},
    [PILOT_TOO_MANY_NODES] = {"it asks for more nodes than the ", " that there may be"},
    [PILOT_TOO_LONG] = {"it may run for longer than the ", " that a pilot has for jobs"},
    [PILOT_NO_TIME] = {"nobody knows how long it takes: give it a time limit", ""},
    [PILOT_ELSEWHERE] = {"it has a constraint on resources", ""},
};

static void put_never(struct strbuf *out, const struct auto_rule *rule, enum pilot_why why)
{
    const struct pilot_rule *r = &rule->rule;
    strbuf_puts(out, "No pilot can run it: ");
    strbuf_puts(out, never[why].before);
    if (why == PILOT_TOO_LONG)
        explain_span(out, r->time - PILOT_MARGIN * SERVER_SECOND);
    else if (why == PILOT_TOO_MANY_NODES)
        strbuf_put_int(out, r->max_nodes);
    else if (why <= PILOT_TOO_MUCH_MEMORY)
        strbuf_put_int(out, why == PILOT_TOO_MUCH_MEMORY ? r->node[PILOT_MEMORY] >> 20
                                                         : r->node[(int)why]);
    strbuf_puts(out, never[why].behind);
    strbuf_putc(out, '.');
}

/* "Priority", or the state while that says nothing. */
static const char *slurm_says(const json_t *pilot)
{
    const char *why = entry_text(pilot, "reason");
    return *why && strcmp(why, "None") != 0 ? why : entry_text(pilot, "slurm");
}

/* That Slurm has been asked for it, what Slurm says, and when it expects to start it. */
static void put_asked_of_slurm(struct strbuf *out, const server_t *s, const json_t *pilot)
{
    int64_t start = json_integer_value(json_object_get(pilot, "start"));
    strbuf_puts(out, "Slurm has been asked for");
    if (*slurm_says(pilot)) {
        strbuf_puts(out, " and does not start yet: ");
        strbuf_puts(out, slurm_says(pilot));
    }
    if (start > s->clock.wall) {
        strbuf_puts(out, "; Slurm expects it to start in ");
        explain_span(out, start - s->clock.wall);
    }
    strbuf_putc(out, '.');
}

static void put_queued(struct strbuf *out, const server_t *s, int64_t number)
{
    strbuf_puts(out, "It waits for pilot ");
    strbuf_put_int(out, number);
    strbuf_puts(out, ", which ");
    put_asked_of_slurm(out, s, pilot_find(s, number));
}

void pilot_words_asked(struct strbuf *out, const server_t *s)
{
    size_t i;
    const json_t *pilot;
    json_array_foreach (pilots_list(s), i, pilot) {
        int64_t number = entry_number(pilot, "pilot");
        bool some = pilot_has_nodes(s, number);
        if (json_is_true(json_object_get(pilot, "ending")) || (some && !pilot_counts(s, number)))
            continue;
        strbuf_puts(out, "What it waits for may come with pilot ");
        strbuf_put_int(out, number);
        strbuf_puts(out, some ? ", of which not all nodes have come yet." : ", which ");
        if (!some)
            put_asked_of_slurm(out, s, pilot);
        return;
    }
}

static void put_lacking(struct strbuf *out, const server_t *s, const struct auto_look *look)
{
    const struct pilot_ask *ask = look->plan.n_asks > 0 ? &look->plan.ask[0] : NULL;
    strbuf_puts(out, "A pilot is to be asked for");
    if (ask && ask->when == PILOT_FAILED) {
        strbuf_puts(out, " in ");
        explain_span(out, ask->at - s->clock.wall);
        strbuf_puts(out, "; the last time: ");
        strbuf_puts(out, entry_text(auto_state(s), "refused"));
    } else if (ask && ask->when == PILOT_BACKLOG) {
        strbuf_puts(out, " as soon as one that waits has started");
    }
    strbuf_putc(out, '.');
}

void pilot_words(struct strbuf *out, const server_t *s, const struct auto_rule *rule,
                 const struct auto_look *look, const struct pilot_verdict *v)
{
    switch (v->fate) {
    case PILOT_SOON:
        return;
    case PILOT_QUEUED:
        put_queued(out, s, v->pilot);
        return;
    case PILOT_LACKING:
        put_lacking(out, s, look);
        return;
    case PILOT_BOUND:
        strbuf_puts(out, v->bound == PILOT_BY_NODES
                             ? "No more pilots are asked for: as many nodes as may be are there "
                               "or asked for."
                             : "No more pilots are asked for: their budget of hours is used up.");
        return;
    case PILOT_NEVER:
        put_never(out, rule, v->why);
        return;
    }
}

/* For a column: "pilot 3: Priority", "no pilot: its time", of a member that waits; "": nothing. */
static void pilot_short_words(struct strbuf *out, const server_t *s, const struct pilot_verdict *v)
{
    const json_t *pilot = v->fate == PILOT_QUEUED ? pilot_find(s, v->pilot) : NULL;
    pilot_put_fate(out, v);
    if (pilot && *slurm_says(pilot)) {
        strbuf_puts(out, ": ");
        strbuf_puts(out, slurm_says(pilot));
    }
}

/* ---- Kept for listings ---- */

struct auto_kept {
    int64_t id, member; /* -1: those that wait in its entry */
    struct pilot_verdict verdict;
};

void auto_keep(server_t *s, const struct auto_look *look)
{
    struct auto_kept *v = reallocarray(NULL, look->in.n_wants + 1, sizeof(*v));
    free(s->pilots.kept);
    s->pilots.kept = v;
    s->pilots.n_kept = v ? look->in.n_wants : 0;
    for (size_t i = 0; i < s->pilots.n_kept; i++) {
        const struct auto_of *of = &look->of[i];
        bool alone = of->alone && of->job->members > 1;
        v[i] = (struct auto_kept){of->job->id, alone ? (int64_t)of->member : -1,
                                  look->plan.verdict[i]};
    }
}

/* The first of a job. */
static size_t kept_index(const server_t *s, int64_t id)
{
    size_t low = 0, high = s->pilots.n_kept;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->pilots.kept[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool auto_reason(const server_t *s, int64_t id, int64_t member, char text[SCHED_REASON_TEXT])
{
    struct strbuf words = {0};
    const struct auto_kept *found = NULL;
    for (size_t i = kept_index(s, id); i < s->pilots.n_kept && s->pilots.kept[i].id == id; i++)
        if (s->pilots.kept[i].member == member || (s->pilots.kept[i].member < 0 && !found))
            found = &s->pilots.kept[i];
    if (found)
        pilot_short_words(&words, s, &found->verdict);
    bool any = words.len > 0 && !words.failed;
    if (any)
        snprintf(text, SCHED_REASON_TEXT, "%s", strbuf_text(&words));
    strbuf_clear(&words);
    return any;
}
