#include "cli/report_sum.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/client/objects.h"

const char *const report_keys[REPORT_KEYS] = {"user", "account", "queue", "day", "week", "month"};

static bool is_period(enum report_key key)
{
    return key >= REPORT_DAY;
}

bool report_sum_by(struct report_sum *sum, const char *list)
{
    bool has_period = false;

    for (sum->n_keys = 0; *list; sum->n_keys++) {
        size_t n = strcspn(list, ","), key = 0;
        while (key < REPORT_KEYS &&
               (strlen(report_keys[key]) != n || strncmp(report_keys[key], list, n) != 0))
            key++;
        if (key == REPORT_KEYS || sum->n_keys == REPORT_KEYS_MAX ||
            (is_period((enum report_key)key) && has_period))
            return false;
        for (size_t i = 0; i < sum->n_keys; i++)
            if (sum->keys[i] == (enum report_key)key)
                return false;
        has_period = has_period || is_period((enum report_key)key);
        sum->keys[sum->n_keys] = (enum report_key)key;
        list += n;
        if (*list == ',' && !*++list)
            return false;
    }
    return sum->n_keys > 0;
}

/* ---- Periods ---- */

/* The beginning of the period that a time is in, and that of the next one: local midnights, Mondays for weeks. */
static time_t period_begin(enum report_key key, time_t at, time_t *next)
{
    struct tm tm;
    localtime_r(&at, &tm);
    tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
    tm.tm_isdst = -1;
    if (key == REPORT_WEEK)
        tm.tm_mday -= (tm.tm_wday + 6) % 7;
    else if (key == REPORT_MONTH)
        tm.tm_mday = 1;
    struct tm after = tm;
    time_t begin = mktime(&tm);
    after.tm_mday += key == REPORT_WEEK ? 7 : key == REPORT_DAY ? 1 : 0;
    after.tm_mon += key == REPORT_MONTH;
    *next = mktime(&after);
    return begin;
}

static void put_period(struct strbuf *out, enum report_key key, time_t begin)
{
    char text[32];
    struct tm tm;
    localtime_r(&begin, &tm);
    strftime(text, sizeof(text),
             key == REPORT_WEEK  ? "%G-W%V"
             : key == REPORT_DAY ? "%Y-%m-%d"
                                 : "%Y-%m",
             &tm);
    strbuf_puts(out, text);
}

/* ---- Rows ---- */

/* The row of a job in a period, which begins then. NULL with ENOMEM. */
static struct report_row *row_of(struct report_sum *sum, const struct fields *job, time_t begin)
{
    uint32_t id;

    strbuf_reset(&sum->text);
    for (size_t k = 0; k < sum->n_keys; k++) {
        enum report_key key = sum->keys[k];
        if (is_period(key))
            put_period(&sum->text, key, begin);
        else
            strbuf_puts(&sum->text, fields_text(job, report_keys[key], &sum->value));
        strbuf_putc(&sum->text, '\0');
    }
    if (sum->text.failed || intern_put(&sum->texts, sum->text.data, sum->text.len, &id) < 0) {
        errno = ENOMEM;
        return NULL;
    }
    if (id < sum->n)
        return &sum->rows[id];
    struct report_row *grown = reallocarray(sum->rows, sum->n + 1, sizeof(*grown));
    if (!grown)
        return NULL;
    sum->rows = grown;
    sum->rows[sum->n] = (struct report_row){.jobs = 0};
    return &sum->rows[sum->n++];
}

/* What a job used while it ran. */
struct used {
    double start, end;
    double cores, gpus, cpu_time; /* cpu_time of all; -1: unknown */
    bool failed, runs;
};

