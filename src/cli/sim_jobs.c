/* The jobs of a scenario as a table or JSON. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "base/strbuf.h"
#include "cli/sim_scenario.h"
#include "config/seconds.h"

enum { COLUMNS = 9, LAST = COLUMNS - 1 };

static const char *const heads[COLUMNS] = {"job",   "queue", "user", "state",    "submit",
                                           "start", "end",   "wait", "resources"};
static const bool is_number[COLUMNS] = {[4] = true, [5] = true, [6] = true, [7] = true};

static int no_memory(berth_error_t *err)
{
    return errtext_set(err, ENOMEM, "out of memory");
}

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
    const char *const texts[4] = {row->name, row->queue, row->user, row->state};
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

static void widen(const char *cells, int *width)
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
    printf("%s: %zu job%s, until %s s, %" PRIu64 " passes\n", name, play_jobs(p),
           play_jobs(p) == 1 ? "" : "s", strbuf_text(&now), play_passes(p));
    strbuf_clear(&now);
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
                return no_memory(err);
            }
            if (printing)
                print_cells(cells.data, width);
            else
                widen(cells.data, width);
        }
    }
    strbuf_clear(&cells);
    return 0;
}

static void put_member(struct strbuf *out, const char *key, const char *text)
{
    strbuf_puts(out, ", \"");
    strbuf_puts(out, key);
    strbuf_puts(out, "\": ");
    strbuf_put_json(out, text, strlen(text));
}

static void put_time_member(struct strbuf *out, const char *key, int64_t ticks)
{
    strbuf_puts(out, ", \"");
    strbuf_puts(out, key);
    strbuf_puts(out, "\": ");
    if (ticks < 0)
        strbuf_puts(out, "null");
    else
        seconds_put(out, ticks);
}

static void put_object(struct strbuf *out, const struct play_row *row)
{
    strbuf_reset(out);
    strbuf_puts(out, "{\"job\": ");
    strbuf_put_json(out, row->name, strlen(row->name));
    put_member(out, "queue", row->queue);
    put_member(out, "user", row->user);
    put_member(out, "state", row->state);
    put_time_member(out, "submit", row->submit);
    put_time_member(out, "start", row->start);
    put_time_member(out, "end", row->end);
    put_member(out, "how", row->how);
    put_member(out, "resources", row->resources);
    put_member(out, "reason", row->reason);
    strbuf_putc(out, '}');
}

static int print_json(struct play *p, const char *name, berth_error_t *err)
{
    struct strbuf text = {0};
    strbuf_puts(&text, "{\"scenario\": ");
    strbuf_put_json(&text, name, strlen(name));
    put_time_member(&text, "now", play_now(p));
    strbuf_puts(&text, ", \"passes\": ");
    strbuf_put_uint(&text, play_passes(p));
    strbuf_puts(&text, ", \"unmet\": ");
    strbuf_put_uint(&text, play_unmet(p));
    printf("%s, \"jobs\": [", strbuf_text(&text));
    for (size_t i = 0; i < play_jobs(p); i++) {
        struct play_row row;
        int rc = play_row(p, i, &row);
        put_object(&text, &row);
        if (rc < 0 || text.failed) {
            strbuf_clear(&text);
            return no_memory(err);
        }
        printf("%s\n  %s", i > 0 ? "," : "", strbuf_text(&text));
    }
    strbuf_clear(&text);
    puts(play_jobs(p) > 0 ? "\n]}" : "]}");
    return 0;
}

int sim_jobs_print(struct play *p, const char *name, bool json, berth_error_t *err)
{
    return json ? print_json(p, name, err) : print_table(p, name, err);
}
