/* berth top: jobs, nodes, queues and shares as they change, and keys to hold, cancel and explain. */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/client/connection.h"
#include "cli/option_table.h"
#include "cli/top/screen.h"
#include "cli/top/view.h"
#include "cli/verb.h"

#define WAIT_MS 1000 /* between looks where nothing happens: times go on */
#define REST_MS 100  /* between looks where much happens */
#define AROUND  4    /* rows that are not the table's: two above, a blank one, the keys */

const struct option_table top_options = {
    .verb = "top",
    .usage = "usage: berth top\n"
             "Show jobs, nodes, queues and shares as they change.\n"
             "Keys:\n"
             "  1 2 3 4, Tab   jobs, nodes, queues, shares\n"
             "  up, down, k j  choose a job; Page Up and Page Down as well\n"
             "  e              explain why it waits\n"
             "  h, r           hold it, release it\n"
             "  c              cancel it, after a 'y'\n"
             "  q, Ctrl-C      leave\n"
             "Options:\n",
    .notes = "Exit status: 0 left, 1 failed, 2 wrong command line.\n"
             "Example: berth top\n"
             "Manual: man berth-top\n"};

struct top {
    struct connection connection;
    struct client_stream *events; /* NULL: none now */
    bool changed;                 /* there were events since the last look */
    enum view_kind kind;
    struct view view;
    size_t chosen, first; /* of the jobs: the chosen one, the first on the screen */
    int64_t asked;        /* the job that is cancelled if 'y' follows; 0: none */
    bool over;
    char message[2000]; /* instead of the keys, or below the table; "": none */
    bool away;          /* the message says that the server is */
    bool is_long;       /* it takes the place of the table, until the next key */
};

static int note_event(void *context, long status, const char *bytes, size_t n)
{
    struct top *t = context;
    (void)status;
    (void)bytes;
    (void)n;
    t->changed = true;
    return 0;
}

static void follow_events(struct top *t)
{
    struct client_taker taker = {t, note_event};
    berth_error_t err;
    if (!t->events)
        t->events = client_follow(t->connection.client, "/v1/events?follow=1", &taker, &err);
}

/* ---- Drawing ---- */

static size_t table_rows(size_t rows)
{
    return rows > AROUND + 1 ? rows - AROUND - 1 : 1;
}

/* Keep the chosen job one that is there, and on the screen. */
static void scroll(struct top *t, size_t rows)
{
    size_t n = t->view.n > 0 ? t->view.n - 1 : 0;
    if (t->chosen >= n)
        t->chosen = n > 0 ? n - 1 : 0;
    if (t->chosen < t->first)
        t->first = t->chosen;
    if (t->chosen >= t->first + rows)
        t->first = t->chosen - rows + 1;
}

static void draw_head(const struct top *t, struct strbuf *frame, size_t columns)
{
    struct strbuf line = {0};
    char clock[16];
    time_t now = time(NULL);
    struct tm local;
    if (!localtime_r(&now, &local) || strftime(clock, sizeof(clock), "%H:%M:%S", &local) == 0)
        *clock = '\0';
    strbuf_puts(&line, "berth ");
    strbuf_puts(&line, clock);
    strbuf_puts(&line, "   ");
    strbuf_puts(&line, t->view.summary);
    screen_line(frame, strbuf_text(&line), columns, "");
    strbuf_reset(&line);
    for (int i = 0; i < VIEWS; i++) {
        strbuf_puts(&line, i == (int)t->kind ? "[" : " ");
        strbuf_putc(&line, (char)('1' + i));
        strbuf_putc(&line, ' ');
        strbuf_puts(&line, view_names[i]);
        strbuf_puts(&line, i == (int)t->kind ? "] " : "  ");
    }
    screen_line(frame, strbuf_text(&line), columns, "");
    strbuf_clear(&line);
}

static void draw_table(struct top *t, struct strbuf *frame, size_t rows, size_t columns)
{
    bool jobs = t->kind == VIEW_JOBS;
    size_t there = table_rows(rows);
    scroll(t, there);
    if (t->view.n > 0)
        screen_line(frame, t->view.line[0], columns, "1");
    for (size_t i = 0; i < there && t->first + i + 1 < t->view.n; i++)
        screen_line(frame, t->view.line[t->first + i + 1], columns,
                    jobs && t->first + i == t->chosen ? "7" : "");
}

/* A text over several lines, broken at blanks. */
static void draw_text(struct strbuf *frame, const char *text, size_t rows, size_t columns)
{
    char line[512];
    size_t width = columns < sizeof(line) ? columns : sizeof(line) - 1;
    for (size_t i = 0; i < table_rows(rows) && *text; i++) {
        size_t n = strcspn(text, "\n");
        if (n > width) {
            const char *blank = memrchr(text, ' ', width);
            n = blank && blank > text ? (size_t)(blank - text) : width;
        }
        memcpy(line, text, n);
        line[n] = '\0';
        screen_line(frame, line, columns, "");
        text += n;
        text += *text == ' ' || *text == '\n';
    }
}

static void draw(struct top *t)
{
    static const char keys[] = "e explain  h hold  r release  c cancel  1-4 views  q leave";
    struct strbuf frame = {0};
    size_t rows, columns;
    screen_size(&rows, &columns);
    draw_head(t, &frame, columns);
    if (t->is_long)
        draw_text(&frame, t->message, rows, columns);
    else
        draw_table(t, &frame, rows, columns);
    screen_line(&frame, "", columns, "");
    screen_line(&frame, *t->message && !t->is_long ? t->message : keys, columns, "1");
    screen_show(&frame);
    strbuf_clear(&frame);
}

/* ---- Keys ---- */

