#include "cli/client/listing.h"

#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/errtext.h"
#include "base/idset.h"
#include "berth/sched_reason.h"
#include "cli/client/connection.h"
#include "cli/client/terminal.h"
#include "cli/client/when.h"
#include "cli/verb.h"
#include "config/seconds.h"
#include "report/reason_words.h"

#define MEMBERS_SHOWN 32 /* bytes of their indices in a table */

struct listing {
    struct table table;
    const struct listing_style *style;
    double now;
    bool any, in_order; /* in_order: rows come as they are to be printed */
};

static int64_t member_of(const struct fields *job)
{
    int64_t member;
    return fields_whole(job, "member", &member) ? member : -1;
}

const char *const listing_states[LISTING_STATES] = {"pending", "held",      "running", "done",
                                                    "failed",  "cancelled", "timeout"};

char *listing_counts(const int64_t *counts, char text[LISTING_STATE_SIZE])
{
    size_t n = 0, kinds = 0;

    for (int i = 0; i < LISTING_STATES; i++)
        kinds += counts[i] > 0;
    text[0] = '\0';
    for (int i = 0; i < LISTING_STATES; i++) {
        if (counts[i] <= 0)
            continue;
        if (kinds == 1)
            n += (size_t)snprintf(text + n, LISTING_STATE_SIZE - n, "%s", listing_states[i]);
        else
            n += (size_t)snprintf(text + n, LISTING_STATE_SIZE - n, "%s%lld %s", n ? ", " : "",
                                  (long long)counts[i], listing_states[i]);
    }
    return text;
}

bool listing_summary(const struct fields *job, char text[LISTING_STATE_SIZE])
{
    int64_t counts[LISTING_STATES] = {0};
    struct fields summary;

    if (!fields_inside(job, "summary", &summary))
        return false;
    for (int i = 0; i < LISTING_STATES; i++)
        if (!fields_whole(&summary, listing_states[i], &counts[i]))
            counts[i] = 0;
    listing_counts(counts, text);
    return true;
}

bool listing_state(struct table *table, const struct fields *job)
{
    char text[LISTING_STATE_SIZE];
    int64_t counts[LISTING_STATES] = {0};
    struct fields summary;

    if (!fields_inside(job, "summary", &summary)) {
        listing_text(table, job, "state");
        return strcmp(strbuf_text(&table->cell), "pending") == 0;
    }
    for (int i = 0; i < LISTING_STATES; i++)
        if (!fields_whole(&summary, listing_states[i], &counts[i]))
            counts[i] = 0;
    table_cell(table, listing_counts(counts, text));
    return counts[0] > 0;
}

bool listing_states_are(const char *list, int from, int to)
{
    for (const char *at = list; *at; at += *at == ',') {
        size_t n = strcspn(at, ",");
        int i = from;
        while (i < to && (strlen(listing_states[i]) != n || strncasecmp(at, listing_states[i], n)))
            i++;
        if (i == to)
            return false;
        at += n;
    }
    return *list != '\0';
}

static bool is_listed(const char *list, const char *word)
{
    for (size_t n, length = strlen(word); *list; list += n + (list[n] == ',')) {
        n = strcspn(list, ",");
        if (n == length && strncasecmp(list, word, n) == 0)
            return true;
    }
    return false;
}

/* Append the members that the row of an array is about: those in the states that were asked for; without
 * such, those that wait, or else that run, or else all. Where memory is short, none.
 */
static void put_shown(struct strbuf *out, const struct fields *job, const struct fields *ranges,
                      const char *states)
{
    struct idset shown = {0}, some = {0};
    struct strbuf text = {0};

    for (int i = 0; i < LISTING_STATES; i++) {
        if (states ? !is_listed(states, listing_states[i]) : i > 2 || shown.n > 0)
            continue;
        fields_text(ranges, listing_states[i], &text);
        idset_reset(&some);
        if (idset_decode_steps(&some, strbuf_text(&text), text.len, NULL) == 0)
            idset_unite(&shown, &some);
    }
    if (shown.n > 0)
        idset_encode_steps(&shown, out);
    else
        strbuf_puts(out, fields_text(job, "indices", &text));
    idset_clear(&shown);
    idset_clear(&some);
    strbuf_clear(&text);
}

