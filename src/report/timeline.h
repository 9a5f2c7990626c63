/* Jobs over the clock on the rows of a machine: who had which cores when, and what is promised to whom. */
#ifndef REPORT_TIMELINE_H
#define REPORT_TIMELINE_H

#include <stdbool.h>

#include "base/strbuf.h"
#include "berth/error.h"
#include "report/machine_rows.h"
#include "report/outfile.h"
#include "report/sharing.h"

/* A job that runs, has run, or is promised a start. Times are seconds since 1970. Texts are valid UTF-8. */
struct timeline_job {
    const char *name;  /* in its box */
    const char *key;   /* what its colour stands for */
    const char *about; /* shown on hovering */
    const char *
        resources; /* as machine_rows_make reads them; "": known to nobody, so that it has no box */
    double submit, from, to;
    double waits;  /* since when it has waited for this start: since it was submitted, or stopped */
    int64_t cores; /* that it holds */
    bool promised; /* its box is dashed */
    bool failed;   /* its box has a red edge */
    bool stopped;  /* likewise: a run of a job that waits again, and no job of its own */
};

struct timeline {
    const char *title;
    const char *by; /* what colours stand for: "user" */
    const struct machine_node *nodes;
    size_t n_nodes;
    const struct timeline_job *jobs;
    size_t n_jobs;
    int64_t cores;                 /* of the machine */
    const struct sharing *sharing; /* in the same seconds; NULL: no shares */
    bool elapsed;                  /* times are since 0, and shown as such */
    double now;                    /* marked by a line if it is between the ends; negative: not */
};

/* Draw it as SVG and close out, as plot_write does: the rows with their jobs, below them how many cores were in use, how many
 * of these jobs waited, and shares (report/share_strips.h). Nothing is rounded but to what a picture's tenth of a
 * pixel shows. Returns 0, or -1 with errno and a text, and no file; EINVAL: there is no job. O(n log n).
 */
int timeline_write(const struct timeline *t, struct outfile *out, berth_error_t *err);

/* A duration for people, exact enough to tell a little from nothing: "0.004 s", "12.3 s", "2h 5m". */
#define TIMELINE_SPAN_SIZE 48
char *timeline_span(double seconds, char text[TIMELINE_SPAN_SIZE]);

/* One more part of a title, behind a dot; none if it is "". */
void timeline_put_title(struct strbuf *title, const char *part);

#endif
