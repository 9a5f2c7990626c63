/* What a job runs: a command, or a script with the options in its lines. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/errtext.h"
#include "cli/client/directives.h"
#include "cli/client/request_priv.h"
#include "cli/client/script.h"
#include "cli/client/terminal.h"

#define WHERE_SIZE 320

bool request_is_program(const char *name)
{
    const char *path = getenv("PATH");
    char file[PATH_MAX];
    struct stat st;

    for (const char *at = path ? path : ""; *at;) {
        size_t n = strcspn(at, ":");
        int length = snprintf(file, sizeof(file), "%.*s/%s", (int)n, at, name);
        if (n && length > 0 && length < PATH_MAX && access(file, X_OK) == 0 &&
            stat(file, &st) == 0 && S_ISREG(st.st_mode))
            return true;
        at += n + (at[n] == ':');
    }
    return false;
}

static json_t *texts(char **argv, int n)
{
    json_t *all = json_array();
    for (int i = 0; all && i < n; i++)
        if (json_array_append_new(all, json_string(argv[i])) < 0) {
            json_decref(all);
            return NULL;
        }
    return all;
}

/* Name the job after the script: its text does not contain the name of its file, unlike a command. */
static int set_name(json_t *job, const char *file)
{
    const char *slash = strrchr(file, '/');
    const char *name = strcmp(file, "-") == 0 ? "script" : slash && slash[1] ? slash + 1 : file;
    struct strbuf plain = {0};

    if (json_object_get(job, "name"))
        return 0;
    terminal_plain(&plain, name, strnlen(name, NAME_MAX));
    int rc = json_object_set_new(job, "name", json_string(strbuf_text(&plain)));
    strbuf_clear(&plain);
    return rc;
}

/* Read the words of other tools' lines, then those of lines of ours, which take precedence. */
static int take_lines(struct reading *g, const struct script *script, struct directives *d,
                      const char *name, char where[WHERE_SIZE])
{
    int rest = 0;

    snprintf(where, WHERE_SIZE, "%.280s: ", name);
    g->where = g->slurm ? "" : where;
    if (d->all.n > 0 && request_options_read(g, (int)d->all.n, d->all.words, &rest) < 0)
        return -1;
    g->where = where;
    for (size_t i = 0; i < script->n_lines; i++) {
        const struct script_line *line = &script->lines[i];
        if (line->mark != SCRIPT_BERTH)
            continue;
        snprintf(where, WHERE_SIZE, "%.280s: line %zu: ", name, line->number);
        if (request_options_read(g, line->n + 1, script->words + line->first - 1, &rest) < 0)
            return -1;
        bool other = rest < line->n + 1;
        if (other || g->r->wants_help || request_many(g->r) || g->wrap)
            return errtext_set(g->err, EINVAL, "%s'%.100s' is not an option of a job", where,
                               other ? script->words[line->first - 1 + rest]
                                     : "one of --help, --wrap, --bulk, --each, --cc and --file");
    }
    if ((d->slurm && json_object_set_new(g->job, "slurm", json_true()) < 0) ||
        (d->tasks && json_object_set_new(g->job, "batch", json_integer(d->tasks)) < 0))
        return errtext_no_memory(g->err);
    return 0;
}

/* Add the script and its arguments to what its lines say, and let the command line change that. */
static int join_script(struct reading *g, struct reading *inner, const struct script *script,
                       char **args, int n, const char *name)
{
    json_t *text = json_stringn(script->text, script->length);
    if (!text)
        return errtext_set(g->err, EINVAL, "%s: not UTF-8", name);
    if (json_object_update(inner->job, g->job) < 0 ||
        json_object_set_new(inner->job, "script", text) < 0 ||
        json_array_extend(inner->env, g->env) < 0 ||
        json_object_set_new(inner->job, "args", texts(args, n)) < 0)
        return errtext_set(g->err, EINVAL, "%s: an argument is not UTF-8", name);
    json_t *job = g->job, *env = g->env;
    g->job = inner->job;
    g->env = inner->env;
    inner->job = job;
    inner->env = env;
    /* The argument of --chdir belongs to the script. */
    if (!g->chdir && inner->chdir &&
        json_object_set_new(g->job, "directory", json_string(inner->chdir)) == 0)
        g->chdir = json_string_value(json_object_get(g->job, "directory"));
    return 0;
}