/* Add what it used from one time to another; the last piece counts the job itself. */
static int add_piece(struct report_sum *sum, const struct fields *job, const struct used *u,
                     double from, double to, time_t begin, bool is_last)
{
    struct report_row *row = row_of(sum, job, begin);
    if (!row)
        return -1;
    double part = u->end > u->start ? (to - from) / (u->end - u->start) : 1;
    row->core_time += u->cores * (to - from);
    row->gpu_time += u->gpus * (to - from);
    if (u->cpu_time >= 0) {
        row->cpu_time += u->cpu_time * part;
        row->measured += u->cores * (to - from);
    }
    row->jobs += is_last;
    row->failed += is_last && u->failed;
    return 0;
}

static enum report_key period_of(const struct report_sum *sum)
{
    for (size_t k = 0; k < sum->n_keys; k++)
        if (is_period(sum->keys[k]))
            return sum->keys[k];
    return REPORT_KEYS;
}

static int add_pieces(struct report_sum *sum, const struct fields *job, const struct used *u)
{
    enum report_key period = period_of(sum);
    double from = u->start > sum->since ? u->start : sum->since;
    double to = u->end < sum->until ? u->end : sum->until;
    bool ends_here = u->end <= sum->until && u->end >= sum->since;

    if (to < from || (to <= from && !ends_here))
        return 0;
    if (period == REPORT_KEYS)
        return add_piece(sum, job, u, from, to, 0, ends_here);
    for (;;) {
        time_t next, begin = period_begin(period, (time_t)from, &next);
        bool is_last = to <= (double)next;
        if (add_piece(sum, job, u, from, is_last ? to : (double)next, begin, is_last && ends_here) <
            0)
            return -1;
        if (is_last)
            return 0;
        from = (double)next;
    }
}

int report_sum_add(void *context, const char *text, size_t length)
{
    struct report_sum *sum = context;
    struct fields job;

    if (!fields_find(&job, text, length)) {
        errno = EPROTO;
        return -1;
    }
    const char *state = fields_text(&job, "state", &sum->value);
    struct used u = {.start = fields_number(&job, "start"),
                     .end = fields_number(&job, "end"),
                     .cores = fields_number(&job, "cores"),
                     .gpus = fields_number(&job, "gpus"),
                     .cpu_time = fields_number(&job, "cpu_time"),
                     .failed = strcmp(state, "failed") == 0 || strcmp(state, "timeout") == 0,
                     .runs = strcmp(state, "running") == 0};
    if (u.runs)
        u.end = sum->now;
    if (u.start < 0 || u.end < u.start)
        return 0; /* it never ran, or it is not ours to see */
    u.cores = u.cores > 0 ? u.cores : 0;
    u.gpus = u.gpus > 0 ? u.gpus : 0;
    return add_pieces(sum, &job, &u);
}

/* ---- Order ---- */

static int compare_rows(const void *a, const void *b, void *context)
{
    const struct report_row *x = a, *y = b;
    const struct report_sum *sum = context;

    for (size_t k = 0; k < sum->n_keys; k++) {
        int by = is_period(sum->keys[k]) ? strcmp(x->text[k], y->text[k]) : 0;
        if (by != 0)
            return by;
    }
    if (x->core_time < y->core_time || x->core_time > y->core_time)
        return x->core_time < y->core_time ? 1 : -1;
    for (size_t k = 0; k < sum->n_keys; k++) {
        int by = strcmp(x->text[k], y->text[k]);
        if (by != 0)
            return by;
    }
    return 0;
}

void report_sum_order(struct report_sum *sum)
{
    for (size_t i = 0; i < sum->n; i++) {
        const char *text = intern_text(&sum->texts, (uint32_t)i);
        for (size_t k = 0; k < sum->n_keys; k++) {
            sum->rows[i].text[k] = text;
            text += strlen(text) + 1;
        }
    }
    if (sum->n > 0)
        qsort_r(sum->rows, sum->n, sizeof(*sum->rows), compare_rows, sum);
}

void report_sum_clear(struct report_sum *sum)
{
    free(sum->rows);
    intern_clear(&sum->texts);
    strbuf_clear(&sum->text);
    strbuf_clear(&sum->value);
}
