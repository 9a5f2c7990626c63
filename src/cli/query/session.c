#include "cli/query/session.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "report/report.h"

void session_init(struct session *s)
{
    memset(s, 0, sizeof(*s));
    s->out = s->info = stdout;
    s->err = stderr;
    s->format = "simple";
    s->next_id = 1;
}

void session_clear(struct session *s)
{
    match_destroy(s->machine);
    free(s->jobs);
    intern_clear(&s->files);
    text_clear(&s->text);
    words_clear(&s->words);
    memset(s, 0, sizeof(*s));
}

void session_flush(void *session)
{
    struct session *s = session;
    fflush(s->out);
    if (s->info != s->out)
        fflush(s->info);
}

void session_error(struct session *s, const char *format, ...)
{
    char *text, *clean = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        text = NULL;
    va_end(args);
    session_flush(s);
    /* The text quotes words of the command, which may contain anything. */
    if (text)
        clean = report_clean_text(text);
    fprintf(s->err, "%s\n", clean ? clean : "ERROR: out of memory");
    free(clean);
    free(text);
}

int session_read(struct session *s, const char *path, size_t max)
{
    if (text_read(&s->text, path, max) == 0)
        return 0;
    session_error(s, "ERROR: can't open %s: %s", path, strerror(errno));
    return -1;
}

int session_tell(struct session *s)
{
    const char *text;
    size_t length;
    if (match_write(s->machine, s->format, &text, &length) < 0)
        return -1;
    if (length > 0)
        fwrite(text, 1, length, s->out);
    return 0;
}

struct job *session_job(struct session *s, int64_t id, size_t *place)
{
    size_t low = 0, high = s->njobs;
    /* Ids mostly ascend: first see whether it is a new one. */
    if (high > 0 && s->jobs[high - 1].id < id)
        low = high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->jobs[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    if (place)
        *place = low;
    return low < s->njobs && s->jobs[low].id == id ? &s->jobs[low] : NULL;
}

bool session_job_is_live(const struct job *job)
{
    return job && job->mode != JOB_CANCELED;
}

int session_add(struct session *s, const struct job *job, const char *file)
{
    size_t place;
    uint32_t number;
    if (intern_put(&s->files, file, strlen(file), &number) < 0)
        return -1;
    struct job *old = session_job(s, job->id, &place);
    if (!old && array_grow((void **)&s->jobs, &s->capacity, s->njobs + 1, sizeof(*s->jobs)) < 0)
        return -1;
    if (!old) {
        old = s->jobs + place;
        memmove(old + 1, old, (s->njobs++ - place) * sizeof(*old));
    }
    *old = *job;
    old->file = number;
    if (s->nmatched == 0 || job->seconds < s->least)
        s->least = job->seconds;
    if (s->nmatched == 0 || job->seconds > s->most)
        s->most = job->seconds;
    s->sum += job->seconds;
    s->nmatched++;
    return 0;
}

bool session_parse_id(const char *word, int64_t *id)
{
    if (*word < '0' || *word > '9')
        return false;
    char *end;
    errno = 0;
    long long value = strtoll(word, &end, 10);
    if (errno != 0 || *end)
        return false;
    *id = value;
    return true;
}

double session_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}
