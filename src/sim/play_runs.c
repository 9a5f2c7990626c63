/* Runs of jobs that were stopped and wait again: where they were, and when. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sim/play_priv.h"

int play_note_run(struct play *p, size_t job)
{
    const struct play_job *j = &p->jobs[job];
    if (!p->options.keeps_runs)
        return 0;
    char *resources = strdup(j->resources ? j->resources : "");
    if (!resources ||
        array_grow((void **)&p->runs, &p->cap_runs, p->n_runs + 1, sizeof(*p->runs)) < 0) {
        free(resources);
        return -1;
    }
    p->runs[p->n_runs++] =
        (struct play_run){.job = job, .start = j->start, .end = p->d.now, .resources = resources};
    return 0;
}

size_t play_runs(const struct play *p, const struct play_run **runs)
{
    *runs = p->runs;
    return p->n_runs;
}

void play_clear_runs(struct play *p)
{
    for (size_t i = 0; i < p->n_runs; i++)
        free((char *)(uintptr_t)p->runs[i].resources);
    free(p->runs);
}