static int64_t chosen_job(const struct top *t)
{
    return t->kind == VIEW_JOBS && t->chosen < t->view.n_ids ? t->view.id[t->chosen] : 0;
}

static void say_in_top(struct top *t, const char *text)
{
    snprintf(t->message, sizeof(t->message), "%s", text);
}

/* POST /v1/jobs/VERB of one job. */
static void change_job(struct top *t, const char *verb, int64_t id)
{
    char path[32], word[24];
    berth_error_t err;
    json_t *answer = NULL;
    snprintf(path, sizeof(path), "/v1/jobs/%s", verb);
    snprintf(word, sizeof(word), "%" PRId64, id);
    json_t *body = json_pack("{s:{s:[s]}}", "jobs", "ids", word);
    int rc = connection_ask(&t->connection, "POST", path, body, &answer, &err);
    const json_t *refused = json_array_get(json_object_get(answer, "refused"), 0);
    if (rc < 0)
        say_in_top(t, err.text);
    else if (refused)
        say_in_top(t, answer_text(json_object_get(refused, "error"), "message"));
    else
        snprintf(t->message, sizeof(t->message), "%s %" PRId64 ": done", verb, id);
    json_decref(body);
    json_decref(answer);
    t->changed = true;
}

static void explain(struct top *t, int64_t id)
{
    struct strbuf path = {0};
    berth_error_t err;
    json_t *answer = NULL;
    route_job(&path, id, -1, "/explain");
    if (connection_ask(&t->connection, "GET", strbuf_text(&path), NULL, &answer, &err) < 0)
        say_in_top(t, err.text);
    else
        snprintf(t->message, sizeof(t->message), "Job %" PRId64 ": %s", id,
                 answer_text(answer, "text"));
    t->is_long = true;
    json_decref(answer);
    strbuf_clear(&path);
}

static void show_view(struct top *t, enum view_kind kind)
{
    t->kind = kind;
    t->chosen = t->first = 0;
    t->changed = true;
    view_clear(&t->view);
}

static void ask_cancel(struct top *t, int64_t id)
{
    t->asked = id;
    snprintf(t->message, sizeof(t->message), "cancel job %" PRId64 "? y", id);
}

/* What the keys do that concern the chosen job. */
static void take_job_key(struct top *t, int key)
{
    int64_t id = chosen_job(t);
    if (id == 0)
        return;
    if (key == 'e')
        explain(t, id);
    else if (key == 'h')
        change_job(t, "hold", id);
    else if (key == 'r')
        change_job(t, "release", id);
    else if (key == 'c')
        ask_cancel(t, id);
}

static void take_key(struct top *t, int key)
{
    size_t rows, columns;
    int64_t asked = t->asked;
    screen_size(&rows, &columns);
    t->asked = 0;
    t->message[0] = '\0';
    t->is_long = false;
    if (asked != 0 && key == 'y')
        change_job(t, "cancel", asked);
    else if (key == 'q' || key < 0)
        t->over = true;
    else if (key >= '1' && key < '1' + VIEWS)
        show_view(t, (enum view_kind)(key - '1'));
    else if (key == '\t')
        show_view(t, (enum view_kind)(((int)t->kind + 1) % VIEWS));
    else if (key == KEY_UP || key == 'k')
        t->chosen -= t->chosen > 0;
    else if (key == KEY_DOWN || key == 'j')
        t->chosen++;
    else if (key == KEY_PAGE_UP)
        t->chosen -= t->chosen < table_rows(rows) ? t->chosen : table_rows(rows);
    else if (key == KEY_PAGE_DOWN)
        t->chosen += table_rows(rows);
    else
        take_job_key(t, key);
    scroll(t, table_rows(rows));
}

/* ---- The loop ---- */

/* Ask for everything again. While the server is away, what was last there stays, with a word of it. */
static void look_at_everything(struct top *t)
{
    size_t rows, columns;
    berth_error_t err;
    screen_size(&rows, &columns);
    t->changed = false;
    bool away = view_read(&t->view, &t->connection, t->kind, columns, &err) < 0;
    if (!t->is_long && (away || t->away))
        say_in_top(t, away ? err.text : "");
    t->away = away;
}

/* Wait for keys, events or the next second. */
static void wait_for_more(struct top *t)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    berth_error_t err;
    long status;
    follow_events(t);
    if (t->events && client_wait(t->events, &in, 1, WAIT_MS, &status, &err) == 1)
        return;
    client_end(t->events); /* the server is away */
    t->events = NULL;
    poll(&in, 1, WAIT_MS);
}

static void run_top(struct top *t)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    look_at_everything(t);
    while (!t->over && !screen_is_over()) {
        int key;
        draw(t);
        wait_for_more(t);
        while (!t->over && (key = screen_key()) != KEY_NONE)
            take_key(t, key);
        if (t->changed) /* a key is answered at once */
            poll(&in, 1, REST_MS);
        look_at_everything(t);
    }
}

int cli_top(int argc, char **argv)
{
    struct top t = {.events = NULL};
    berth_error_t err;
    int status = CLI_OK;
    if (option_none(&top_options, argc, argv, &status))
        return status;
    if (optind < argc)
        return cli_usage("top", "takes no argument, got '%s'", argv[optind]);
    if (connection_open(&t.connection, "top", &err) < 0 ||
        connection_ask(&t.connection, "GET", "/v1/server", NULL, NULL, &err) < 0) {
        status = connection_failed(&t.connection, &err);
    } else if (!screen_open()) {
        fputs("berth top: standard input and output are no terminal; 'berth jobs' prints a list\n",
              stderr);
        status = CLI_FAILED;
    } else {
        run_top(&t);
        screen_close();
    }
    client_end(t.events);
    view_clear(&t.view);
    connection_close(&t.connection);
    return status;
}
