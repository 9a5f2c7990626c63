#include "cli/client/picture.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "cli/client/fields.h"
#include "cli/client/words.h"
#include "report/metrics.h"
#include "report/outfile.h"
#include "report/plot.h"
#include "report/report.h"

#define TAU 10 /* s: of the bounded slowdown */

struct drawn {
    struct schedule_job *jobs;
    int64_t *start;
    size_t n, cap;
};

static int room(struct drawn *d)
{
    if (d->n < d->cap)
        return 0;
    size_t cap = d->cap ? 2 * d->cap : 64;
    struct schedule_job *jobs = realloc(d->jobs, cap * sizeof(*jobs));
    if (jobs)
        d->jobs = jobs;
    int64_t *start = realloc(d->start, cap * sizeof(*start));
    if (start)
        d->start = start;
    if (!jobs || !start)
        return -1;
    d->cap = cap;
    return 0;
}

/* Take a job that ran. */
static int take(void *context, const char *text, size_t length)
{
    struct drawn *d = context;
    struct fields job;
    int64_t id = 0, cores = 0;

    if (!fields_find(&job, text, length)) {
        errno = EPROTO;
        return -1;
    }
    double submit = fields_number(&job, "submit"), start = fields_number(&job, "start");
    double end = fields_number(&job, "end");
    if (submit < 0 || start < 0 || end < start || !fields_whole(&job, "id", &id) ||
        !fields_whole(&job, "cores", &cores) || cores < 1)
        return 0;
    if (room(d) < 0)
        return -1;
    int64_t begun = llround(start), run = llround(end) - begun;
    struct schedule_job *to = &d->jobs[d->n];
    *to = (struct schedule_job){.id = id, .submit = llround(floor(submit)), .procs = cores};
    to->run = to->limit = run < 1 ? 1 : run;
    d->start[d->n++] = begun < to->submit ? to->submit : begun;
    return 0;
}

/* Times since the first submission. */
static void shift(struct drawn *d)
{
    int64_t first = INT64_MAX;

    for (size_t i = 0; i < d->n; i++)
        first = d->jobs[i].submit < first ? d->jobs[i].submit : first;
    for (size_t i = 0; i < d->n; i++) {
        d->jobs[i].submit -= first;
        d->start[i] -= first;
    }
}

static int draw(const struct drawn *d, int64_t cores, struct outfile *out, berth_error_t *err)
{
    const struct schedule schedule = {
        .policy = "as it was", .procs = cores, .n = d->n, .jobs = d->jobs, .start = d->start};
    struct metrics metrics;
    struct report report = {.trace = "berthd",
                            .procs = cores,
                            .jobs = d->n,
                            .tau = TAU,
                            .events = "as they came",
                            .order = "of the queue",
                            .estimates = "limits",
                            .schedules = &schedule,
                            .metrics = &metrics,
                            .npolicies = 1};

    if (metrics_compute(&schedule, TAU, &metrics, err) < 0) {
        int saved = errno;
        outfile_close(out, false, NULL);
        errno = saved;
        return -1;
    }
    return plot_write(&report, out, err);
}

int picture_draw(struct talk *talk, const char *list, const char *file, berth_error_t *err)
{
    struct drawn d = {0};
    json_t *machine = NULL;
    int rc = talk_list(talk, list, take, &d, err);

    if (rc == 0)
        rc = talk_ask(talk, "GET", "/v1/resources", NULL, &machine, err);
    int64_t cores = json_integer_value(json_object_get(machine, "cores"));
    json_decref(machine);
    if (rc == 0 && d.n == 0)
        rc = errtext_set(err, EINVAL, "nothing to draw: none of these jobs ran");
    if (rc == 0) {
        shift(&d);
        struct outfile *out = outfile_open(file, err);
        rc = out ? draw(&d, cores, out, err) : -1;
    }
    int saved = errno;
    free(d.jobs);
    free(d.start);
    errno = saved;
    return rc;
}
