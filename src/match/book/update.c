/* Recording that a job holds what a text says. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "base/idset.h"
#include "match/plan.h"
#include "match/walk/walk.h"
#include "resource/readers/reader.h"

static bool same_text(const struct graph *g, uint32_t number, const char *text)
{
    return strcmp(intern_text(&g->names, number), text) == 0;
}

/* True if the vertex has the name in the text, which is its basename and id by default. */
static bool has_its_name(const struct match *m, uint32_t v, const struct jgf_vertex *x)
{
    char digits[STRBUF_NUMBER_MAX + 2] = "";
    size_t n = strlen(x->basename);
    uint32_t name = m->g->v[v].name;

    if (x->name)
        return graph_is_named(m->g, v, x->name, strlen(x->name));
    if (!name) /* basename and id are those of the text */
        return true;
    if (x->id != -1)
        snprintf(digits, sizeof(digits), "%" PRId64, x->id);
    const char *text = intern_text(&m->g->names, name);
    return strncmp(text, x->basename, n) == 0 && strcmp(text + n, digits) == 0;
}

/* A vertex's path, in the dominant subsystem if it has one there. */
static const char *path_of(const struct match *m, const struct jgf_vertex *x)
{
    const char *subsystem = intern_text(&m->g->subsystems, m->topo.subsystem);

    for (size_t i = 0; i < x->n_paths; i++)
        if (strcmp(x->paths[i].subsystem, subsystem) == 0)
            return x->paths[i].path;
    return x->n_paths > 0 ? x->paths[0].path : NULL;
}

/* Of a divisible pool a text says how many units a job has. */
static bool has_its_size(const struct vertex *y, const struct jgf_vertex *x)
{
    return y->divisible ? x->size >= 1 && x->size <= y->size : x->size == y->size;
}

uint32_t match_find_jgf(struct match *m, const struct jgf_vertex *x, berth_error_t *err)
{
    const char *path = path_of(m, x);
    uint32_t *found, v = VERTEX_NONE;
    size_t n;

    if (!path) {
        errtext_set(err, EINVAL, "vertex \"%s\": expected a path", x->outer_id);
        return VERTEX_NONE;
    }
    if (graph_find_path(m->g, path, &found, &n) < 0) {
        errtext_no_memory(err);
        return VERTEX_NONE;
    }
    for (size_t i = 0; i < n; i++)
        if (m->g->v[found[i]].rank == x->rank)
            v = found[i];
    free(found);
    if (v == VERTEX_NONE) {
        errtext_set(err, EINVAL, "vertex \"%s\": there is no %s with rank %" PRId32, x->outer_id,
                    path, x->rank);
        return VERTEX_NONE;
    }
    const struct vertex *y = &m->g->v[v];
    if (strcmp(graph_type_name(m->g, v), x->type) != 0 ||
        !same_text(m->g, y->basename, x->basename) || !has_its_size(y, x) || y->id != x->id ||
        !has_its_name(m, v, x)) {
        errtext_set(err, EINVAL,
                    "vertex \"%s\": its type, basename, name, id or size is not that of %s",
                    x->outer_id, path);
        return VERTEX_NONE;
    }
    return v;
}

/* Whether so many units of a divisible pool are free for all of the time. */
static bool has_units(const struct walk *w, uint32_t v, int64_t needs)
{
    const struct profile *units = &state_below(w->m->state[v])->units;
    int64_t taken = units->n > 1 ? profile_max(units, w->at, w->end) : 0;

    return needs <= w->t->g->v[v].size - taken;
}

