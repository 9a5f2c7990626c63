/* The jobs of a scenario as a table or JSON. */
#include "cli/sim_jobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "base/json_out.h"
#include "config/seconds.h"
#include "report/json.h"

enum { COLUMNS = 9, LAST = COLUMNS - 1 };

static const char *const heads[COLUMNS] = {"job",   "queue", "user", "state",    "submit",
                                           "start", "end",   "wait", "resources"};
static const bool is_number[COLUMNS] = {[4] = true, [5] = true, [6] = true, [7] = true};

static void put_time(struct strbuf *out, int64_t ticks, bool guessed)
{
    if (ticks < 0) {
        strbuf_putc(out, '-');
        return;
    }
    if (guessed)
        strbuf_putc(out, '~');
    seconds_put(out, ticks);
}

/* The cells of a row, each with a terminator. */
static void put_cells(struct strbuf *out, const struct play_row *row)
{
    const char *const texts[4] = {row->name, row->queue, row->user,
                                  row->expected ? "expected" : row->state};
    strbuf_reset(out);
    for (int i = 0; i < 4; i++) {
        strbuf_puts(out, *texts[i] ? texts[i] : "-");
        strbuf_putc(out, '\0');
    }
    put_time(out, row->submit, false);
    strbuf_putc(out, '\0');
    put_time(out, row->start, row->waits);
    strbuf_putc(out, '\0');
    put_time(out, row->end, row->waits);
    strbuf_putc(out, '\0');
    put_time(out, row->start < 0 ? -1 : row->start - row->submit, row->waits);
    strbuf_putc(out, '\0');
    strbuf_puts(out, *row->resources ? row->resources : *row->reason ? "" : "-");
    if (*row->reason) {
        strbuf_puts(out, *row->resources ? " (" : "(");
        strbuf_puts(out, row->reason);
        strbuf_putc(out, ')');
    }
    strbuf_putc(out, '\0');
}

static void print_cells(const char *cells, const int *width)
{
    for (int i = 0; i < COLUMNS; i++) {
        if (i == LAST)
            printf("%s\n", cells);
        else
            printf("%*s  ", is_number[i] ? width[i] : -width[i], cells);
        cells += strlen(cells) + 1;
    }
}

static void widen_job_columns(const char *cells, int *width)
{
    for (int i = 0; i < COLUMNS; i++) {
        size_t length = strlen(cells);
        if (length < 200 && (int)length > width[i])
            width[i] = (int)length;
        cells += length + 1;
    }
}

static void print_summary(struct play *p, const char *name)
{
    struct strbuf now = {0};
    seconds_put(&now, play_now(p));
    printf("%s: %zu job%s, until %s s, %" PRIu64 " pass%s\n", name, play_jobs(p),
           play_jobs(p) == 1 ? "" : "s", strbuf_text(&now), play_passes(p),
           play_passes(p) == 1 ? "" : "es");
    strbuf_clear(&now);
    double lost;
    uint64_t preemptions = play_preemptions(p, &lost);
    if (preemptions > 0)
        printf("preemptions: %" PRIu64 ", with %.2f core hours lost\n", preemptions, lost / 3600);
    struct schedule_pilots pilots;
    if (play_pilots_sum(p, &pilots))
        printf("pilots: %" PRId64 " asked for, of %.2f node hours; had %.2f, used %.2f\n",
               pilots.pilots, pilots.asked / 3600, pilots.had / 3600, pilots.used / 3600);
}

