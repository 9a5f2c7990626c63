/* The workload's memory and the words for what was dropped. */
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

void trace_clear(struct trace *trace)
{
    free(trace->jobs);
    free(trace->who);
    memset(trace, 0, sizeof(*trace));
}
