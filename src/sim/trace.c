/* The workload's memory and order, and the words for what was dropped. */
#include "sim/trace.h"

#include <stdlib.h>
#include <string.h>

const char *trace_drop_name(enum trace_drop reason)
{
    switch (reason) {
    case TRACE_DROP_NO_RUN:
        return "no_run_time";
    case TRACE_DROP_NO_PROCS:
        return "no_processors";
    case TRACE_DROP_TOO_BIG:
        return "too_big";
    case TRACE_DROP_NO_SUBMIT:
        return "no_submit_time";
    case TRACE_DROP_COUNT:
        break;
    }
    return "";
}

struct submission {
    int64_t at;
    uint32_t job;
};

static int submission_compare(const void *a, const void *b)
{
    const struct submission *x = a;
    const struct submission *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->job < y->job ? -1 : x->job > y->job;
}

int trace_sort(const struct trace *trace, uint32_t **order)
{
    size_t n = trace->n;
    size_t i = 1;
    *order = NULL;
    while (i < n && trace->jobs[i - 1].submit <= trace->jobs[i].submit)
        i++;
    if (i >= n)
        return 0;
    struct submission *list = reallocarray(NULL, n, sizeof(*list));
    uint32_t *sorted = reallocarray(NULL, n, sizeof(*sorted));
    if (!list || !sorted) {
        free(list);
        free(sorted);
        return -1;
    }
    for (i = 0; i < n; i++)
        list[i] = (struct submission){trace->jobs[i].submit, (uint32_t)i};
    qsort(list, n, sizeof(*list), submission_compare);
    for (i = 0; i < n; i++)
        sorted[i] = list[i].job;
    free(list);
    *order = sorted;
    return 0;
}

void trace_clear(struct trace *trace)
{
    free(trace->jobs);
    free(trace->who);
    memset(trace, 0, sizeof(*trace));
}