/* Take a script's text and its options, over which those of the command line take precedence. */
static int take_text(struct reading *g, const struct script *script, char **args, int n,
                     const char *name)
{
    char where[WHERE_SIZE];
    struct reading inner = *g;
    struct directives lines;

    if (directives_read(&lines, script, g->slurm, g->n_slurm, name, g->err) < 0)
        return -1;
    inner.chdir = NULL;
    inner.job = json_object();
    inner.env = json_array();
    int rc = !inner.job || !inner.env ? errtext_no_memory(g->err)
                                      : take_lines(&inner, script, &lines, name, where);
    if (rc == 0)
        rc = join_script(g, &inner, script, args, n, name);
    if (rc == 0)
        fputs(strbuf_text(&lines.all.warnings), stderr);
    json_decref(inner.job);
    json_decref(inner.env);
    directives_clear(&lines);
    return rc;
}

int request_script(struct reading *g, char **argv, int argc)
{
    struct script script;
    g->r->used_input = g->r->used_input || strcmp(argv[0], "-") == 0;
    if (script_read(&script, argv[0], g->err) < 0)
        return -1;
    int rc =
        take_text(g, &script, argv + 1, argc - 1, strcmp(argv[0], "-") == 0 ? "script" : argv[0]);
    if (rc == 0 && set_name(g->job, argv[0]) < 0)
        rc = errtext_set(g->err, EINVAL, "the name is not UTF-8");
    script_clear(&script);
    return rc;
}

int request_wrap(struct reading *g, int argc)
{
    struct script script = {0};
    char *text = NULL;

    if (argc > 0)
        return errtext_set(g->err, EINVAL, "--wrap takes no command beside it");
    int length = asprintf(&text, "#!/bin/sh\n%s\n", g->wrap);
    if (length < 0)
        return errtext_no_memory(g->err);
    script.text = text;
    script.length = (size_t)length;
    int rc = take_text(g, &script, NULL, 0, "--wrap");
    if (rc == 0 && set_name(g->job, "wrap") < 0)
        rc = errtext_no_memory(g->err);
    script_clear(&script);
    return rc;
}

/* Whether each role has its command, so that the job needs none. */
static bool roles_have_commands(const json_t *roles)
{
    size_t i;
    json_t *role;
    json_array_foreach (roles, i, role) {
        if (!json_object_get(role, "command"))
            return false;
    }
    return json_array_size(roles) > 0;
}

int request_command(struct reading *g, char **argv, int argc)
{
    bool has_jobspec = json_object_get(g->job, "jobspec") != NULL;

    if (g->wrap)
        return request_wrap(g, argc);
    if (roles_have_commands(json_object_get(g->job, "roles")))
        return argc == 0
                   ? 0
                   : errtext_set(g->err, EINVAL,
                                 "each --role has a run, expected no other command, got '%.60s'",
                                 argv[0]);
    if (argc == 0 && g->r->otherwise)
        return request_put(g, "command", json_pack("[s]", g->r->otherwise));
    if (argc == 0)
        return has_jobspec ? 0
                           : errtext_set(g->err, EINVAL,
                                         "no command given, expected a command or a "
                                         "script");
    bool script = strcmp(argv[0], "-") == 0 ||
                  (script_is(argv[0]) && (strchr(argv[0], '/') || !request_is_program(argv[0])));
    if (script && !g->step)
        return request_script(g, argv, argc);
    json_t *command = texts(argv, argc);
    if (script && command && !strchr(argv[0], '/') && strcmp(argv[0], "-") != 0) {
        char path[PATH_MAX];
        snprintf(path, sizeof(path), "./%s", argv[0]);
        json_array_set_new(command, 0, json_string(path));
    }
    if (!command || json_object_set_new(g->job, "command", command) < 0)
        return errtext_set(g->err, EINVAL, "the command is not UTF-8");
    return 0;
}
