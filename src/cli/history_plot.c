/* From lists of jobs to a timeline. */
#include "cli/history_plot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/errtext.h"
#include "cli/client/objects.h"
#include "cli/client/when.h"
#include "report/timeline.h"

const char *const history_plot_words[] = {"user", "queue", "state", NULL};

struct drawn {
    struct arena texts;
    struct timeline_job *jobs;
    size_t n, cap;
    struct machine_node *nodes;
    size_t n_nodes, nodes_cap;
    int64_t cores;
    const char *by;
    double now;
    struct strbuf text; /* room */
};

/* A member of an object as a text that is kept; "" if there is none. NULL: ENOMEM. */
static const char *keep_member_text(struct drawn *d, const struct fields *f, const char *key)
{
    return arena_text(&d->texts, fields_text(f, key, &d->text));
}

/* ---- Jobs ---- */

/* Of a job that waits: whether its start is promised. */
static const char *promise_word(const struct fields *f)
{
    return fields_is_true(f, "expected") ? "expected" : "promised";
}

/* "17[3] fit . alice . queue default . done", and when it ran where. */
static const char *describe_plot_job(struct drawn *d, const struct fields *f,
                                     const struct timeline_job *job, const char *user,
                                     const char *queue, const char *state)
{
    char id[JOB_ID_SIZE], from[WHEN_SIZE], to[WHEN_SIZE], ran[TIMELINE_SPAN_SIZE],
        waited[TIMELINE_SPAN_SIZE];
    struct strbuf *out = &d->text;
    int64_t number = 0, member = -1;
    fields_whole(f, "id", &number);
    fields_whole(f, "member", &member);
    strbuf_reset(out);
    strbuf_puts(out, job_id_text(number, member, id));
    strbuf_putc(out, ' ');
    strbuf_puts(out, job->name);
    timeline_put_title(out, user);
    timeline_put_title(out, queue);
    timeline_put_title(out, job->promised ? promise_word(f) : state);
    timeline_put_title(out, job->resources);
    timeline_put_title(out, when_put(job->from, from));
    strbuf_puts(out, " to ");
    strbuf_puts(out, when_put(job->to, to));
    timeline_put_title(out, job->promised ? "may last" : "ran");
    strbuf_putc(out, ' ');
    strbuf_puts(out, timeline_span(job->to - job->from, ran));
    timeline_put_title(out, job->promised ? "waits" : "waited");
    strbuf_putc(out, ' ');
    strbuf_puts(out, timeline_span(job->from - job->submit, waited));
    return out->failed ? NULL : arena_text(&d->texts, strbuf_text(out));
}

static int room(struct drawn *d)
{
    if (d->n < d->cap)
        return 0;
    size_t cap = d->cap ? 2 * d->cap : 64;
    void *more = reallocarray(d->jobs, cap, sizeof(*d->jobs));
    if (!more)
        return -1;
    d->jobs = more;
    d->cap = cap;
    return 0;
}

/* Its times; false: it has not run, and is promised no start. */
static bool read_times(const struct drawn *d, const struct fields *f, bool waits,
                       struct timeline_job *job)
{
    double lasts = fields_number(f, "duration");
    job->submit = job->waits = fields_number(f, "submit");
    job->from = fields_number(f, waits ? "estimate" : "start");
    job->to = waits ? job->from + (lasts < 0 ? 0 : lasts) : fields_number(f, "end");
    job->promised = waits;
    if (!waits && job->to < 0) /* it runs */
        job->to = d->now > job->from ? d->now : job->from;
    return job->submit >= 0 && job->from >= 0 && job->to >= job->from;
}

static int take_plot_job(struct drawn *d, const char *text, size_t length, bool waits)
{
    struct fields f;
    struct timeline_job job = {0};
    if (!fields_find(&f, text, length)) {
        errno = EPROTO;
        return -1;
    }
    job.resources = keep_member_text(d, &f, waits ? "promised" : "resources");
    if (job.resources && (!read_times(d, &f, waits, &job) || (waits && !*job.resources)))
        return 0;
    const char *state = keep_member_text(d, &f, "state"), *user = keep_member_text(d, &f, "user"),
               *queue = keep_member_text(d, &f, "queue");
    job.name = keep_member_text(d, &f, "name");
    job.about = job.resources && job.name && state && user && queue
                    ? describe_plot_job(d, &f, &job, user, queue, state)
                    : NULL;
    if (!job.about || room(d) < 0) {
        errno = ENOMEM;
        return -1;
    }
    job.key = strcmp(d->by, "state") == 0   ? (waits ? promise_word(&f) : state)
              : strcmp(d->by, "queue") == 0 ? queue
                                            : user;
    job.failed = strcmp(state, "failed") == 0 || strcmp(state, "timeout") == 0;
    fields_whole(&f, "cores", &job.cores);
    d->jobs[d->n++] = job;
    return 0;
}

static int take_ran(void *context, const char *text, size_t length)
{
    return take_plot_job(context, text, length, false);
}

static int take_waiting(void *context, const char *text, size_t length)
{
    return take_plot_job(context, text, length, true);
}

/* ---- The machine ---- */

static int take_plot_node(void *context, const char *text, size_t length)
{
    struct drawn *d = context;
    struct fields f;
    if (!fields_find(&f, text, length)) {
        errno = EPROTO;
        return -1;
    }
    if (d->n_nodes == d->nodes_cap) {
        size_t cap = d->nodes_cap ? 2 * d->nodes_cap : 16;
        void *more = reallocarray(d->nodes, cap, sizeof(*d->nodes));
        if (!more)
            return -1;
        d->nodes = more;
        d->nodes_cap = cap;
    }
    struct machine_node node = {.name = keep_member_text(d, &f, "name")};
    if (!node.name)
        return -1;
    fields_whole(&f, "cores", &node.cores);
    fields_whole(&f, "gpus", &node.gpus);
    d->cores += node.cores;
    d->nodes[d->n_nodes++] = node;
    return 0;
}

int history_plot(struct connection *connection, const char *ran, const char *waiting,
                 const char *file, const char *by, berth_error_t *err)
{
    struct timespec now;
    char title[64];
    clock_gettime(CLOCK_REALTIME, &now);
    struct drawn d = {.by = by, .now = (double)now.tv_sec + (double)now.tv_nsec / 1e9};
    int rc = connection_list(connection, ran, take_ran, &d, err);
    if (rc == 0 && waiting)
        rc = connection_list(connection, waiting, take_waiting, &d, err);
    if (rc == 0)
        rc = connection_list(connection, "/v1/nodes", take_plot_node, &d, err);
    if (rc == 0 && d.n == 0)
        rc = errtext_set(err, EINVAL, "nothing to draw: none of these jobs ran");
    if (d.n_nodes == 1)
        snprintf(title, sizeof(title), "Jobs on %s", d.nodes[0].name);
    else
        snprintf(title, sizeof(title), "Jobs on %zu nodes", d.n_nodes);
    if (rc == 0) {
        const struct timeline t = {.title = title,
                                   .by = by,
                                   .nodes = d.nodes,
                                   .n_nodes = d.n_nodes,
                                   .jobs = d.jobs,
                                   .n_jobs = d.n,
                                   .cores = d.cores,
                                   .now = d.now};
        rc = timeline_write(&t, outfile_open(file, err), err);
    }
    int saved = errno;
    free(d.jobs);
    free(d.nodes);
    arena_clear(&d.texts);
    strbuf_clear(&d.text);
    errno = saved;
    return rc;
}