/* Check that what a text says is free then. What is above counts too. */
static int check_free(struct walk *w, uint32_t v, int64_t needs, berth_error_t *err)
{
    const struct topo *t = w->t;

    for (uint32_t x = v; x != VERTEX_NONE;
         x = x == t->root || !t->parent ? VERTEX_NONE : t->parent[x])
        if (match_load(w->m, x, w->at, w->end) >= STATE_EXCLUSIVE)
            return errtext_set(err, EINVAL, "%s%" PRId64 " of rank %" PRId32 " is not free then",
                               graph_basename(w->m->g, v), w->m->g->v[v].id, w->m->g->v[v].rank);
    if (w->m->g->v[v].divisible && !has_units(w, v, needs))
        return errtext_set(err, EINVAL,
                           "%s%" PRId64 " of rank %" PRId32 " has not that much free then",
                           graph_basename(w->m->g, v), w->m->g->v[v].id, w->m->g->v[v].rank);
    return 0;
}

static int mark_vertex(struct walk *w, uint32_t v, uint32_t source, int64_t needs, bool exclusive)
{
    return walk_mark(w, v, source, needs, exclusive, NULL) ? 0 : -1;
}

/* Mark everything below a vertex that is given whole. */
static int mark_below(struct walk *w, uint32_t v)
{
    const uint32_t *children;
    uint32_t n = topo_children(w->t, v, &children);

    for (uint32_t i = 0; i < n; i++)
        if (mark_vertex(w, children[i], v, w->t->g->v[children[i]].size, true) < 0 ||
            mark_below(w, children[i]) < 0)
            return -1;
    return 0;
}

static bool is_freed(const struct idset *freed, int32_t rank)
{
    return rank >= 0 && idset_has(freed, (uint32_t)rank);
}

static bool is_child(const struct walk *w, uint32_t v, uint32_t child)
{
    const uint32_t *children;
    uint32_t n = topo_children(w->t, v, &children);

    for (uint32_t i = 0; i < n && w->t->parent[child] != v; i++)
        if (children[i] == child)
            return true;
    return w->t->parent[child] == v;
}

static int mark_edges(struct walk *w, const struct jgf *jgf, const uint32_t *vertex, bool whole,
                      berth_error_t *err)
{
    for (size_t i = 0; i < jgf->n_edges; i++) {
        const struct jgf_vertex *from = &jgf->vertex[jgf->edge[i].source];
        const struct jgf_vertex *to = &jgf->vertex[jgf->edge[i].target];
        uint32_t source = vertex[jgf->edge[i].source], target = vertex[jgf->edge[i].target];
        if (source == VERTEX_NONE || target == VERTEX_NONE)
            continue;
        if (!is_child(w, source, target))
            return errtext_set(err, EINVAL, "graph.edges[%zu]: there is no such edge", i);
        if (source == w->t->root &&
            mark_vertex(w, source, VERTEX_NONE, from->size, from->exclusive) < 0)
            return -1;
        if (mark_vertex(w, target, source, to->size, to->exclusive) < 0)
            return -1;
    }
    for (size_t i = 0; i < jgf->n && whole; i++)
        if (vertex[i] != VERTEX_NONE && jgf->vertex[i].exclusive && mark_below(w, vertex[i]) < 0)
            return -1;
    return 0;
}

/* True if a text is about another subsystem than the one that is matched. */
static bool is_foreign(const struct match *m, const struct jgf *jgf)
{
    const char *subsystem = intern_text(&m->g->subsystems, m->topo.subsystem);

    for (size_t i = 0; i < jgf->n_edges; i++)
        if (strcmp(jgf->edge[i].subsystem, subsystem) == 0)
            return false;
    return true;
}

/* Withhold from others what such a text gives to the job alone. Its holds are not emitted. */
static int hold_foreign(const struct jgf *jgf, const uint32_t *vertex, struct job *job)
{
    job->hidden = true;
    for (size_t i = 0; i < jgf->n; i++)
        if (vertex[i] != VERTEX_NONE && jgf->vertex[i].exclusive &&
            job_hold(job, vertex[i], HOLD_EXCLUSIVE, jgf->vertex[i].size, NULL, 0) < 0)
            return -1;
    return 0;
}

