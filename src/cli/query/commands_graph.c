/* attach, remove, find, properties and status: commands about the machine. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/query/commands.h"

void query_attach(struct session *s, int argc, char **argv)
{
    (void)argc;
    berth_error_t err = {""};
    if (session_read(s, argv[1], QUERY_GRAPH_MAX) == 0 &&
        match_attach(s->machine, s->text.bytes, s->text.length, &err) < 0)
        session_error(s, "ERROR: can't attach JGF subgraph: %s", err.text);
}

void query_remove(struct session *s, int argc, char **argv)
{
    (void)argc;
    berth_error_t err = {""};
    int rc = 0;
    if (strcmp(argv[2], "true") == 0)
        rc = match_remove_path(s->machine, argv[1], &err);
    else if (strcmp(argv[2], "false") == 0)
        rc = match_remove_ranks(s->machine, argv[1], &err);
    else
        session_error(s, "ERROR: invalid path boolean input %s", argv[2]);
    if (rc < 0)
        session_error(s, "ERROR: can't remove subgraph: %s", err.text);
}

/* The words of a command from the second on, joined by blanks; the caller frees the text. */
static char *join_arguments(int argc, char **argv)
{
    size_t size = 0;
    for (int i = 1; i < argc; i++)
        size += strlen(argv[i]) + 1;
    char *text = malloc(size), *end = text;
    for (int i = 1; text && i < argc; i++) {
        end = stpcpy(end, argv[i]);
        *end++ = i + 1 < argc ? ' ' : '\0';
    }
    return text;
}

void query_find(struct session *s, int argc, char **argv)
{
    berth_error_t err = {""};
    char *criteria = join_arguments(argc, argv);
    if (!criteria)
        session_error(s, "find: ERROR: out of memory");
    /* Fluxion prints filter counts as of the clock's time; only if nothing is taken then, as of the
     * session's time.
     */
    else if (match_find(s->machine, criteria, (int64_t)time(NULL), &err) < 0)
        session_error(s, "find: invalid criteria: %s: %s", criteria, err.text);
    else if (session_tell(s) < 0)
        session_error(s, "find: ERROR: find writer emit: %s", strerror(errno));
    else
        fprintf(s->out, QUERY_RULE "INFO: EXPRESSION=\"%s\"\n" QUERY_RULE, criteria);
    free(criteria);
}

static void print_no_path(struct session *s, const char *path)
{
    fprintf(s->out, "Could not find path %s in resource graph.\n", path);
}

void query_set_property(struct session *s, int argc, char **argv)
{
    (void)argc;
    berth_error_t err = {""};
    char *equals = strchr(argv[2], '=');
    if (!equals || equals == argv[2] || !equals[1]) {
        fputs("Incorrect input format. \n"
              "Please use `set-property <resource> PROPERTY=VALUE`.\n",
              s->out);
        return;
    }
    *equals = '\0';
    if (match_set_property(s->machine, argv[1], argv[2], equals + 1, &err) == 0)
        return;
    if (errno == ENOENT)
        fprintf(s->out, "Couldn't find path %s in resource graph.\n", argv[1]);
    else
        session_error(s, "ERROR: can't set property: %s", err.text);
}

struct properties {
    FILE *out;
    const char *path;
};

static void print_property(void *context, int64_t uniq_id, const char *key, const char *value)
{
    struct properties *p = context;
    if (key)
        fprintf(p->out, "%s=%s\n", key, value);
    else
        fprintf(p->out, "No properties were found for %s (vtx's uniq_id=%" PRId64 ").\n", p->path,
                uniq_id);
}

void query_get_property(struct session *s, int argc, char **argv)
{
    (void)argc;
    berth_error_t err = {""};
    struct properties p = {s->out, argv[1]};
    if (match_get_properties(s->machine, argv[1], print_property, &p, &err) == 0)
        return;
    if (errno == ENOENT)
        print_no_path(s, argv[1]);
    else
        session_error(s, "ERROR: can't get properties: %s", err.text);
}

void query_set_status(struct session *s, int argc, char **argv)
{
    (void)argc;
    berth_error_t err = {""};
    bool now_up, up = strcmp(argv[2], "up") == 0;
    if (match_get_status(s->machine, argv[1], &now_up, &err) < 0 && errno == ENOENT)
        print_no_path(s, argv[1]);
    else if (!up && strcmp(argv[2], "down") != 0)
        session_error(s, "ERROR: unrecognized status %s", argv[2]);
    else if (match_set_status(s->machine, argv[1], up, &err) < 0)
        session_error(s, "ERROR: can't set status: %s", err.text);
}

void query_get_status(struct session *s, int argc, char **argv)
{
    (void)argc;
    berth_error_t err = {""};
    bool up;
    if (match_get_status(s->machine, argv[1], &up, &err) == 0)
        fprintf(s->out, "%s is %s\n", argv[1], up ? "up" : "down");
    else if (errno == ENOENT)
        print_no_path(s, argv[1]);
    else
        session_error(s, "ERROR: can't get status: %s", err.text);
}
