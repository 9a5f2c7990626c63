/* Reader of the Standard Workload Format.
 *
 * Bytes are read into one buffer, whole lines are taken from it, and the rest of the last line moves to the
 * front. Every line that is scanned ends in '\n', even the last one of a file, so that scanning needs no
 * other bound: no field contains that character.
 */
#include "sim/swf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/errtext.h"
#include "base/number.h"

#define BUFFER_SIZE    (4 * (size_t)SWF_LINE_MAX)
#define NAME_MAX_SHOWN 120

/* All starts and ends of a schedule lie before the last submission plus all estimates, whatever the
 * policy, because a machine with waiting jobs never idles. The bound leaves room to
 * add a few times more.
 */
#define HORIZON_MAX (INT64_MAX / 4)

enum field {
    FIELD_ID,
    FIELD_SUBMIT,
    FIELD_RUN = 3,
    FIELD_ALLOCATED,
    FIELD_REQUESTED = 7,
    FIELD_ESTIMATE,
    FIELD_USER = 11,
    FIELD_GROUP,
    FIELD_QUEUE = 14,
    FIELD_PARTITION,
    FIELD_COUNT = 18
};

static const char *const field_names[FIELD_COUNT] = {
    "job number",
    "submit time",
    "wait time",
    "run time",
    "allocated processors",
    "average CPU time",
    "used memory",
    "requested processors",
    "requested time",
    "requested memory",
    "status",
    "user",
    "group",
    "executable",
    "queue",
    "partition",
    "preceding job",
    "think time",
};

/* Fields in which decimals are an error; in run times, they are only cut off. */
static const bool field_whole[FIELD_COUNT] = {
    [FIELD_ID] = true, [FIELD_SUBMIT] = true, [FIELD_ALLOCATED] = true, [FIELD_REQUESTED] = true};

enum number { NUMBER_WHOLE, NUMBER_DECIMAL, NUMBER_NONE, NUMBER_TOO_LARGE };

struct reader {
    const char *name; /* of the trace, for error texts */
    const struct swf_options *options;
    berth_error_t *err;
    struct trace trace; /* what has been read so far */
    size_t capacity;    /* of trace.jobs */
    uint64_t line;      /* number of the present line */
    int64_t max_procs;  /* of the header; 0: not found */
    int64_t max_nodes;
    int64_t last_submit;
    int64_t limits; /* sum of all estimates */
    bool sized;     /* trace.procs is final */
    bool done;      /* options->limit is reached */
};

/* The source of bytes: up to size of them, 0 at the end, -1 on failure with errno and err set. */
typedef ptrdiff_t (*fill_f)(void *arg, char *buffer, size_t size, berth_error_t *err);