static int mark_jgf(struct walk *w, struct job *job, const char *text, size_t length, bool whole,
                    berth_error_t *err)
{
    struct jgf jgf;
    struct idset freed = {0};
    int rc = -1;

    if (jgf_parse(&jgf, text, length, err) < 0)
        return -1;
    uint32_t *vertex = arena_alloc(&w->m->arena, (jgf.n + 1) * sizeof(*vertex));
    if (!vertex ||
        (jgf.free_ranks && idset_decode(&freed, jgf.free_ranks, strlen(jgf.free_ranks), err) < 0))
        goto done;
    for (size_t i = 0; i < jgf.n; i++) {
        vertex[i] = match_find_jgf(w->m, &jgf.vertex[i], err);
        if (vertex[i] == VERTEX_NONE)
            goto done;
        if (is_freed(&freed, jgf.vertex[i].rank))
            vertex[i] = VERTEX_NONE;
        else if (check_free(w, vertex[i], jgf.vertex[i].size, err) < 0)
            goto done;
    }
    rc = is_foreign(w->m, &jgf) ? hold_foreign(&jgf, vertex, job)
                                : mark_edges(w, &jgf, vertex, whole, err);
done:
    idset_clear(&freed);
    jgf_free(&jgf);
    return rc;
}

/* The child with a type and id, as R names it. */
static uint32_t child_of(const struct walk *w, uint32_t node, const char *type, int64_t id)
{
    const uint32_t *children;
    uint32_t n = topo_children(w->t, node, &children);

    for (uint32_t i = 0; i < n; i++)
        if (w->t->g->v[children[i]].id == id &&
            strcmp(graph_type_name(w->t->g, children[i]), type) == 0)
            return children[i];
    return VERTEX_NONE;
}

/* The node of a rank, by the host's name. It is a child of the root, since R knows nothing between; or, if `deep`,
 * anywhere. *others is how many more vertices have the rank.
 */
static uint32_t node_of_rank(struct walk *w, const struct rv1_rank *r, bool deep, uint32_t *others)
{
    const struct match *m = w->m;
    uint32_t node = VERTEX_NONE;

    *others = match_rank_size(m, r->rank);
    for (uint32_t i = 0; i < m->n_nodes; i++) {
        uint32_t v = m->node[i];
        const struct vertex *x = &m->g->v[v];
        if (x->rank != r->rank || x->gone || w->t->class_of[v] == CLASS_NONE ||
            (!deep && w->t->parent[v] != w->t->root) ||
            !graph_is_named(m->g, v, r->host, strlen(r->host)))
            continue;
        node = v;
        (*others)--;
    }
    return node;
}

/* What is between the root and a node is shared. */
static int mark_above(struct walk *w, uint32_t v)
{
    uint32_t parent = v == w->t->root ? VERTEX_NONE : w->t->parent[v];

    if (v != w->t->root && mark_above(w, parent) < 0)
        return -1;
    return mark_vertex(w, v, parent, w->t->g->v[v].size, false);
}

/* `exact`: only what is listed is held, and the node itself if all of it is. */
static int mark_rank(struct walk *w, const struct rv1 *rv1, const struct rv1_rank *r, bool exact,
                     berth_error_t *err)
{
    uint32_t others, listed = 0, node = node_of_rank(w, r, exact, &others);

    if (node == VERTEX_NONE)
        return errtext_set(err, EINVAL, "there is no node %s with rank %" PRId32 "%s", r->host,
                           r->rank, exact ? "" : " below the root");
    if (check_free(w, node, 0, err) < 0 || mark_above(w, w->t->parent[node]) < 0)
        return -1;
    struct mark *at = walk_mark(w, node, w->t->parent[node], w->t->g->v[node].size, true, NULL);
    if (!at)
        return -1;
    for (size_t i = 0; i < rv1->n_children; i++) {
        const struct rv1_children *c = &rv1->children[i];
        if (c->entry != r->entry)
            continue;
        for (uint32_t id = idset_first(c->ids); id != IDSET_NONE;
             id = idset_next(c->ids, id), listed++) {
            uint32_t v = child_of(w, node, c->type, id);
            if (v == VERTEX_NONE)
                return errtext_set(err, EINVAL, "%s has no %s%" PRIu32, r->host, c->type, id);
            int64_t size = w->t->g->v[v].size;
            if (check_free(w, v, size, err) < 0 || mark_vertex(w, v, node, size, true) < 0)
                return -1;
        }
    }
    struct mark *of_node = &w->mark[w->mark_of[node]];
    of_node->exclusive = !exact || listed == others;
    of_node->shown_only = !exact && listed != others;
    return 0;
}

