/* berth classes: what classes of users have, and their settings. */
#include <stdlib.h>
#include <string.h>

#include "cli/client/connection.h"
#include "cli/client/listing.h"
#include "cli/client/terminal.h"
#include "cli/option_table.h"
#include "cli/verb.h"
#include "config/quantity.h"

static const struct option_row rows[] = {
    {OPTION_LONG('p'), "percent", "CLASS=N",
     "percent of the workers; given several times, replaces all classes", NULL},
    {OPTION_LONG('r'), "requestor", "CLASS=REGEX",
     "users whose names match are in the class, the first decides; given several times, replaces "
     "all",
     NULL},
    {OPTION_LONG('d'), "default", "CLASS", "who matches none is in this class", NULL},
    {OPTION_LONG('t'), "threshold", "N",
     "rebalance when classes are so many percent from their percentages; 0: never", NULL},
    {OPTION_LONG('m'), "minimum-duration", "TIME", "and have been so for so long: 90, 30m, 2h",
     NULL},
    {OPTION_LONG('j'), "json", NULL, "print an array of objects", NULL},
    {0}};

const struct option_table classes_options = {
    .verb = "classes",
    .usage = "usage: berth classes [--json]\n"
             "       berth classes show QUEUE\n"
             "       berth classes set OPTION... QUEUE\n"
             "       berth classes reset QUEUE\n"
             "List the classes of users that queues have and what these have, in workers; or\n"
             "show or set those of a queue, or reset them to what is configured. Only\n"
             "administrators may change them.\n",
    .rows = rows,
    .notes = "Exit status: 0 done, 1 failed, 2 wrong command line.\n"
             "Example: berth classes set --percent a=60 --percent b=40 --requestor a=ann \\\n"
             "           --default b batch\n"
             "Manual: man berth-classes\n",
    .complete = "show set reset @queue"};

/* ---- Options ---- */

