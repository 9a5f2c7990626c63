/* berth shares: who deserves how much, and has how much. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/errtext.h"
#include "cli/client/connection.h"
#include "cli/client/listing.h"
#include "cli/client/terminal.h"
#include "cli/option_table.h"
#include "cli/shares_set.h"
#include "cli/tables.h"
#include "cli/verb.h"

static const struct option_row rows[] = {
    {'r', "resource", "TYPE", "of this resource, such as gpu; default: the first",
     "core gpu memory node"},
    {OPTION_LONG('j'), "json", NULL, "print an array of objects, with all resources", NULL},
    {0}};

const struct option_table shares_options = {
    .verb = "shares",
    .usage = "usage: berth shares [--json] [-r TYPE]\n"
             "       berth shares set SHARE USAGE\n"
             "Show who shares the machine: for each division, queue, account and user what\n"
             "they deserve, run on (IN USE), have received (run on or are promised) and ask\n"
             "for, and what they have used lately. ERROR is what was received beyond what is\n"
             "deserved. Who has less goes first. 'set' corrects what a share has used, for\n"
             "administrators: SHARE is its path, queue/account/user, or an end of that which\n"
             "only one has.\n",
    .rows = rows,
    .notes = "Exit status: 0 done, 1 failed, 2 wrong command line.\n"
             "Example: berth shares -r gpu\n"
             "Manual: man berth-shares\n",
    .complete = "set"};

/* ---- A table ---- */

enum share_column {
    COLUMN_NAME,
    COLUMN_WEIGHT,
    COLUMN_GUARANTEE,
    COLUMN_CAPABILITY,
    COLUMN_DESERVED,
    COLUMN_IN_USE,
    COLUMN_RECEIVED,
    COLUMN_DEMAND,
    COLUMN_USAGE,
    COLUMN_ERROR,
    COLUMN_RUNNING,
    COLUMN_LIMITS,
    COLUMNS
};

static const struct {
    struct table_column column;
    const char *amount; /* of which key, if it shows an amount */
    bool is_optional;   /* shown if any node has it */
} all_columns[COLUMNS] = {
    [COLUMN_NAME] = {{"SHARE", false, 0}, NULL, false},
    [COLUMN_WEIGHT] = {{"WEIGHT", true, 0}, NULL, false},
    [COLUMN_GUARANTEE] = {{"GUARANTEE", true, 0}, "guarantee", true},
    [COLUMN_CAPABILITY] = {{"CAPABILITY", true, 0}, "capability", true},
    [COLUMN_DESERVED] = {{"DESERVED", true, 0}, "deserved", false},
    [COLUMN_IN_USE] = {{"IN USE", true, 0}, "in_use", false},
    [COLUMN_RECEIVED] = {{"RECEIVED", true, 0}, "received", false},
    [COLUMN_DEMAND] = {{"DEMAND", true, 0}, "demand", false},
    [COLUMN_USAGE] = {{"USAGE", true, 0}, NULL, false},
    [COLUMN_ERROR] = {{"ERROR", true, 0}, NULL, false},
    [COLUMN_RUNNING] = {{"RUNNING", true, 0}, NULL, false},
    [COLUMN_LIMITS] = {{"LIMITS", false, 0}, NULL, true},
};

struct tree_shown {
    const json_t *nodes;
    const char *resource;
    bool is_shown[COLUMNS];
    struct table table;
};

/* An amount of a node; false: it has none. */
static bool amount_of(const json_t *node, const char *key, const char *resource, int64_t *amount)
{
    const json_t *value = json_object_get(json_object_get(node, key), resource);
    *amount = json_integer_value(value);
    return json_is_integer(value);
}