static bool is_field_space(char c)
{
    return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

static bool ends_field(char c)
{
    return c == '\n' || is_field_space(c);
}

/* Scan at most 18 digits with a sign, as nearly all numbers are. Returns their end, or NULL. */
static inline const char *scan_plain(const char *p, int64_t *value)
{
    bool minus = *p == '-';
    p += minus;
    const char *first = p;
    uint64_t sum = 0;
    for (unsigned digit; (digit = (unsigned char)*p - (unsigned)'0') <= 9; p++)
        sum = sum * 10 + digit;
    if (p == first || p - first > 18 || !ends_field(*p))
        return NULL;
    *value = minus ? -(int64_t)sum : (int64_t)sum;
    return p;
}

/* Scan an exponent at *at, if there is one, and move *at behind it. Its size is cut at a million,
 * far beyond where every number is either 0 or too large.
 */
static bool scan_exponent(const char **at, int64_t *exponent)
{
    const char *p = *at;
    *exponent = 0;
    if (*p != 'e' && *p != 'E')
        return true;
    p++;
    bool minus = *p == '-';
    if (*p == '-' || *p == '+')
        p++;
    if (!is_digit(*p))
        return false;
    for (; is_digit(*p); p++)
        if (*exponent < 1000000)
            *exponent = *exponent * 10 + (*p - '0');
    if (minus)
        *exponent = -*exponent;
    *at = p;
    return true;
}

/* The number whose digits, with or without a point, are at p, cut off after its first `count`
 * digits and filled up with zeros where it has fewer. Returns false where that doesn't fit.
 */
static bool cut_digits(const char *p, int64_t count, int64_t *value)
{
    int64_t sum = 0;
    for (; count > 0; count--) {
        if (*p == '.')
            p++;
        int digit = is_digit(*p) ? *p++ - '0' : 0;
        if (sum > (INT64_MAX - digit) / 10)
            return false;
        sum = sum * 10 + digit;
        if (sum == 0 && !is_digit(*p) && *p != '.')
            break;
    }
    *value = sum;
    return true;
}

/* Scan a number of any form that ends where its field ends, into *value without its decimals. */
static enum number scan_number(const char *p, int64_t *value)
{
    bool minus = *p == '-';
    if (*p == '-' || *p == '+')
        p++;
    const char *digits = p;
    int64_t count = 0;
    while (is_digit(*p))
        p++;
    count = p - digits;
    bool decimal = *p == '.';
    int64_t fraction = 0;
    if (decimal) {
        const char *first = ++p;
        while (is_digit(*p))
            p++;
        fraction = p - first;
    }
    if (count + fraction == 0)
        return NUMBER_NONE;
    int64_t exponent = 0;
    decimal = decimal || *p == 'e' || *p == 'E';
    if (!scan_exponent(&p, &exponent) || !ends_field(*p))
        return NUMBER_NONE;
    if (!cut_digits(digits, count + exponent, value))
        return NUMBER_TOO_LARGE;
    if (minus)
        *value = -*value;
    return decimal ? NUMBER_DECIMAL : NUMBER_WHOLE;
}

/* Copy the first characters of a field for an error text, with '?' for what can't be printed. */
static void quote_field(const char *p, char *text, size_t size)
{
    size_t n = 0;
    for (; !ends_field(p[n]) && n + 4 < size; n++)
        text[n] = p[n] >= ' ' && p[n] <= '~' ? p[n] : '?';
    strcpy(text + n, ends_field(p[n]) ? "" : "...");
}

static int line_error(struct reader *r, const char *what)
{
    return errtext_set(r->err, EINVAL, "%s:%llu: %s", r->name, (unsigned long long)r->line, what);
}

static int field_error(struct reader *r, int field, const char *at, const char *expected)
{
    char text[36];
    if (*at == '\n')
        return errtext_set(r->err, EINVAL,
                           "%s:%llu: field %d (%s): missing, a job has at least %d fields", r->name,
                           (unsigned long long)r->line, field + 1, field_names[field], FIELD_COUNT);
    quote_field(at, text, sizeof(text));
    return errtext_set(r->err, EINVAL, "%s:%llu: field %d (%s): expected %s, found \"%s\"", r->name,
                       (unsigned long long)r->line, field + 1, field_names[field], expected, text);
}

/* The slow half of scan_fields: a field that is not a plain number. Returns its end, or NULL. */
static const char *scan_field(struct reader *r, int field, const char *p, int64_t *value)
{
    enum number kind = scan_number(p, value);
    if (kind == NUMBER_TOO_LARGE) {
        field_error(r, field, p, "a number in range");
        return NULL;
    }
    if (kind == NUMBER_NONE) {
        field_error(r, field, p, "a number");
        return NULL;
    }
    if (kind == NUMBER_DECIMAL && field_whole[field]) {
        field_error(r, field, p, "a whole number");
        return NULL;
    }
    if (kind == NUMBER_DECIMAL && field == FIELD_QUEUE)
        *value = 0;
    while (!ends_field(*p))
        p++;
    return p;
}

/* Scan the fields of a line into values, and check the range of those that are used. */
static int scan_fields(struct reader *r, const char *p, int64_t values[FIELD_COUNT])
{
    const char *starts[FIELD_COUNT];
    for (int i = 0; i < FIELD_COUNT; i++) {
        while (*p == ' ' || is_field_space(*p)) /* mostly spaces, many of them */
            p++;
        starts[i] = p;
        const char *end = scan_plain(p, &values[i]);
        if (!end && !(end = scan_field(r, i, p, &values[i])))
            return -1;
        p = end;
    }
    static const int counted[] = {FIELD_SUBMIT, FIELD_RUN, FIELD_ALLOCATED, FIELD_REQUESTED,
                                  FIELD_ESTIMATE};
    for (size_t i = 0; i < sizeof(counted) / sizeof(counted[0]); i++)
        if (values[counted[i]] > SWF_VALUE_MAX || values[counted[i]] < -SWF_VALUE_MAX)
            return field_error(r, counted[i], starts[counted[i]], "a number in range");
    return 0;
}

/* Decide the size of the machine, once the header is over. */
static int settle_size(struct reader *r)
{
    int64_t procs = r->options->procs;
    if (procs <= 0)
        procs = r->max_procs ? r->max_procs : r->max_nodes;
    if (procs <= 0)
        return line_error(r,
                          "no size of the machine: the header gives neither MaxProcs nor MaxNodes, "
                          "and --procs is not given");
    r->trace.procs = procs;
    r->sized = true;
    return 0;
}

static int reserve_trace_job(struct reader *r)
{
    struct trace *trace = &r->trace;
    if (trace->n < r->capacity)
        return 0;
    size_t capacity = r->capacity ? 2 * r->capacity : 1024;
    struct schedule_job *jobs = realloc(trace->jobs, capacity * sizeof(*jobs));
    if (jobs)
        trace->jobs = jobs;
    struct trace_who *who =
        r->options->who && jobs ? realloc(trace->who, capacity * sizeof(*who)) : NULL;
    if (who)
        trace->who = who;
    if (!jobs || (r->options->who && !who))
        return errtext_set(r->err, ENOMEM, "%s: out of memory", r->name);
    r->capacity = capacity;
    return 0;
}

static int append_job(struct reader *r, const struct schedule_job *job,
                      const int64_t values[FIELD_COUNT])
{
    struct trace *trace = &r->trace;
    if (reserve_trace_job(r) < 0)
        return -1;
    if (r->options->who)
        trace->who[trace->n] = (struct trace_who){values[FIELD_USER], values[FIELD_GROUP],
                                                  values[FIELD_QUEUE], values[FIELD_PARTITION]};
    trace->jobs[trace->n++] = *job;
    r->done = r->options->limit > 0 && trace->n >= (uint64_t)r->options->limit;
    return 0;
}

/* Filter the job of a line, and keep it or count why not. */
static int keep_or_drop(struct reader *r, const int64_t values[FIELD_COUNT])
{
    struct schedule_job job = {.id = values[FIELD_ID],
                               .submit = values[FIELD_SUBMIT],
                               .run = values[FIELD_RUN],
                               .limit = values[FIELD_ESTIMATE],
                               .procs = values[FIELD_REQUESTED],
                               .priority = values[FIELD_QUEUE] > 0 ? values[FIELD_QUEUE] : 0};
    if (job.procs <= 0)
        job.procs = values[FIELD_ALLOCATED];
    enum trace_drop reason = job.run <= 0                 ? TRACE_DROP_NO_RUN
                             : job.procs <= 0             ? TRACE_DROP_NO_PROCS
                             : job.procs > r->trace.procs ? TRACE_DROP_TOO_BIG
                             : job.submit < 0             ? TRACE_DROP_NO_SUBMIT
                                                          : TRACE_DROP_COUNT;
    if (reason != TRACE_DROP_COUNT) {
        r->trace.dropped[reason]++;
        return 0;
    }
    if (job.limit <= 0)
        job.limit = job.run;
    if (job.run > job.limit) {
        job.run = job.limit;
        r->trace.killed++;
    }
    if (r->options->exact)
        job.limit = job.run;
    if (job.submit > r->last_submit)
        r->last_submit = job.submit;
    r->limits += job.limit;
    if (r->limits > HORIZON_MAX - r->last_submit)
        return line_error(r, "the estimates add up to more than can be simulated");
    return append_job(r, &job, values);
}

/* If a header line names a size, read it. A size of -1 or 0 is unknown. */
static int scan_header(struct reader *r, const char *p)
{
    if (r->sized || r->options->procs > 0)
        return 0;
    while (is_field_space(*p) || *p == ';')
        p++;
    bool procs = strncmp(p, "MaxProcs", 8) == 0;
    if (!procs && strncmp(p, "MaxNodes", 8) != 0)
        return 0;
    int64_t *size = procs ? &r->max_procs : &r->max_nodes;
    p += 8;
    while (is_field_space(*p))
        p++;
    if (*p != ':' || *size > 0)
        return 0;
    p++;
    while (is_field_space(*p))
        p++;
    int64_t value = 0;
    if (scan_number(p, &value) == NUMBER_WHOLE && value <= SWF_VALUE_MAX) {
        *size = value > 0 ? value : 0;
        return 0;
    }
    /* MaxNodes must not replace a MaxProcs that can't be read; the other way round is fine */
    if (!procs)
        return 0;
    char text[36];
    quote_field(p, text, sizeof(text));
    return errtext_set(r->err, EINVAL, "%s:%llu: MaxProcs: expected a whole number, found \"%s\"",
                       r->name, (unsigned long long)r->line, text);
}

static int take_line(struct reader *r, const char *p)
{
    int64_t values[FIELD_COUNT];
    while (is_field_space(*p))
        p++;
    if (*p == '\n')
        return 0;
    if (*p == ';')
        return scan_header(r, p);
    if (scan_fields(r, p, values) < 0)
        return -1;
    if (!r->sized && settle_size(r) < 0)
        return -1;
    return keep_or_drop(r, values);
}

/* Take the whole lines among the first n bytes of the buffer. Returns their length, or -1. */
static ptrdiff_t take_whole_lines(struct reader *r, char *buffer, size_t n)
{
    char *p = buffer;
    char *stop = buffer + n;
    for (char *end; !r->done && (end = memchr(p, '\n', (size_t)(stop - p))); p = end + 1) {
        r->line++;
        if (end - p > SWF_LINE_MAX)
            return line_error(r, "the line is too long");
        if (end > p && end[-1] == '\r')
            end[-1] = '\n';
        if (take_line(r, p) < 0)
            return -1;
    }
    return p - buffer;
}

static int take_all(struct reader *r, char *buffer, fill_f fill, void *arg)
{
    size_t have = 0;
    for (bool more = true; more && !r->done;) {
        ptrdiff_t got = fill(arg, buffer + have, BUFFER_SIZE - have, r->err);
        if (got < 0)
            return -1;
        have += (size_t)got;
        more = got > 0;
        if (!more && have > 0)
            buffer[have++] = '\n';
        ptrdiff_t taken = take_whole_lines(r, buffer, have);
        if (taken < 0)
            return -1;
        have -= (size_t)taken;
        memmove(buffer, buffer + taken, have);
        if (!r->done && have > SWF_LINE_MAX) {
            r->line++;
            return line_error(r, "the line is too long");
        }
    }
    if (r->line == 0 && r->options->procs <= 0)
        return errtext_set(r->err, EINVAL, "%s: empty, it has neither a header nor jobs", r->name);
    return r->sized ? 0 : settle_size(r);
}

static int read_from(const char *name, fill_f fill, void *arg, const struct swf_options *options,
                     struct trace *trace, berth_error_t *err)
{
    struct reader r = {.name = name, .options = options, .err = err};
    char *buffer = malloc(BUFFER_SIZE + 1);
    if (!buffer)
        return errtext_set(err, ENOMEM, "%s: out of memory", r.name);
    int result = take_all(&r, buffer, fill, arg);
    int saved = errno;
    free(buffer);
    if (result < 0) {
        trace_clear(&r.trace);
        errno = saved;
        return -1;
    }
    if (r.trace.n > 0 && r.trace.n < r.capacity) {
        struct schedule_job *jobs = realloc(r.trace.jobs, r.trace.n * sizeof(*jobs));
        if (jobs)
            r.trace.jobs = jobs;
    }
    *trace = r.trace;
    return 0;
}

/* An error text has room for the end of a long path, but not for all of it. */
static const char *shown_name(const char *name)
{
    size_t length = strlen(name);
    return length > NAME_MAX_SHOWN ? name + length - NAME_MAX_SHOWN : name;
}

struct memory {
    const char *text;
    size_t left;
};

static ptrdiff_t fill_from_memory(void *arg, char *buffer, size_t size, berth_error_t *err)
{
    (void)err;
    struct memory *memory = arg;
    size_t n = memory->left < size ? memory->left : size;
    if (n > 0)
        memcpy(buffer, memory->text, n);
    memory->text += n;
    memory->left -= n;
    return (ptrdiff_t)n;
}

int swf_parse(const char *name, const char *text, size_t length, const struct swf_options *options,
              struct trace *trace, berth_error_t *err)
{
    struct memory memory = {text, length};
    return read_from(shown_name(name), fill_from_memory, &memory, options, trace, err);
}

struct file {
    const char *name;
    gzFile gz; /* inflates gzipped files and passes others on */
};

static ptrdiff_t fill_from_file(void *arg, char *buffer, size_t size, berth_error_t *err)
{
    struct file *file = arg;
    errno = 0;
    int n = gzread(file->gz, buffer, (unsigned)size);
    int saved = errno;
    int code = Z_OK;
    const char *text = gzerror(file->gz, &code);
    const char *after_name = strstr(text, ": ");
    if (code == Z_ERRNO) {
        int errnum = saved ? saved : EIO;
        return errtext_set(err, errnum, "%s: %s", file->name, strerror(errnum));
    }
    if (code == Z_MEM_ERROR)
        return errtext_set(err, ENOMEM, "%s: out of memory", file->name);
    /* a file that ends in the middle of a stream leaves Z_BUF_ERROR behind its last bytes */
    if (n < 0 || (code == Z_BUF_ERROR && (size_t)n < size))
        return errtext_set(err, EINVAL, "%s: damaged gzip file: %s", file->name,
                           code == Z_BUF_ERROR ? "ends too early"
                           : after_name        ? after_name + 2
                                               : text);
    return n;
}

/* Damage can inflate to something that looks like a bad line. The checksum at the end of the file tells: read
 * on to it, and report the damage instead.
 */
static void blame_damage(struct file *file, berth_error_t *err)
{
    char scratch[4096];
    while (fill_from_file(file, scratch, sizeof(scratch), err) > 0)
        ;
}

int swf_read(const char *path, const struct swf_options *options, struct trace *trace,
             berth_error_t *err)
{
    bool standard_input = strcmp(path, "-") == 0;
    struct file file = {.name = standard_input ? "standard input" : shown_name(path)};
    int fd =
        standard_input ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errtext_set(err, errno, "%s: %s", file.name, strerror(errno));
    file.gz = gzdopen(fd, "rb");
    if (!file.gz) {
        close(fd);
        return errtext_set(err, ENOMEM, "%s: out of memory", file.name);
    }
    gzbuffer(file.gz, SWF_LINE_MAX);
    int result = read_from(file.name, fill_from_file, &file, options, trace, err);
    int saved = errno;
    if (result < 0 && saved == EINVAL && !gzdirect(file.gz))
        blame_damage(&file, err);
    gzclose_r(file.gz);
    errno = saved;
    return result;
}
