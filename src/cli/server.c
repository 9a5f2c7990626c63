/* berth server: start and stop the daemon, and show its status. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/errtext.h"
#include "cli/client/connection.h"
#include "cli/client/terminal.h"
#include "cli/client/when.h"
#include "cli/option_table.h"
#include "cli/verb.h"
#include "server/daemon/paths.h"

#define PATIENCE_MS 10000
#define LOOK_MS     5

static const struct option_row rows[] = {
    {OPTION_LONG('c'), "config", "FILE", "queues, limits and machine: berth-config(5)", "@file"},
    {OPTION_LONG('j'), "json", NULL, "print the status as a JSON object", NULL},
    {0}};

const struct option_table server_options = {
    .verb = "server",
    .usage = "usage: berth server start [--config FILE]\n"
             "       berth server stop\n"
             "       berth server status [--json]\n"
             "       berth server reload\n"
             "Start berthd for $BERTH_DIR (submit and run do that too), stop it while running\n"
             "jobs continue, show its status, or make it read its configuration again.\n",
    .rows = rows,
    .notes = "Exit status: 0 done, 1 failed, or no server runs, 2 wrong command line.\n"
             "Example: berth server start --config site.yaml\n"
             "Manual: man berth-server, man berthd\n",
    .complete = "start stop status reload"};

static int start_server(struct connection *connection, const char *config, bool json,
                        berth_error_t *err)
{
    (void)json;
    if (connection_is_there(connection->socket))
        return connection->shared
                   ? errtext_set(err, EBUSY,
                                 "the server of this machine is running; for one of your own, set "
                                 "BERTH_DIR to its directory")
                   : errtext_set(err, EBUSY, "a server for %s is already running",
                                 connection->directory);
    if (connection->shared && paths_socket(connection->directory, connection->socket, err) < 0)
        return -1;
    return connection_start_server(connection->socket, config, err);
}

/* True if the lock of the directory is free, so that a server can be started. */
static bool is_unlocked(const struct connection *connection)
{
    char path[PATH_MAX + 16];

    snprintf(path, sizeof(path), "%s/berthd.lock", connection->directory);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return true;
    bool unlocked = flock(fd, LOCK_EX | LOCK_NB) == 0;
    close(fd);
    return unlocked;
}

static int stop_server(struct connection *connection, const char *config, bool json,
                       berth_error_t *err)
{
    const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};

    (void)config;
    (void)json;
    if (connection_ask(connection, "POST", "/v1/server/stop", NULL, NULL, err) < 0)
        return -1;
    for (int ms = 0; ms < PATIENCE_MS; ms += LOOK_MS) {
        if (!connection_is_there(connection->socket) && is_unlocked(connection))
            return 0;
        nanosleep(&pause, NULL);
    }
    return errtext_set(err, ETIMEDOUT, "the server was told to stop, but is still running");
}

static int reload_server(struct connection *connection, const char *config, bool json,
                         berth_error_t *err)
{
    (void)config;
    (void)json;
    return connection_ask(connection, "POST", "/v1/server/reload", NULL, NULL, err);
}

static void put_status(const json_t *answer)
{
    char text[WHEN_SIZE];
    const char *key;
    json_t *value;
    size_t i;
    double started = answer_number(answer, "started"), now = answer_number(answer, "now");

    printf("version    %s\n", answer_text(answer, "version"));
    printf("process    %.0f\n", answer_number(answer, "pid"));
    printf("directory  ");
    terminal_print(stdout, answer_text(answer, "directory"));
    putchar('\n');
    if (*answer_text(answer, "configuration")) {
        printf("configured ");
        terminal_print(stdout, answer_text(answer, "configuration"));
        putchar('\n');
    }
    printf("started    %s", when_put(started, text));
    printf(", %s ago\n", when_span(now - started, text));
    printf("jobs      ");
    json_object_foreach (json_object_get(answer, "jobs"), key, value)
        printf(" %s %lld", key, (long long)json_integer_value(value));
    putchar('\n');
    json_array_foreach (json_object_get(answer, "notices"), i, value) {
        printf("notice     ");
        terminal_print(stdout, json_string_value(value) ? json_string_value(value) : "");
        putchar('\n');
    }
}

static int status(struct connection *connection, const char *config, bool json, berth_error_t *err)
{
    json_t *answer;

    (void)config;
    if (connection_ask(connection, "GET", "/v1/server", NULL, &answer, err) < 0)
        return -1;
    if (json) {
        answer_print(answer);
    } else {
        put_status(answer);
    }
    json_decref(answer);
    return 0;
}

static const struct {
    const char *name;
    int (*run)(struct connection *connection, const char *config, bool json, berth_error_t *err);
} actions[] = {
    {"start", start_server}, {"stop", stop_server}, {"status", status}, {"reload", reload_server}};
#define ACTIONS (sizeof(actions) / sizeof(actions[0]))

static int server_verb(size_t action, const char *config, bool json)
{
    char path[PATH_MAX];
    struct connection connection;
    berth_error_t err;
    int status = CLI_OK;

    if (config && !realpath(config, path)) {
        fprintf(stderr, "berth server: %s: %s\n", config, strerror(errno));
        return CLI_FAILED;
    }
    if (connection_open(&connection, "server", &err) < 0 ||
        actions[action].run(&connection, config ? path : NULL, json, &err) < 0)
        status = connection_failed(&connection, &err);
    connection_close(&connection);
    return status;
}

int cli_server(int argc, char **argv)
{
    const char *config = NULL;
    bool json = false;
    int c;

    while ((c = option_next(&server_options, argc, argv)) != -1) {
        if (c == '?')
            return CLI_USAGE;
        if (c == 'h')
            return option_help(&server_options);
        if (c == OPTION_LONG('c'))
            config = optarg;
        else
            json = true;
    }
    if (argc - optind != 1)
        return cli_usage("server", argc == optind
                                       ? "no action given, expected start, stop, status or reload"
                                       : "expected one action");
    size_t i = 0;
    while (i < ACTIONS && strcmp(argv[optind], actions[i].name) != 0)
        i++;
    if (i == ACTIONS)
        return cli_usage("server", "unknown action '%s', expected start, stop, status or reload",
                         argv[optind]);
    if ((config && actions[i].run != start_server) || (json && actions[i].run != status))
        return cli_usage("server", "%s takes no --%s", argv[optind], config ? "config" : "json");
    return server_verb(i, config, json);
}