static bool read_count(const char *text, json_int_t *count)
{
    char *end;
    *count = strtoll(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && end - text < 18;
}

/* Append to a list of the body, which is made if need be. The entry is taken. */
static int append(json_t *body, const char *key, json_t *entry)
{
    json_t *list = json_object_get(body, key);
    if (!list && json_object_set_new(body, key, json_array()) == 0)
        list = json_object_get(body, key);
    return json_array_append_new(list, entry) < 0
               ? cli_usage("classes", "'%s' is not UTF-8", optarg)
               : 0;
}

static int take_percent(json_t *body)
{
    const char *equals = strchr(optarg, '=');
    json_int_t percent;
    if (!equals || !read_count(equals + 1, &percent))
        return cli_usage("classes", "--percent is '%s', expected CLASS=N such as land=40", optarg);
    return append(
        body, "classes",
        json_pack("{s:s%, s:I}", "name", optarg, (size_t)(equals - optarg), "percent", percent));
}

static int take_requestor(json_t *body)
{
    const char *equals = strchr(optarg, '=');
    if (!equals)
        return cli_usage("classes", "--requestor is '%s', expected CLASS=REGEX such as land=^ann$",
                         optarg);
    return append(body, "requestors",
                  json_pack("{s:s, s:s%}", "pattern", equals + 1, "class", optarg,
                            (size_t)(equals - optarg)));
}

static int take_number(json_t *body, int option)
{
    json_int_t count;
    int64_t us;
    if (option == OPTION_LONG('t')) {
        if (!read_count(optarg, &count))
            return cli_usage("classes", "--threshold is '%s', expected a percentage", optarg);
        return json_object_set_new(body, "rebalance_threshold", json_integer(count));
    }
    if (quantity_duration(optarg, &us) < 0)
        return cli_usage("classes",
                         "--minimum-duration is '%s', expected a duration such as 90, 30m or 2h",
                         optarg);
    return json_object_set_new(body, "rebalance_minimum_duration", json_integer(us / 1000000));
}

static int take_class_option(json_t *body, int option)
{
    switch (option) {
    case OPTION_LONG('p'):
        return take_percent(body);
    case OPTION_LONG('r'):
        return take_requestor(body);
    case OPTION_LONG('d'):
        return json_object_set_new(body, "default_class", json_string(optarg)) < 0
                   ? cli_usage("classes", "--default is not UTF-8")
                   : 0;
    default:
        return take_number(body, option);
    }
}

/* ---- Actions ---- */

/* Ask about the classes of a queue; what comes back is printed if it is asked for. */
static int ask_about_classes(const char *method, const char *queue, const json_t *body, bool prints)
{
    struct connection connection;
    struct strbuf path = {0};
    berth_error_t err;
    json_t *answer = NULL;
    int status = CLI_OK;
    strbuf_puts(&path, "/v1/classes/");
    strbuf_puts(&path, queue);
    if (connection_open(&connection, "classes", &err) < 0 ||
        connection_ask(&connection, method, strbuf_text(&path), body, prints ? &answer : NULL,
                       &err) < 0) {
        status = connection_failed(&connection, &err);
    } else if (prints) {
        answer_print(answer);
    }
    json_decref(answer);
    connection_close(&connection);
    strbuf_clear(&path);
    return status;
}

static const struct table_column columns[] = {
    {"QUEUE", false, 0},  {"CLASS", false, 0},   {"PERCENT", true, 0},
    {"TARGET", true, 0},  {"RUNNING", true, 0},  {"PROMISED", true, 0},
    {"WAITING", true, 0}, {"BORROWED", true, 0}, {NULL, false, 0}};

static void put_line(struct table *t, const struct fields *class, const char *states, double now)
{
    (void)states;
    (void)now;
    listing_text(t, class, "queue");
    listing_text(t, class, "class");
    listing_count(t, class, "percent");
    listing_count(t, class, "target");
    listing_count(t, class, "running");
    listing_count(t, class, "promised");
    listing_count(t, class, "waiting");
    listing_count(t, class, "borrowed");
}

static int list_classes(bool json)
{
    const struct listing_style style = {.json = json, .columns = columns, .row = put_line};
    struct connection connection;
    berth_error_t err;
    int status;
    if (connection_open(&connection, "classes", &err) < 0)
        status = connection_failed(&connection, &err);
    else
        status = listing_print(&connection, "/v1/classes", &style);
    connection_close(&connection);
    return status;
}

static int run_action(const char *action, char **words, int n, const json_t *body, bool json)
{
    bool sets = strcmp(action, "set") == 0, shows = strcmp(action, "show") == 0;
    if (!sets && !shows && strcmp(action, "reset") != 0)
        return cli_usage("classes", "unknown action '%s', expected show, set or reset", action);
    if (n != 1 || json || !*words[0] || strchr(words[0], '/'))
        return cli_usage("classes", "%s takes a queue", action);
    if (sets != (json_object_size(body) > 0))
        return cli_usage("classes", sets ? "set takes options" : "only set takes options");
    if (shows)
        return ask_about_classes("GET", words[0], NULL, true);
    return ask_about_classes(sets ? "PATCH" : "DELETE", words[0], sets ? body : NULL, false);
}

int cli_classes(int argc, char **argv)
{
    json_t *body = json_object();
    bool json = false;
    int c, status = CLI_USAGE;

    while ((c = option_next(&classes_options, argc, argv)) != -1) {
        if (c == 'h')
            status = option_help(&classes_options);
        if (c == '?' || c == 'h')
            goto out;
        if (c == OPTION_LONG('j'))
            json = true;
        else if (take_class_option(body, c) != 0)
            goto out;
    }
    if (optind < argc)
        status = run_action(argv[optind], argv + optind + 1, argc - optind - 1, body, json);
    else if (json_object_size(body) > 0)
        status = cli_usage("classes", "no action given, expected show, set or reset");
    else
        status = list_classes(json);
out:
    json_decref(body);
    return status;
}
