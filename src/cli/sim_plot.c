/* The jobs of a scenario as a picture: who had what of which node when. */
#include "cli/sim_plot.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/errtext.h"
#include "report/timeline.h"
#include "resource/graph.h"

#define SECOND 1e6 /* ticks */

struct drawing {
    struct arena texts;
    struct timeline_job *jobs;
    size_t n;
    int64_t *since; /* of each job: since when it waits, or has waited for its next box */
    struct machine_node *nodes;
    size_t n_nodes;
    int64_t cores;
    bool has_users;
    struct strbuf text; /* room */
};

/* "fit . ann . batch . done . node0/core[0-2] . waited 1h 2m, ran 5m" */
static const char *describe_drawn_job(struct drawing *d, const struct play_row *row, int64_t end)
{
    char span[TIMELINE_SPAN_SIZE];
    struct strbuf *out = &d->text;
    strbuf_reset(out);
    strbuf_puts(out, row->name);
    timeline_put_title(out, row->user);
    timeline_put_title(out, row->queue);
    timeline_put_title(out, row->expected ? "expected" : row->waits ? "promised" : row->state);
    timeline_put_title(out, row->resources);
    strbuf_puts(out, row->waits ? " \302\267 waits " : " \302\267 waited ");
    strbuf_puts(out, timeline_span((double)(row->start - row->submit) / SECOND, span));
    strbuf_puts(out, row->waits ? ", may last " : ", ran ");
    strbuf_puts(out, timeline_span((double)(end - row->start) / SECOND, span));
    return out->failed ? NULL : arena_text(&d->texts, strbuf_text(out));
}

/* Add a job, if it has run until now or is promised something; or a run of it that was stopped. Returns 0, or -1 with
 * ENOMEM.
 */
static int add_drawn_job(struct drawing *d, size_t number, const struct play_row *row, int64_t now,
                         bool stopped)
{
    int64_t end = row->end >= 0 || row->waits ? row->end : now;
    if (row->start < 0 || end < row->start || !*row->resources)
        return 0;
    struct timeline_job job = {.name = arena_text(&d->texts, row->name),
                               .about = describe_drawn_job(d, row, end),
                               .key = arena_text(&d->texts, *row->user ? row->user : row->queue),
                               .resources = arena_text(&d->texts, row->resources),
                               .submit = (double)row->submit / SECOND,
                               .from = (double)row->start / SECOND,
                               .to = (double)end / SECOND,
                               .waits = (double)d->since[number] / SECOND,
                               .promised = row->waits,
                               .stopped = stopped,
                               .failed = strcmp(row->state, "failed") == 0};
    if (!job.name || !job.key || !job.about || !job.resources) {
        errno = ENOMEM;
        return -1;
    }
    d->has_users |= *row->user;
    d->jobs[d->n++] = job;
    d->since[number] = end;
    return 0;
}

/* Runs that were stopped, and then all jobs as they are now. Returns 0, or -1 with ENOMEM. */
static int add_drawn_jobs(struct drawing *d, struct play *play)
{
    const struct play_run *runs;
    size_t jobs = play_jobs(play), n = play_runs(play, &runs);
    struct play_row row;
    d->jobs = calloc(jobs + n + 1, sizeof(*d->jobs));
    d->since = calloc(jobs + 1, sizeof(*d->since));
    if (!d->jobs || !d->since)
        return -1;
    for (size_t i = 0; i < jobs; i++)
        d->since[i] = -1;
    for (size_t i = 0; i < n + jobs; i++) {
        size_t job = i < n ? runs[i].job : i - n;
        if (play_row(play, job, &row) < 0)
            return -1;
        if (d->since[job] < 0)
            d->since[job] = row.submit;
        if (i < n) {
            row.state = "stopped";
            row.waits = row.expected = false;
            row.start = runs[i].start;
            row.end = runs[i].end;
            row.resources = runs[i].resources;
        }
        if (add_drawn_job(d, job, &row, play_now(play), i < n) < 0)
            return -1;
    }
    return 0;
}

/* The machine as it is at the end. */
static int take_drawn_nodes(struct drawing *d, const struct graph *g)
{
    uint32_t *number = calloc((size_t)g->n + 1, sizeof(*number)); /* of a node, from 1 */
    d->nodes = calloc((size_t)g->n + 1, sizeof(*d->nodes));
    bool made = number && d->nodes;
    for (uint32_t v = 0; made && v < g->n; v++) {
        if (g->v[v].type != TYPE_NODE || g->v[v].gone)
            continue;
        strbuf_reset(&d->text);
        graph_name(g, v, &d->text);
        d->nodes[d->n_nodes].name =
            d->text.failed ? NULL : arena_text(&d->texts, strbuf_text(&d->text));
        made = d->nodes[d->n_nodes].name != NULL;
        number[v] = (uint32_t)++d->n_nodes;
    }
    for (uint32_t v = 0; made && v < g->n; v++) {
        uint32_t at = v;
        if (g->v[v].gone || (g->v[v].type != TYPE_CORE && g->v[v].type != TYPE_GPU))
            continue;
        while (at != VERTEX_NONE && number[at] == 0)
            at = graph_parent(g, at, GRAPH_CONTAINMENT);
        struct machine_node *node = at == VERTEX_NONE ? NULL : &d->nodes[number[at] - 1];
        d->cores += g->v[v].type == TYPE_CORE;
        if (node && g->v[v].type == TYPE_CORE)
            node->cores++;
        else if (node)
            node->gpus++;
    }
    free(number);
    if (!made)
        errno = ENOMEM;
    return made ? 0 : -1;
}

static int count_cores(struct drawing *d, berth_error_t *err)
{
    struct machine_rows rows = {0};
    const char **texts = calloc(d->n + 1, sizeof(*texts));
    for (size_t i = 0; texts && i < d->n; i++)
        texts[i] = d->jobs[i].resources;
    int rc = texts ? machine_rows_make(&rows, d->nodes, d->n_nodes, texts, d->n, err) : -1;
    for (size_t i = 0; rc == 0 && i < d->n; i++) {
        d->jobs[i].cores = machine_rows_cores(&rows, texts[i]);
        rc = d->jobs[i].cores < 0 ? -1 : 0;
    }
    machine_rows_clear(&rows);
    free(texts);
    return rc;
}

int sim_plot(struct play *play, const match_t *machine, const struct sharing *sharing,
             const char *title, struct outfile *out, berth_error_t *err)
{
    struct drawing d = {0};
    int rc = take_drawn_nodes(&d, match_graph(machine));
    rc = rc < 0 ? -1 : add_drawn_jobs(&d, play);
    rc = rc < 0 ? -1 : count_cores(&d, err);
    if (rc < 0) {
        errtext_no_memory(err);
        outfile_close(out, false, NULL);
    } else {
        const struct timeline t = {.title = title,
                                   .by = d.has_users ? "user" : "queue",
                                   .nodes = d.nodes,
                                   .n_nodes = d.n_nodes,
                                   .jobs = d.jobs,
                                   .n_jobs = d.n,
                                   .cores = d.cores,
                                   .sharing = sharing,
                                   .elapsed = true,
                                   .now = (double)play_now(play) / SECOND};
        rc = timeline_write(&t, out, err);
    }
    int saved = errno;
    free(d.jobs);
    free(d.since);
    free(d.nodes);
    arena_clear(&d.texts);
    strbuf_clear(&d.text);
    errno = saved;
    return rc;
}
