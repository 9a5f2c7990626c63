/* berth block: resources set aside for a time. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/client/connection.h"
#include "cli/client/terminal.h"
#include "cli/client/when.h"
#include "cli/option_table.h"
#include "cli/verb.h"
#include "config/quantity.h"

static const struct option_row rows[] = {
    {OPTION_LONG('s'), "start", "DATE",
     "2026-12-24T18:00 in local time, 18:00, +2h or @SECONDS; now if it is not given", NULL},
    {OPTION_LONG('e'), "end", "DATE", "when it ends; or, instead of that,", NULL},
    {OPTION_LONG('d'), "duration", "TIME", "how long it lasts: 90, 30m, 2h, 1d", NULL},
    {OPTION_LONG('v'), "every", "TIME",
     "it comes again, such as each 1d or 1w, until it is removed", NULL},
    {OPTION_LONG('p'), "permit", "WHOM",
     "jobs that may use it all the same: user:NAME, queue:NAME, job:ID; may be given several times",
     NULL},
    {OPTION_LONG('j'), "json", NULL, "print an array of objects", NULL},
    {0}};

const struct option_table block_options = {
    .verb = "block",
    .usage = "usage: berth block add [OPTION]... NAME RESOURCES\n"
             "       berth block list [--json]\n"
             "       berth block remove NAME\n"
             "Set resources aside for a time, for maintenance for example: jobs are planned\n"
             "around it, and those that run by then go on. RESOURCES are names such as\n"
             "node[0-3],node7, or all. Everybody may list blocks; only administrators may add\n"
             "them, and remove those that were added.\n",
    .rows = rows,
    .notes = "Exit status: 0 done, 1 failed, 2 wrong command line.\n"
             "Example: berth block add disks node[0-3] --start 2026-12-24T18:00 --duration 4h\n"
             "Manual: man berth-block\n",
    .complete = "add list remove @block"};

/* What a command line asks for. */
struct asked {
    json_t *body;
    bool json, has_options; /* options of add are among them */
};

/* ---- add ---- */

static int take_date(json_t *body, const char *key)
{
    double at;
    if (when_read(optarg, time(NULL), &at) < 0)
        return cli_usage("block",
                         "--%s is '%s', expected a date such as 2026-12-24T18:00, 18:00, +2h or "
                         "@SECONDS",
                         key, optarg);
    return json_object_set_new(body, key, json_real(at));
}

static int take_span(json_t *body, const char *key)
{
    int64_t us;
    if (quantity_duration(optarg, &us) < 0 || us == 0)
        return cli_usage("block", "--%s is '%s', expected a duration such as 90, 2h, 1d or 1w", key,
                         optarg);
    return json_object_set_new(body, key, json_real((double)us / 1e6));
}

/* "user:ann" joins the list of users. */
static int take_permit(json_t *body)
{
    static const struct {
        const char *word, *key;
    } kinds[] = {{"user:", "users"}, {"queue:", "queues"}, {"job:", "jobs"}};
    json_t *whom = json_object_get(body, "for");
    if (!whom && json_object_set_new(body, "for", json_object()) == 0)
        whom = json_object_get(body, "for");
    for (size_t i = 0; whom && i < sizeof(kinds) / sizeof(*kinds); i++) {
        size_t n = strlen(kinds[i].word);
        if (strncmp(optarg, kinds[i].word, n) != 0 || !optarg[n])
            continue;
        json_t *list = json_object_get(whom, kinds[i].key);
        if (!list && json_object_set_new(whom, kinds[i].key, json_array()) == 0)
            list = json_object_get(whom, kinds[i].key);
        return json_array_append_new(list, json_string(optarg + n)) < 0
                   ? cli_usage("block", "--permit is not UTF-8")
                   : 0;
    }
    return cli_usage("block", "--permit is '%s', expected user:NAME, queue:NAME or job:ID", optarg);
}

static int take_block_option(struct asked *a, int c)
{
    a->has_options = a->has_options || c != OPTION_LONG('j');
    switch (c) {
    case OPTION_LONG('s'):
        return take_date(a->body, "start");
    case OPTION_LONG('e'):
        return take_date(a->body, "end");
    case OPTION_LONG('d'):
        return take_span(a->body, "duration");
    case OPTION_LONG('v'):
        return take_span(a->body, "every");
    case OPTION_LONG('p'):
        return take_permit(a->body);
    default:
        a->json = true;
        return 0;
    }
}

static int change_blocks(const char *method, const char *path, const json_t *body)
{
    struct connection connection;
    berth_error_t err;
    int status = CLI_OK;
    if (connection_open(&connection, "block", &err) < 0 ||
        connection_ask(&connection, method, path, body, NULL, &err) < 0)
        status = connection_failed(&connection, &err);
    connection_close(&connection);
    return status;
}

static int add_block(struct asked *a, char **words, int n)
{
    bool has_end = json_object_get(a->body, "end") != NULL;
    if (n != 2 || a->json)
        return cli_usage("block", "add takes a name and resources");
    if (has_end == (json_object_get(a->body, "duration") != NULL))
        return cli_usage("block", "add takes --end or --duration, %s",
                         has_end ? "not both" : "got neither");
    if (json_object_set_new(a->body, "name", json_string(words[0])) < 0 ||
        json_object_set_new(a->body, "resources", json_string(words[1])) < 0)
        return cli_usage("block", "name and resources are not UTF-8");
    return change_blocks("POST", "/v1/blocks", a->body);
}

