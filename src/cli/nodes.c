/* berth nodes: the nodes of the machine, a line each. */
#include <stdio.h>

#include "base/errtext.h"
#include "cli/client/connection.h"
#include "cli/client/listing.h"
#include "cli/client/terminal.h"
#include "cli/option_table.h"
#include "cli/tables.h"
#include "cli/verb.h"

static const struct option_row rows[] = {
    {OPTION_LONG('j'), "json", NULL, "print an array of objects, with properties", NULL}, {0}};

const struct option_table nodes_options = {
    .verb = "nodes",
    .usage = "usage: berth nodes [OPTION]...\n"
             "List the nodes of the machine: what each has, what running jobs hold of it, and\n"
             "whether jobs may start there.\n",
    .rows = rows,
    .notes = "CORES, GPUS and MEMORY are what is in use, of what there is. STATUS is up,\n"
             "drained, down, or partly where that is so of some of its cores.\n"
             "Exit status: 0 listed, 1 failed, 2 wrong command line.\n"
             "Example: berth nodes\n"
             "Manual: man berth-nodes\n"};

const struct table_column nodes_columns[] = {
    {"NODE", false, 32}, {"STATUS", false, 0}, {"JOBS", true, 0},    {"CORES", true, 0},
    {"GPUS", true, 0},   {"MEMORY", true, 0},  {"REASON", false, 0}, {NULL, false, 0}};

static void put_used(struct table *t, double used, double all)
{
    char text[64] = "";
    if (all > 0)
        snprintf(text, sizeof(text), "%.0f/%.0f", used, all);
    table_cell(t, text);
}

static void put_memory(struct table *t, double used, double all)
{
    char text[64] = "";
    if (all > 0)
        snprintf(text, sizeof(text), "%.1f/%.1fG", used / 1073741824.0, all / 1073741824.0);
    table_cell(t, text);
}

void nodes_row(struct table *t, const struct fields *node, const char *states, double now)
{
    (void)states;
    (void)now;
    listing_text(t, node, "name");
    listing_text(t, node, "status");
    listing_count(t, node, "jobs");
    put_used(t, fields_number(node, "cores_used"), fields_number(node, "cores"));
    put_used(t, fields_number(node, "gpus_used"), fields_number(node, "gpus"));
    put_memory(t, fields_number(node, "memory_used"), fields_number(node, "memory"));
    listing_text(t, node, "reason");
}

int cli_nodes(int argc, char **argv)
{
    struct listing_style style = {.columns = nodes_columns, .row = nodes_row};
    struct connection connection;
    berth_error_t err;
    int c, status;

    while ((c = option_next(&nodes_options, argc, argv)) != -1) {
        if (c == '?')
            return CLI_USAGE;
        if (c == 'h')
            return option_help(&nodes_options);
        style.json = true;
    }
    if (optind < argc)
        return cli_usage("nodes", "takes no argument, got '%s'", argv[optind]);
    if (connection_open(&connection, "nodes", &err) < 0)
        status = connection_failed(&connection, &err);
    else
        status = listing_print(&connection, "/v1/nodes", &style);
    connection_close(&connection);
    return status;
}
