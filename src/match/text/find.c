/* Finding vertices with an expression. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "match/inner.h"
#include "match/text/expr.h"

/* What is true of a vertex because it is true of one above it. */
struct inherited {
    bool down, allocated, reserved;
};

struct finding {
    struct match *m;
    const struct expr *expr;
    bool agfilter;
    const struct job *job; /* the last job in the expression, with its holds uncovered; or NULL */
    bool named;            /* it names a job at all */
    uint64_t jobid;
    int64_t now;
    int64_t *hidden
        [2]; /* by vertex and number of pruning type: units that covered holds count, now and at 0 */
    struct job **known; /* jobs that were looked up, with their holds uncovered */
    uint32_t n_known;
    uint32_t v;             /* at hand */
    struct inherited state; /* of it */
    bool failed;
};

static const struct job *uncovered(struct finding *f, uint64_t id)
{
    const struct job *job;

    for (uint32_t i = 0; i < f->n_known; i++)
        if ((uint64_t)f->known[i]->id == id)
            return f->known[i];
    job = jobs_find(&f->m->jobs, (int64_t)id);
    if (!job)
        return NULL;
    struct job **known = reallocarray(f->known, f->n_known + 1, sizeof(*known));
    if (!known) {
        f->failed = true;
        return NULL;
    }
    f->known = known;
    known[f->n_known] = match_recount(f->m, job, true);
    if (!known[f->n_known]) {
        f->failed = true;
        return NULL;
    }
    return known[f->n_known++];
}

/* The job's hold of the vertex, or NULL. */
static const struct hold *hold_of(const struct job *job, uint32_t v)
{
    for (uint32_t i = 0; job && i < job->n; i++)
        if (job->hold[i].vertex == v)
            return &job->hold[i];
    return NULL;
}

static bool is_in_names(struct finding *f, uint32_t v, const struct hostlist *names)
{
    struct strbuf *text = &f->m->text;

    strbuf_reset(text);
    graph_name(f->m->g, v, text);
    f->failed |= text->failed;
    return !text->failed && hostlist_find(names, strbuf_text(text), text->len) >= 0;
}

static bool test(void *ctx, const struct expr_predicate *p)
{
    struct finding *f = ctx;
    const struct match *m = f->m;
    const struct job *job;
    const struct hold *h;

    switch (p->key) {
    case EXPR_STATUS:
        return f->state.down == p->yes;
    case EXPR_SCHED_NOW:
        return f->state.allocated == p->yes;
    case EXPR_SCHED_FUTURE:
        return f->state.reserved == p->yes;
    case EXPR_NAMES:
        return is_in_names(f, f->v, &p->names);
    case EXPR_PROPERTY:
        return propset_value(&m->g->props, m->g->v[f->v].props, p->property) != NULL;
    case EXPR_AGFILTER:
        return true;
    default:
        break;
    }
    job = uncovered(f, p->jobid);
    h = hold_of(job, f->v);
    if (!h)
        return false;
    if (p->key == EXPR_JOBID_TAG)
        return true;
    if (p->key == EXPR_JOBID_SPAN)
        return h->n_counts > 0;
    return (h->flags & (HOLD_EXCLUSIVE | HOLD_UNITS)) &&
           job->reserved == (p->key == EXPR_JOBID_RESERVED);
}

/* Units of a type that are used below a vertex. */
static int64_t used(const struct finding *f, uint32_t v, uint32_t place, uint32_t number)
{
    const struct match *m = f->m;
    const struct state *s = m->state[v];
    int64_t units = 0;

    if (f->named) {
        const struct hold *h = hold_of(f->job, v);
        return h && place < h->n_counts ? f->job->counts[h->counts + place] : 0;
    }
    for (int when = 0; when < 2 && units == 0; when++) {
        int64_t at = when == 0 ? f->now : 0;
        units =
            state_count(s, place, at, at + 1) + f->hidden[when][(size_t)v * m->prune.n + number];
    }
    return units;
}

struct usage {
    const char *type;
    int64_t used, total;
};

static int by_type(const void *a, const void *b)
{
    return strcmp(((const struct usage *)a)->type, ((const struct usage *)b)->type);
}

/* The counts of v's filter, as members of a JSON object; NULL if memory runs out. */
static const char *usage_of(struct finding *f, uint32_t v)
{
    struct match *m = f->m;
    const struct prune_list *list = prune_of(&m->prune, &m->topo, v);
    struct usage *u = arena_alloc(&m->arena, (list->n + 1) * sizeof(*u));
    struct strbuf text = {0};

    if (!u)
        return NULL;
    for (uint32_t i = 0; i < list->n; i++)
        u[i] = (struct usage){intern_text(&m->g->types, m->prune.type[list->number[i]]),
                              used(f, v, i, list->number[i]),
                              prune_total(&m->prune, &m->topo, v, list->number[i])};
    if (list->n > 1)
        qsort(u, list->n, sizeof(*u), by_type);
    for (uint32_t i = 0; i < list->n; i++) {
        if (i > 0)
            strbuf_puts(&text, ", ");
        strbuf_put_json(&text, u[i].type, strlen(u[i].type));
        strbuf_puts(&text, ": \"used:");
        strbuf_put_int(&text, u[i].used);
        strbuf_puts(&text, ", total:");
        strbuf_put_int(&text, u[i].total);
        strbuf_putc(&text, '"');
    }
    char *copy = text.failed ? NULL : arena_alloc(&m->emitted_text, text.len + 1);
    if (copy)
        memcpy(copy, strbuf_text(&text), text.len + 1);
    strbuf_clear(&text);
    return copy;
}