const char *shares_amount(const char *resource, int64_t amount, char text[SHARES_AMOUNT_SIZE])
{
    static const char units[] = "KMGTPE";
    int unit = -1;
    double value = (double)amount;
    while (strcmp(resource, "memory") == 0 && unit < 5 && (value >= 1024 || value <= -1024)) {
        value /= 1024;
        unit++;
    }
    if (unit < 0)
        snprintf(text, SHARES_AMOUNT_SIZE, "%lld", (long long)amount);
    else
        snprintf(text, SHARES_AMOUNT_SIZE, "%.*f%c", value != (double)(int64_t)value, value,
                 units[unit]);
    return text;
}

static void put_shares_name(struct tree_shown *t, const json_t *node)
{
    struct strbuf *cell = &t->table.cell;
    const char *name = json_string_value(json_object_get(node, "name"));
    strbuf_reset(cell);
    strbuf_fill(cell, ' ', 2 * (size_t)json_integer_value(json_object_get(node, "depth")));
    strbuf_puts(cell, name ? name : answer_text(node, "kind"));
    table_cell(&t->table, strbuf_text(cell));
}

/* What an account may have in all queues: "core=64 running=100". */
static void put_limits(struct tree_shown *t, const json_t *node)
{
    strbuf_reset(&t->table.cell);
    put_limit_list(&t->table.cell, json_object_get(node, "limits"));
    const char *text = strbuf_text(&t->table.cell);
    table_cell(&t->table, text + (*text == ' '));
}

/* By how much it has more than it deserves. */
static void put_shares_error(struct tree_shown *t, const json_t *node)
{
    int64_t received, deserved;
    char text[SHARES_AMOUNT_SIZE], cell[40];
    amount_of(node, "received", t->resource, &received);
    amount_of(node, "deserved", t->resource, &deserved);
    shares_amount(t->resource, received - deserved, text);
    snprintf(cell, sizeof(cell), "%s%s", received > deserved ? "+" : "", text);
    table_cell(&t->table, cell);
}

static void put_share(struct tree_shown *t, const json_t *node, enum share_column column)
{
    const char *key = all_columns[column].amount;
    char text[SHARES_AMOUNT_SIZE] = "";
    int64_t amount;
    if (column == COLUMN_NAME) {
        put_shares_name(t, node);
    } else if (column == COLUMN_ERROR) {
        put_shares_error(t, node);
    } else if (column == COLUMN_LIMITS) {
        put_limits(t, node);
    } else if (key) {
        if (amount_of(node, key, t->resource, &amount) &&
            (amount || !all_columns[column].is_optional))
            shares_amount(t->resource, amount, text);
        table_cell(&t->table, text);
    } else if (column == COLUMN_USAGE) {
        snprintf(text, sizeof(text), "%.1f", answer_number(node, "usage"));
        table_cell(&t->table, text);
    } else {
        table_number(&t->table, (long long)answer_number(
                                    node, column == COLUMN_WEIGHT ? "weight" : "running"));
    }
}

/* Which columns are shown: not those in which no node has anything. */
static void choose_columns(struct tree_shown *t)
{
    const json_t *node;
    int64_t amount;
    size_t i;
    for (int c = 0; c < COLUMNS; c++)
        t->is_shown[c] = !all_columns[c].is_optional;
    json_array_foreach (t->nodes, i, node) {
        for (int c = 0; c < COLUMNS && i > 0; c++) /* the machine has what there is */
            if (all_columns[c].amount && all_columns[c].is_optional &&
                amount_of(node, all_columns[c].amount, t->resource, &amount) && amount > 0)
                t->is_shown[c] = true;
        if (json_object_size(json_object_get(node, "limits")) > 0)
            t->is_shown[COLUMN_LIMITS] = true;
    }
}

static bool put_table(struct tree_shown *t, FILE *out)
{
    struct table_column columns[COLUMNS + 1] = {{NULL, false, 0}};
    const json_t *node;
    size_t i, n = 0;
    choose_columns(t);
    for (int c = 0; c < COLUMNS; c++)
        if (t->is_shown[c])
            columns[n++] = all_columns[c].column;
    columns[n] = (struct table_column){NULL, false, 0};
    table_begin(&t->table, out, columns);
    json_array_foreach (t->nodes, i, node) {
        for (int c = 0; c < COLUMNS; c++)
            if (t->is_shown[c])
                put_share(t, node, (enum share_column)c);
    }
    bool written = table_end(&t->table);
    table_clear(&t->table);
    return written;
}

