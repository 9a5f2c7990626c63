/* Reader of the Standard Workload Format, the format of the Parallel Workloads Archive.
 *
 * A line is a job: at least 18 numbers split by spaces or tabs; what follows them is not looked at.
 * Lines that begin with ';' are comments, and those before the first job are the header, from which
 * MaxProcs and MaxNodes are read. Blank lines are skipped; lines may end in CR LF.
 *
 * Of the 18 fields these are used:
 *
 *   1 job number, 2 submit time, 5 allocated processors, 8 requested processors: whole numbers
 *   4 run time, 9 requested time (the estimate): may have decimals, cut off toward zero
 *   15 queue: the job's priority, larger first; 0 where it is unknown (negative) or not whole
 *   12 user, 13 group, 15 queue, 16 partition: who submitted it where to, if that is asked for
 *
 * The others must be numbers too. A number is [+-]digits[.digits][e[+-]digits]; "nan", "inf" and
 * hexadecimal are none.
 *
 * A job takes the requested processors, or the allocated ones where no request is known. It is
 * dropped, and counted under the first reason that holds, where its run time is not positive, its
 * processors are unknown, more than the machine has, or its submit time is negative. A job without
 * an estimate has its run time as estimate; one that ran past its estimate is killed at it, and
 * counted as such.
 */
#ifndef SIM_SWF_H
#define SIM_SWF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "berth/error.h"
#include "sim/trace.h"

/* Times and processors are at most this much, so that no sum of a few of them overflows. */
#define SWF_VALUE_MAX INT64_C(1000000000000000)

/* A line is at most this long, in bytes. */
#define SWF_LINE_MAX 65536

struct swf_options {
    int64_t procs; /* size of the machine; <= 0: the header's MaxProcs, else its MaxNodes */
    bool exact;    /* every estimate is the run time */
    int64_t limit; /* stop once so many jobs are kept; <= 0: all */
    bool who;      /* keep user, group, queue and partition of each job too */
};

/* Read a trace from a file, or from standard input where path is "-"; gzipped or plain, which the
 * content tells. Memory is 48 bytes a job kept, 32 more with `who`, and a fixed buffer. On success *trace,
 * whose content is not freed, is the workload; free it with trace_clear. Returns 0, or -1 with errno and a
 * text, *trace as it was: EINVAL where the content is wrong (the text names file, line and field) or no
 * size of the machine is known when the first job or the end is met, ENOMEM, or what the system
 * said about the file.
 */
int swf_read(const char *path, const struct swf_options *options, struct trace *trace,
             berth_error_t *err);

/* The same for plain text in memory, under a name for error texts. */
int swf_parse(const char *name, const char *text, size_t length, const struct swf_options *options,
              struct trace *trace, berth_error_t *err);

#endif
