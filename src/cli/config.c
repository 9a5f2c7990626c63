/* berth config: check and show a configuration. */
#include "config/config.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/config_check.h"
#include "cli/config_json.h"
#include "cli/option_table.h"
#include "cli/verb.h"
#include "config/file_text.h"
#include "config/machine_open.h"
#include "report/report.h"

#define SECOND 1000000 /* ticks, so that no time is rounded */

static const struct option_row rows[] = {{OPTION_LONG('j'), "json", NULL, "print an object", NULL},
                                         {0}};

const struct option_table config_options = {
    .verb = "config",
    .usage = "usage: berth config [--json] check FILE\n"
             "       berth config [--json] show FILE\n"
             "Check or show the YAML file that describes a scheduler: its machine and how jobs\n"
             "are matched to it, queues with policies and limits, blocks of resources that are\n"
             "set aside, and what the numbers of a trace stand for.\n"
             "  check       read the file and its machine, and print a one-line summary\n"
             "  show        print the file as YAML with all defaults; the machine is not read\n",
    .rows = rows,
    .notes = "An error is one line: FILE:LINE:COLUMN: the key, and what was expected.\n"
             "Exit status: 0 done, 1 FILE is wrong or can't be read.\n"
             "Example: echo 'resources: {nodes: 4, cores: 8}' >berth.yaml\n"
             "         berth config check berth.yaml\n"
             "Manual: man berth-config; of the file: man 5 berth-config\n",
    .complete = "check show @file"};

static struct config *read_file(const char *path, berth_error_t *err)
{
    struct text text = {0};
    struct config *config = NULL;

    if (text_read(&text, path, CONFIG_TEXT_MAX) < 0)
        snprintf(err->text, sizeof(err->text), "%s", strerror(errno));
    else
        config = config_read("", text.bytes, text.length, SECOND, err);
    text_clear(&text);
    return config;
}

static int check(const char *path, const struct config *config, bool json)
{
    struct config_found found;
    berth_error_t err = {""};
    match_t *machine = config_machine_open(config, path, &err);

    if (!machine)
        return cli_refuse(path, err.text);
    int rc = config_check(config, machine, &found, &err);
    match_destroy(machine);
    if (rc < 0)
        return cli_refuse(path, err.text);
    if (json) {
        config_found_print_json(&found);
        return CLI_OK;
    }
    char *name = report_clean_text(path);
    printf("%s: ", name ? name : "?");
    config_found_print(&found);
    free(name);
    return CLI_OK;
}

static int show_config(const char *path, const struct config *config, bool json)
{
    berth_error_t err = {""};
    char *text = config_show(config, SECOND);

    if (!text)
        return cli_refuse(path, strerror(errno));
    int rc = json ? config_json_print(text, &err) : fputs(text, stdout);
    free(text);
    return json && rc < 0 ? cli_refuse(path, err.text) : CLI_OK;
}

int cli_config(int argc, char **argv)
{
    int option;
    bool json = false;
    while ((option = option_next(&config_options, argc, argv)) != -1) {
        if (option == 'h')
            return option_help(&config_options);
        if (option == '?')
            return CLI_USAGE;
        json = true;
    }
    if (optind == argc)
        return cli_usage("config", "no action given, expected check or show");
    const char *what = argv[optind];
    bool shows = strcmp(what, "show") == 0;
    if (!shows && strcmp(what, "check") != 0)
        return cli_usage("config", "unknown action '%.60s', expected check or show", what);
    if (optind + 2 != argc)
        return cli_usage("config", "%s takes one file, not %d", what, argc - optind - 1);
    const char *path = argv[optind + 1];
    if (!*path)
        return cli_usage("config", "the file's name is empty");
    berth_error_t err = {""};
    struct config *config = read_file(path, &err);
    if (!config)
        return cli_refuse(path, err.text);
    int status = shows ? show_config(path, config, json) : check(path, config, json);
    config_destroy(config);
    return status;
}