static int print_table(struct play *p, const char *name, berth_error_t *err)
{
    struct strbuf cells = {0};
    int width[COLUMNS];
    for (int i = 0; i < COLUMNS; i++)
        width[i] = (int)strlen(heads[i]);
    print_summary(p, name);
    for (int printing = 0; printing < 2; printing++) {
        if (printing && play_jobs(p) > 0) {
            strbuf_reset(&cells);
            for (int i = 0; i < COLUMNS; i++)
                strbuf_put(&cells, heads[i], strlen(heads[i]) + 1);
            if (!cells.failed)
                print_cells(cells.data, width);
        }
        for (size_t i = 0; i < play_jobs(p); i++) {
            struct play_row row;
            int rc = play_row(p, i, &row);
            put_cells(&cells, &row);
            if (rc < 0 || cells.failed) {
                strbuf_clear(&cells);
                return errtext_no_memory(err);
            }
            if (printing)
                print_cells(cells.data, width);
            else
                widen_job_columns(cells.data, width);
        }
    }
    strbuf_clear(&cells);
    return 0;
}

static void put_object(struct json_out *out, const struct play_row *row)
{
    json_open(out, NULL, '{');
    json_put_string(out, "job", row->name);
    json_put_string(out, "queue", row->queue);
    json_put_string(out, "user", row->user);
    json_put_string(out, "state", row->state);
    json_put_seconds(out, "submit", row->submit);
    json_put_seconds(out, "start", row->start);
    if (row->expected)
        json_put_bool(out, "expected", true);
    json_put_seconds(out, "end", row->end);
    json_put_string(out, "how", row->how);
    json_put_string(out, "resources", row->resources);
    json_put_string(out, "reason", row->reason);
    json_close(out, '}');
}

int sim_print_text(struct strbuf *text)
{
    fputs(strbuf_text(text), stdout);
    bool failed = text->failed;
    strbuf_reset(text);
    return failed ? -1 : 0;
}

static void put_sharing(struct json_out *out, const struct sharing *sharing)
{
    json_t *object = json_of_sharing(sharing);
    char *text = object ? json_dumps(object, JSON_REAL_PRECISION(15)) : NULL;
    if (text)
        json_put_raw(out, "shares", text);
    else
        out->text->failed = true;
    free(text);
    json_decref(object);
}

static int print_json(struct play *p, const char *name, const struct sharing *sharing,
                      berth_error_t *err)
{
    struct strbuf text = {0};
    struct json_out out = {.text = &text, .spaced = true};
    int rc = 0;
    json_open(&out, NULL, '{');
    json_put_string(&out, "scenario", name);
    json_put_seconds(&out, "now", play_now(p));
    json_put_uint(&out, "passes", play_passes(p));
    json_put_uint(&out, "unmet", play_unmet(p));
    double lost;
    json_put_uint(&out, "preemptions", play_preemptions(p, &lost));
    json_put_seconds(&out, "work_lost_s", lost < 9e12 ? (int64_t)(lost * 1e6) : INT64_MAX);
    struct schedule_pilots pilots;
    if (play_pilots_sum(p, &pilots)) {
        json_open(&out, "pilots", '{');
        json_put_int(&out, "asked", pilots.pilots);
        json_put_seconds(&out, "asked_node_s", (int64_t)(pilots.asked * 1e6));
        json_put_seconds(&out, "had_node_s", (int64_t)(pilots.had * 1e6));
        json_put_seconds(&out, "used_node_s", (int64_t)(pilots.used * 1e6));
        json_close(&out, '}');
    }
    if (sharing)
        put_sharing(&out, sharing);
    json_open(&out, "jobs", '[');
    for (size_t i = 0; i < play_jobs(p) && rc == 0; i++) {
        struct play_row row;
        rc = play_row(p, i, &row);
        json_line(&out);
        strbuf_puts(&text, "  ");
        if (rc == 0)
            put_object(&out, &row);
        rc = rc < 0 ? rc : sim_print_text(&text);
    }
    strbuf_puts(&text, play_jobs(p) > 0 ? "\n]}\n" : "]}\n");
    rc = rc < 0 ? rc : sim_print_text(&text);
    strbuf_clear(&text);
    return rc < 0 ? errtext_no_memory(err) : 0;
}

int sim_jobs_print(struct play *p, const char *name, const struct sharing *sharing, bool json,
                   berth_error_t *err)
{
    return json ? print_json(p, name, sharing, err) : print_table(p, name, err);
}