static int mark_rv1(struct walk *w, const char *text, size_t length, bool exact, berth_error_t *err)
{
    struct rv1 rv1;
    int rc = 0;

    if (rv1_parse(&rv1, text, length, err) < 0)
        return -1;
    if (mark_vertex(w, w->t->root, VERTEX_NONE, w->t->g->v[w->t->root].size, false) < 0)
        rc = -1;
    for (size_t i = 0; i < rv1.n && rc == 0; i++)
        rc = mark_rank(w, &rv1, &rv1.rank[i], exact, err);
    rv1_free(&rv1);
    return rc;
}

static int mark_text(struct walk *w, struct job *job, const struct held_text *held,
                     berth_error_t *err)
{
    if (strcmp(held->format, "jgf") == 0)
        return mark_jgf(w, job, held->text, held->length, false, err);
    if (strcmp(held->format, "jgf_shorthand") == 0)
        return mark_jgf(w, job, held->text, held->length, true, err);
    if (strcmp(held->format, "rv1exec") == 0)
        return mark_rv1(w, held->text, held->length, held->exact, err);
    return errtext_set(err, EINVAL, "format \"%s\": expected jgf, jgf_shorthand or rv1exec",
                       held->format);
}

int match_update(match_t *m, const char *format, const char *text, size_t length, int64_t jobid,
                 int64_t at, int64_t duration, bool reserve, berth_error_t *err)
{
    const struct held_text held = {format, text, length, false};

    return match_adopt(m, &held, jobid, at, duration, reserve, err);
}

int match_adopt(struct match *m, const struct held_text *held, int64_t jobid, int64_t at,
                int64_t duration, bool reserve, berth_error_t *err)
{
    if (at < 0 || duration < 1 || duration > INT64_MAX - 1 - at)
        return errtext_set(err, EINVAL, "invalid time (%" PRId64 ", %" PRId64 ")", at, duration);
    if (jobs_find(&m->jobs, jobid))
        return errtext_set(err, EEXIST, "job %" PRId64 " exists", jobid);
    arena_release(&m->arena, (struct arena_mark){0});
    match_clear_memo(m);
    struct walk w = {.m = m,
                     .t = &m->topo,
                     .policy = &m->policy,
                     .at = at,
                     .end = at + duration,
                     .mark_of = m->mark_of,
                     .mark = m->marks,
                     .marks_capacity = m->marks_capacity,
                     .n_marks = 1};
    struct job *job = job_new(jobid, at, at + duration, reserve);
    errno = ENOMEM;
    int rc = job && walk_start_marks(&w) == 0 && match_emit_begin(m, at, at + duration, NULL) == 0
                 ? 0
                 : -1;
    if (rc == 0 && held->text)
        rc = mark_text(&w, job, held, err);
    m->marks = w.mark;
    m->marks_capacity = w.marks_capacity;
    if (rc == 0 && (match_commit(&w, job) < 0 || match_record(m, job) < 0))
        rc = -1;
    if (rc == 0)
        return match_reweigh(m, -1);
    job_destroy(job);
    m->last.n = 0;
    return errno == ENOMEM ? errtext_no_memory(err) : -1;
}