/* "28[5-99]", cut at a comma if they are many. False: it is no array as a whole. */
static bool put_listed_members(struct strbuf *out, const struct fields *job, int64_t id,
                               const char *states)
{
    struct strbuf text = {0};
    struct fields ranges;

    if (!fields_inside(job, "ranges", &ranges))
        return false;
    put_shown(&text, job, &ranges, states);
    const char *comma = text.len > MEMBERS_SHOWN ? memrchr(text.data, ',', MEMBERS_SHOWN) : NULL;
    strbuf_reset(out);
    strbuf_put_int(out, id);
    strbuf_putc(out, '[');
    strbuf_put(out, text.data, comma ? (size_t)(comma - text.data) : text.len);
    strbuf_puts(out, comma ? ",...]" : "]");
    strbuf_clear(&text);
    return true;
}

void listing_put_id(struct strbuf *out, const struct fields *job, const char *states)
{
    char text[JOB_ID_SIZE];
    int64_t id = 0;

    fields_whole(job, "id", &id);
    if (put_listed_members(out, job, id, states))
        return;
    strbuf_reset(out);
    strbuf_puts(out, job_id_text(id, member_of(job), text));
}

void listing_id(struct table *table, const struct fields *job, const char *states)
{
    listing_put_id(&table->cell, job, states);
    table_cell(table, strbuf_text(&table->cell));
}

void listing_own(struct strbuf *path)
{
    char uid[24];
    const struct passwd *user = getpwuid(geteuid());
    snprintf(uid, sizeof(uid), "%lu", (unsigned long)geteuid());
    route_query(path, "user", user ? user->pw_name : uid);
}

void listing_text(struct table *table, const struct fields *job, const char *key)
{
    table_cell(table, fields_text(job, key, &table->cell));
}

bool listing_limit(struct strbuf *path, const char *text)
{
    size_t digits = strspn(text, "0123456789");

    if (digits == 0 || text[digits] || digits > 18)
        return false;
    if (strspn(text, "0") < digits)
        route_query(path, "limit", text);
    return true;
}

/* The server tells of a time in seconds. */
void listing_put_reason(struct strbuf *out, const char *text)
{
    char read[SCHED_REASON_TEXT], when[WHEN_SIZE], told[WHEN_SIZE + SCHED_REASON_TEXT];
    struct sched_reason reason;

    snprintf(read, sizeof(read), "%s", text);
    sched_reason_read(&reason, read, SECONDS_TICKS);
    double at = (double)reason.at / (double)SECONDS_TICKS;
    when_put(at, when);
    if (reason.kind == SCHED_REASON_BEGIN)
        snprintf(told, sizeof(told), "%s %s", "begin", when);
    else if (reason.kind == SCHED_REASON_SET_ASIDE && when_is_far(at))
        snprintf(told, sizeof(told), "block %.60s", reason.block);
    else if (reason.kind == SCHED_REASON_SET_ASIDE)
        snprintf(told, sizeof(told), "block %.60s until %s", reason.block, when);
    else if (reason_put_short(out, &reason))
        return;
    else
        snprintf(told, sizeof(told), "%s", text);
    strbuf_puts(out, told);
}

void listing_reason(struct table *table, const struct fields *job)
{
    struct strbuf words = {0};
    listing_put_reason(&words, fields_text(job, "reason", &table->cell));
    table_cell(table, strbuf_text(&words));
    strbuf_clear(&words);
}

void listing_count(struct table *table, const struct fields *job, const char *key)
{
    int64_t number;

    if (fields_whole(job, key, &number))
        table_number(table, number);
    else
        table_cell(table, "");
}

void listing_gpus(struct table *table, const struct fields *job)
{
    double bytes = fields_number(job, "gpu_memory");
    int64_t whole = 0, mib = bytes > 0 ? (int64_t)(bytes / 1048576) : 0;
    char text[32];

    if (mib == 0 || (fields_whole(job, "gpus", &whole) && whole > 0)) {
        listing_count(table, job, "gpus");
        return;
    }
    snprintf(text, sizeof(text), "%" PRId64 "%c", mib % 1024 == 0 ? mib / 1024 : mib,
             mib % 1024 == 0 ? 'G' : 'M');
    table_cell(table, text);
}

