/* berth shares set: correct what a share has used. */
#include "cli/shares_set.h"

#include <errno.h>
#include <string.h>

#include "base/errtext.h"
#include "base/strbuf.h"
#include "cli/client/connection.h"
#include "cli/client/terminal.h"
#include "cli/verb.h"
#include "jobspec/number.h"

#define USAGE_MAX 1e15

/* Append the names from below the machine down to a node: "batch/physics/ann". */
static void put_path(struct strbuf *path, const json_t *nodes, const json_t *node)
{
    const json_t *above =
        json_array_get(nodes, (size_t)json_integer_value(json_object_get(node, "above")));
    if (json_is_null(json_object_get(node, "above")))
        return;
    put_path(path, nodes, above);
    strbuf_puts(path, path->len > 0 ? "/" : "");
    strbuf_puts(path, answer_text(node, "name"));
}

/* Whether a text is a path (2), or how it ends (1). */
static int match_path_end(const char *text, const char *path)
{
    size_t n = strlen(text), length = strlen(path);
    if (strcmp(text, path) == 0)
        return 2;
    return length > n && path[length - n - 1] == '/' && strcmp(path + length - n, text) == 0;
}

/* The node of a text: the one whose path it is, else the only one whose path ends so. -1 with a text. */
static int find_shares_node(const json_t *nodes, const char *text, size_t *found,
                            berth_error_t *err)
{
    struct strbuf path = {0}, all = {0};
    const json_t *node;
    int best = 0, how;
    size_t i, several = 0;
    json_array_foreach (nodes, i, node) {
        strbuf_reset(&path);
        put_path(&path, nodes, node);
        how = match_path_end(text, i == 0 ? "machine" : strbuf_text(&path));
        if (how == 0 || how < best)
            continue;
        several = how > best ? 1 : several + 1;
        best = how;
        *found = i;
        strbuf_puts(&all, all.len > 0 ? ", " : "");
        terminal_plain(&all, strbuf_text(&path), path.len);
    }
    if (several > 1)
        errtext_set(err, EINVAL, "'%.60s' are several: %.160s", text, strbuf_text(&all));
    else if (several == 0)
        errtext_set(
            err, ENOENT,
            "there is no share '%.60s': expected a path as in queue/account/user, or its end",
            text);
    strbuf_clear(&path);
    strbuf_clear(&all);
    return several == 1 ? 0 : -1;
}

/* The names of a node, by what it and those above it are. */
static json_t *body_of(const json_t *nodes, const json_t *node, double usage)
{
    json_t *body = json_pack("{s:f}", "usage", usage);
    bool is_own = true;
    while (body && !json_is_null(json_object_get(node, "above"))) {
        const char *kind = answer_text(node, "kind");
        bool counts = is_own || strcmp(kind, "queue") == 0 ||
                      (strcmp(kind, "account") == 0 && !json_object_get(body, "account") &&
                       json_object_get(body, "user"));
        if (counts)
            json_object_set(body, kind, json_object_get(node, "name"));
        is_own = false;
        node = json_array_get(nodes, (size_t)json_integer_value(json_object_get(node, "above")));
    }
    return body;
}

static int set_usage(struct connection *connection, const char *text, double usage,
                     berth_error_t *err)
{
    json_t *answer = NULL;
    size_t found = 0;
    if (connection_ask(connection, "GET", "/v1/shares", NULL, &answer, err) < 0)
        return -1;
    const json_t *nodes = json_object_get(answer, "shares");
    int rc = find_shares_node(nodes, text, &found, err);
    if (rc == 0 && strcmp(answer_text(json_array_get(nodes, found), "kind"), "class") == 0)
        rc = errtext_set(
            err, EINVAL,
            "'%.60s' is a class, which goes by its percentage and has no usage: expected "
            "a division, queue, account or user",
            text);
    json_t *body = rc == 0 ? body_of(nodes, json_array_get(nodes, found), usage) : NULL;
    if (rc == 0)
        rc = body ? connection_ask(connection, "PATCH", "/v1/shares", body, NULL, err)
                  : errtext_no_memory(err);
    json_decref(body);
    json_decref(answer);
    return rc;
}

int shares_set(int argc, char **words)
{
    struct connection connection;
    berth_error_t err;
    double usage;
    int status = CLI_OK;
    if (argc != 2)
        return cli_usage("shares", "set takes a share and its usage");
    if (!number_double(words[1], &usage) || !(usage >= 0 && usage <= USAGE_MAX))
        return cli_usage("shares", "the usage is '%s', expected a number from 0 to 1e15", words[1]);
    if (connection_open(&connection, "shares", &err) < 0 ||
        set_usage(&connection, words[0], usage, &err) < 0)
        status = connection_failed(&connection, &err);
    connection_close(&connection);
    return status;
}