/* ---- Which resource ---- */

/* Those that count, into a text: "core, gpu". */
static void put_resources(const json_t *machine, struct strbuf *text)
{
    json_t *had = json_object_get(machine, "capability");
    const char *resource;
    json_t *amount;
    json_object_foreach (had, resource, amount) {
        (void)amount;
        strbuf_puts(text, text->len ? ", " : "");
        terminal_plain(text, resource, strlen(resource));
    }
}

/* The first resource that the machine has; or the wanted one, -1 with a text if it does not count. */
static int choose_resource(struct tree_shown *t, const char *wanted, berth_error_t *err)
{
    json_t *machine = json_array_get(t->nodes, 0);
    json_t *had = json_object_get(machine, "capability");
    struct strbuf text = {0};
    const char *resource;
    json_t *amount;
    json_object_foreach (had, resource, amount) {
        bool is = wanted ? strcmp(resource, wanted) == 0 : json_integer_value(amount) > 0;
        if (is && !t->resource)
            t->resource = resource;
    }
    if (!t->resource && !wanted)
        t->resource = answer_text(machine, "dominant");
    if (t->resource)
        return 0;
    put_resources(machine, &text);
    errtext_set(err, EINVAL,
                "--resource: '%.40s' does not count for shares, expected one of %.120s", wanted,
                strbuf_text(&text));
    strbuf_clear(&text);
    return -1;
}

int shares_print(FILE *out, const json_t *answer, const char *resource, berth_error_t *err)
{
    struct tree_shown t = {.nodes = json_object_get(answer, "shares")};
    if (json_array_size(t.nodes) == 0) {
        fputs("The configuration has no shares: jobs go by priority and submission.\n", out);
        return 0;
    }
    if (choose_resource(&t, resource, err) < 0)
        return -1;
    return put_table(&t, out) ? 0 : errtext_no_memory(err);
}

static int show_tree(struct connection *connection, const char *resource, berth_error_t *err)
{
    json_t *answer = NULL;
    if (connection_ask(connection, "GET", "/v1/shares", NULL, &answer, err) < 0)
        return -1;
    int rc = shares_print(stdout, answer, resource, err);
    json_decref(answer);
    return rc;
}

static int show_shares(const char *resource, bool json)
{
    const struct listing_style style = {.json = true, .columns = &all_columns[0].column};
    struct connection connection;
    berth_error_t err;
    int status = CLI_OK;
    if (connection_open(&connection, "shares", &err) < 0)
        status = connection_failed(&connection, &err);
    else if (json)
        status = listing_print(&connection, "/v1/shares", &style);
    else if (show_tree(&connection, resource, &err) < 0)
        status = connection_failed(&connection, &err);
    connection_close(&connection);
    return status;
}

int cli_shares(int argc, char **argv)
{
    const char *resource = NULL;
    bool json = false;
    int c;
    while ((c = option_next(&shares_options, argc, argv)) != -1) {
        if (c == 'h')
            return option_help(&shares_options);
        if (c == '?')
            return CLI_USAGE;
        if (c == OPTION_LONG('j'))
            json = true;
        else
            resource = optarg;
    }
    if (optind < argc && strcmp(argv[optind], "set") == 0)
        return resource || json ? cli_usage("shares", "set takes no options")
                                : shares_set(argc - optind - 1, argv + optind + 1);
    if (optind < argc)
        return cli_usage("shares", "expected set or nothing, got '%s'", argv[optind]);
    if (resource && json)
        return cli_usage("shares", "--json has all resources: --resource is of the table");
    return show_shares(resource, json);
}