static bool is_job_listed(const struct listing *l, const struct fields *job)
{
    int64_t id = 0;
    return !l->style->only ||
           (fields_whole(job, "id", &id) && ids_has(l->style->only, id, member_of(job)));
}

static bool is_chosen(const struct listing_style *style)
{
    return style->chosen && style->chosen->n > 0;
}

static bool is_csv(const struct listing_style *style)
{
    return is_chosen(style) && style->chosen->csv && !style->json;
}

static bool is_sorted(const struct listing_style *style)
{
    return style->sorted && style->sorted->key;
}

static int put_listing_row(void *context, const char *text, size_t length)
{
    struct listing *l = context;
    struct fields job;
    bool waits = is_sorted(l->style) && !l->in_order; /* until the others are known */

    if ((!l->style->json || l->style->only || waits) && !fields_find(&job, text, length)) {
        errno = EPROTO;
        return -1;
    }
    if (!is_job_listed(l, &job))
        return 0;
    if (waits)
        return sorted_take(l->style->sorted, &job, text, length);
    if (is_csv(l->style)) {
        chosen_put_line(l->style->chosen, &job, l->style->states);
        l->any = true;
        return ferror(stdout) ? -1 : 0;
    }
    if (!l->style->json && is_chosen(l->style)) {
        chosen_put_row(l->style->chosen, &l->table, &job, l->style->states);
        l->any = true;
        return 0;
    }
    if (!l->style->json) {
        l->style->row(&l->table, &job, l->style->states, l->now);
        l->any = true;
        return 0;
    }
    /* JSON is passed on as it is. */
    fputs(l->any ? ",\n" : "[\n", stdout);
    l->any = true;
    return fwrite(text, 1, length, stdout) == length ? 0 : -1;
}

/* Of a list without rows: whether the queue is there whose jobs were asked for. */
static int check_queue(struct connection *connection, const char *name, berth_error_t *err)
{
    json_t *answer = NULL;
    const json_t *queue;
    bool found = false;
    size_t i;
    if (connection_ask(connection, "GET", "/v1/queues", NULL, &answer, err) < 0)
        return -1;
    json_array_foreach (json_object_get(answer, "queues"), i, queue) {
        found = found || strcmp(answer_text(queue, "name"), name) == 0;
    }
    json_decref(answer);
    return found ? 0 : errtext_set(err, ENOENT, "there is no queue \"%.100s\"", name);
}

static int put_sorted(struct listing *l, berth_error_t *err)
{
    int rc = sorted_each(l->style->sorted, put_listing_row, l);
    return rc == 0 ? 0 : errtext_set(err, errno, "%s", strerror(errno));
}

int listing_print(struct connection *connection, const char *path,
                  const struct listing_style *style)
{
    struct listing l = {.style = style};
    struct timespec now;
    berth_error_t err;

    clock_gettime(CLOCK_REALTIME, &now);
    l.now = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
    table_begin(&l.table, stdout, is_chosen(style) ? style->chosen->column : style->columns);
    l.table.leave = is_chosen(style) ? NULL : style->leave;
    l.table.headless = style->headless || is_csv(style);
    if (is_csv(style) && !style->headless)
        chosen_put_heads(style->chosen);
    int rc = connection_list(connection, path, put_listing_row, &l, &err);
    l.in_order = true;
    if (rc == 0 && is_sorted(style))
        rc = put_sorted(&l, &err);
    if (rc == 0 && style->queue && !l.any)
        rc = check_queue(connection, style->queue, &err);
    if (rc == 0 && style->only && !l.any)
        rc = errtext_set(&err, ENOENT, "there is no such job");
    else if (rc == 0 && style->json)
        fputs(l.any ? "\n]\n" : "[]\n", stdout);
    if (!style->json && rc == 0 && !table_end(&l.table))
        rc = errtext_no_memory(&err);
    table_clear(&l.table);
    return rc < 0 ? connection_failed(connection, &err) : CLI_OK;
}