/* ---- remove ---- */

/* What a path may not have as it is becomes "%41". */
static void put_escaped(struct strbuf *path, const char *name)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    static const char digits[] = "0123456789ABCDEF";
    for (const char *c = name; *c; c++) {
        if (strchr(plain, *c)) {
            strbuf_putc(path, *c);
            continue;
        }
        strbuf_putc(path, '%');
        strbuf_putc(path, digits[(unsigned char)*c >> 4]);
        strbuf_putc(path, digits[*c & 15]);
    }
}

static int remove_block(struct asked *a, char **words, int n)
{
    struct strbuf path = {0};
    if (n != 1 || !*words[0] || a->json || a->has_options)
        return cli_usage("block", "remove takes the name of a block");
    strbuf_puts(&path, "/v1/blocks/");
    put_escaped(&path, words[0]);
    int status = change_blocks("DELETE", strbuf_text(&path), NULL);
    strbuf_clear(&path);
    return status;
}

/* ---- list ---- */

static const struct table_column columns[] = {
    {"BLOCK", false, 24}, {"RESOURCES", false, 32}, {"STATE", false, 0}, {"START", false, 0},
    {"END", false, 0},    {"EVERY", false, 0},      {"FOR", false, 40},  {NULL, false, 0}};

/* "user:ann,queue:short" */
static void put_permits(struct table *t, const json_t *block)
{
    static const char *const kinds[][2] = {
        {"users", "user:"}, {"queues", "queue:"}, {"jobs", "job:"}};
    const json_t *whom = json_object_get(block, "for"), *name;
    struct strbuf text = {0};
    size_t i;
    for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++)
        json_array_foreach (json_object_get(whom, kinds[k][0]), i, name) {
            strbuf_puts(&text, text.len ? "," : "");
            strbuf_puts(&text, kinds[k][1]);
            strbuf_puts(&text, json_string_value(name));
        }
    table_cell(t, text.len ? strbuf_text(&text) : "");
    strbuf_clear(&text);
}

static void put_block_row(struct table *t, const json_t *block)
{
    char start[WHEN_SIZE], end[WHEN_SIZE], every[WHEN_SIZE];
    double next = answer_number(block, "next"), period = answer_number(block, "every");
    double at = next < 0 ? answer_number(block, "start") : next;
    table_cell(t, answer_text(block, "name"));
    table_cell(t, answer_text(block, "resources"));
    table_cell(t, *answer_text(block, "problem") ? "not in force" : answer_text(block, "state"));
    table_cell(t, when_put(at, start));
    double duration = answer_number(block, "duration");
    bool is_endless = when_is_far((double)time(NULL) + duration);
    table_cell(t, is_endless ? "never" : when_put(at + duration, end));
    table_cell(t, period > 0 ? when_span(period, every) : "");
    put_permits(t, block);
}

static int print_blocks(const json_t *blocks)
{
    struct table t;
    const json_t *block;
    size_t i;
    table_begin(&t, stdout, columns);
    json_array_foreach (blocks, i, block)
        put_block_row(&t, block);
    int status = table_end(&t) ? CLI_OK : CLI_FAILED;
    table_clear(&t);
    return status;
}

static int list_blocks(struct asked *a, char **words, int n)
{
    struct connection connection;
    berth_error_t err;
    json_t *answer = NULL;
    int status = CLI_OK;
    if (n != 0 || a->has_options)
        return cli_usage("block", "list takes --json only, got '%s'", n ? words[0] : "more");
    if (connection_open(&connection, "block", &err) < 0 ||
        connection_ask(&connection, "GET", "/v1/blocks", NULL, &answer, &err) < 0) {
        status = connection_failed(&connection, &err);
    } else if (a->json) {
        answer_print(json_object_get(answer, "blocks"));
    } else {
        status = print_blocks(json_object_get(answer, "blocks"));
    }
    json_decref(answer);
    connection_close(&connection);
    return status;
}

int cli_block(int argc, char **argv)
{
    static const struct {
        const char *word;
        int (*run)(struct asked *a, char **words, int n);
    } actions[] = {{"add", add_block}, {"list", list_blocks}, {"remove", remove_block}};
    struct asked a = {.body = json_object()};
    int c, status = CLI_USAGE;

    while ((c = option_next(&block_options, argc, argv)) != -1) {
        if (c == 'h')
            status = option_help(&block_options);
        if (c == '?' || c == 'h' || take_block_option(&a, c) != 0)
            goto out;
    }
    for (size_t i = 0; optind < argc && i < sizeof(actions) / sizeof(*actions); i++)
        if (strcmp(argv[optind], actions[i].word) == 0) {
            status = actions[i].run(&a, argv + optind + 1, argc - optind - 1);
            goto out;
        }
    status = optind < argc ? cli_usage("block", "unknown action '%s', expected add, list or remove",
                                       argv[optind])
                           : cli_usage("block", "no action given, expected add, list or remove");
out:
    json_decref(a.body);
    return status;
}
