/* Any bytes are a workload that keeps its promises, or an error of one line.
 *
 * The first byte picks the options, so that a corpus file is a trace behind one character: its
 * lowest bit asks for exact estimates, the next for a machine of 100 instead of the header's, the
 * next for 3 jobs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/swf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds, const char *law)
{
    if (holds)
        return;
    fprintf(stderr, "does not hold: %s\n", law);
    abort();
}

static void check_trace(const struct trace *trace, const struct swf_options *options)
{
    uint64_t killed = 0;
    check(trace->procs >= 1, "the machine has processors");
    check(options->procs <= 0 || trace->procs == options->procs, "the option is the size");
    check(options->limit <= 0 || trace->n <= (uint64_t)options->limit, "the limit holds");
    for (size_t i = 0; i < trace->n; i++) {
        const struct schedule_job *job = &trace->jobs[i];
        check(job->submit >= 0 && job->submit <= SWF_VALUE_MAX, "submit is a time");
        check(job->run >= 1 && job->run <= job->limit, "1 <= run <= limit");
        check(job->limit <= SWF_VALUE_MAX, "limit is a time");
        check(!options->exact || job->run == job->limit, "exact estimates are run times");
        check(job->procs >= 1 && job->procs <= trace->procs, "1 <= procs <= machine");
        check(job->priority >= 0, "priorities are queues");
        killed += job->run == job->limit;
    }
    check(trace->killed <= killed, "a killed job runs for its estimate");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned pick = size > 0 ? data[0] : 0;
    struct swf_options options = {
        .procs = pick & 2 ? 100 : 0, .exact = pick & 1, .limit = pick & 4 ? 3 : 0};
    const char *text = size > 0 ? (const char *)data + 1 : "";
    size_t length = size > 0 ? size - 1 : 0;
    struct trace trace;
    memset(&trace, 0x55, sizeof(trace));
    struct trace before = trace;
    berth_error_t err = {""};
    errno = 0;
    if (swf_parse("fuzz.swf", text, length, &options, &trace, &err) == 0) {
        check_trace(&trace, &options);
        trace_clear(&trace);
        return 0;
    }
    check(errno == EINVAL || errno == ENOMEM, "a failure has its errno");
    check(memcmp(&trace, &before, sizeof(trace)) == 0, "a failure leaves the trace as it was");
    check(strncmp(err.text, "fuzz.swf:", 9) == 0, "a failure names the file");
    check(!strchr(err.text, '\n'), "a failure is one line");
    return 0;
}