/* Find v and what is below it. Returns how many vertices were found. */
static uint32_t find_below(struct finding *f, uint32_t v, uint32_t parent, uint16_t depth,
                           struct inherited above)
{
    const struct match *m = f->m;
    const struct state *s = m->state[v];
    struct inherited here = {above.down || m->g->v[v].down,
                             above.allocated || (s && s->n_allocated > 0),
                             above.reserved || (s && s->n_reserved > 0)};
    /* all that is in it may be held, though it is shared */
    struct inherited below = {here.down, here.allocated || state_below(s)->n_filled_allocated > 0,
                              here.reserved || state_below(s)->n_filled_reserved > 0};
    const uint32_t *children;
    uint32_t n = topo_children(&m->topo, v, &children), found = 0;

    for (uint32_t i = 0; i < n && !f->failed; i++)
        found += find_below(f, children[i], v, (uint16_t)(depth + 1), below);
    f->v = v;
    f->state = here;
    if (f->failed || (!expr_eval(f->expr, test, f) && found == 0))
        return 0;
    struct emitted item = {.vertex = v,
                           .depth = depth,
                           .flags = EMIT_EXCLUSIVE,
                           .parent = parent,
                           .needs = m->g->v[v].size};
    if (f->agfilter) {
        if (prune_of(&m->prune, &m->topo, v)->n == 0 || (f->named && !hold_of(f->job, v)))
            return 0;
        item.usage = usage_of(f, v);
        f->failed |= !item.usage;
    }
    if (f->failed || match_emit(f->m, &item) < 0) {
        f->failed = true;
        return 0;
    }
    return found + 1;
}

/* Add up what covered holds would count, since no calendar has it. */
static int count_hidden(struct finding *f)
{
    struct match *m = f->m;
    size_t size = (size_t)m->g->n * m->prune.n + 1;

    f->hidden[0] = calloc(size, sizeof(int64_t));
    f->hidden[1] = calloc(size, sizeof(int64_t));
    if (!f->hidden[0] || !f->hidden[1])
        return -1;
    for (uint32_t k = 0; k < m->jobs.slots; k++) {
        struct job *as_booked = m->jobs.slot[k] ? job_unfolded(m->jobs.slot[k]) : NULL;
        struct job *job = as_booked ? match_recount(m, as_booked, true) : NULL;
        if (m->jobs.slot[k] && !job) {
            job_destroy(as_booked);
            return -1;
        }
        for (uint32_t i = 0; job && i < job->n; i++) {
            const struct hold *h = &job->hold[i];
            const struct prune_list *list = prune_of(&m->prune, &m->topo, h->vertex);
            for (uint32_t t = 0; t < h->n_counts && as_booked->hold[i].n_counts == 0; t++)
                for (int when = 0; when < 2; when++) {
                    int64_t at = when == 0 ? f->now : 0;
                    if (at >= job->at && at < job->end)
                        f->hidden[when][(size_t)h->vertex * m->prune.n + list->number[t]] +=
                            job->counts[h->counts + t];
                }
        }
        job_destroy(job);
        job_destroy(as_booked);
    }
    return 0;
}

int match_find(match_t *m, const char *criteria, int64_t now, berth_error_t *err)
{
    struct expr *expr = expr_parse(criteria, err);
    struct finding f = {.m = m, .expr = expr, .now = now < 0 ? 0 : now};

    if (!expr)
        return -1;
    arena_release(&m->arena, (struct arena_mark){0});
    f.agfilter = expr_has_agfilter(expr);
    f.named = expr_jobid(expr, &f.jobid);
    if (f.named)
        f.job = uncovered(&f, f.jobid);
    if (match_emit_begin(m, 0, 0, NULL) < 0 || (f.agfilter && count_hidden(&f) < 0))
        f.failed = true;
    if (!f.failed)
        find_below(&f, m->topo.root, VERTEX_NONE, 1, (struct inherited){0});
    for (uint32_t i = 0; i < f.n_known; i++)
        job_destroy(f.known[i]);
    free(f.known);
    free(f.hidden[0]);
    free(f.hidden[1]);
    expr_destroy(expr);
    if (!f.failed)
        return 0;
    m->last.n = 0;
    return errtext_no_memory(err);
}
