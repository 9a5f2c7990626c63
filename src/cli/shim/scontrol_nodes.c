/* scontrol: nodes and partitions. */
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/errtext.h"
#include "base/hostlist.h"
#include "cli/shim/fields.h"
#include "cli/shim/scontrol.h"
#include "cli/shim/shim.h"
#include "cli/shim/sinfo_cells.h"

/* What is shown: behind '%' a letter of sinfo's, "!" for a new line, or in braces what sinfo has no letter for. */
static const char node_form[] =
    "NodeName=%n CoresPerSocket=%Y%!CPUAlloc=%{cores} CPUEfctv=%c CPUTot=%c CPULoad=N/A%!"
    "AvailableFeatures=%f%!ActiveFeatures=%b%!Gres=%G%!NodeAddr=%o NodeHostName=%n%!"
    "RealMemory=%m AllocMem=%{memory} FreeMem=N/A Sockets=%X Boards=1%!"
    "State=%{state} ThreadsPerCore=%Z TmpDisk=%d Weight=%w Owner=N/A MCS_label=N/A%!"
    "Partitions=%{queues}";
static const char partition_form[] =
    "PartitionName=%R%!AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL%!Default=%{default} QoS=N/A%!"
    "DefaultTime=%{default_limit} MaxTime=%{limit}%!Nodes=%N%!PriorityTier=%p%!"
    "State=%{open} TotalCPUs=%{cores} TotalNodes=%D";

struct showing {
    const char *list; /* NULL: all */
    struct hostlist names;
    json_t *nodes, *answer; /* the answer of the queues */
    bool one_line;
};

static double sum_of(const struct node_group *g)
{
    return g->cores[0] + g->cores[1] + g->cores[2];
}

static void put_queues(const json_t *answer, struct strbuf *out)
{
    const json_t *queue;
    size_t i;
    json_array_foreach (json_object_get(answer, "queues"), i, queue) {
        strbuf_puts(out, i ? "," : "");
        strbuf_puts(out, answer_text(queue, "name"));
    }
}

/* "MIXED+DRAIN": of a node that is drained, what its jobs make of it comes first. */
static void put_state_of_node(const json_t *node, struct strbuf *out)
{
    enum node_state state = node_state(node);
    double cores = answer_number(node, "cores"), used = answer_number(node, "cores_used");
    bool drains = state == NODE_DRAINED || state == NODE_DRAINING;
    strbuf_puts(out, state == NODE_DOWN ? "DOWN"
                     : used <= 0        ? "IDLE"
                     : used < cores     ? "MIXED"
                                        : "ALLOCATED");
    strbuf_puts(out, drains ? "+DRAIN" : "");
}

/* "UP", "DRAIN": sinfo has it in small letters. */
static void put_state_of_partition(const struct node_group *g, struct strbuf *out)
{
    struct strbuf text = {0};
    sinfo_put(g, 'a', &text);
    for (const char *at = strbuf_text(&text); *at; at++)
        strbuf_putc(out, (char)toupper((unsigned char)*at));
    strbuf_clear(&text);
}

static void put_span_limit(double seconds, const char *otherwise, struct strbuf *out)
{
    if (seconds > 0)
        shim_put_span(seconds, out);
    else
        strbuf_puts(out, otherwise);
}

static void put_word(const struct showing *w, const struct node_group *g, const char *word,
                     size_t length, struct strbuf *out)
{
    const json_t *limits = json_object_get(json_object_get(g->queue, "limits"), "job");
    if (strncmp(word, "cores", length) == 0)
        strbuf_put_int(out, (int64_t)(g->queue ? sum_of(g) : g->cores[0]));
    else if (strncmp(word, "memory", length) == 0)
        strbuf_put_int(out, (int64_t)(answer_number(g->node, "memory_used") / 1048576));
    else if (strncmp(word, "state", length) == 0)
        put_state_of_node(g->node, out);
    else if (strncmp(word, "open", length) == 0)
        put_state_of_partition(g, out);
    else if (strncmp(word, "queues", length) == 0)
        put_queues(w->answer, out);
    else if (strncmp(word, "default", length) == 0)
        strbuf_puts(out, g->is_default ? "YES" : "NO");
    else if (strncmp(word, "default_limit", length) == 0)
        put_span_limit(answer_number(g->queue, "default_limit"), "NONE", out);
    else if (strncmp(word, "limit", length) == 0)
        put_span_limit(answer_number(limits, "duration"), "UNLIMITED", out);
}

static void put_form(const struct showing *w, const struct node_group *g, const char *form,
                     struct strbuf *out)
{
    for (const char *at = form; *at; at++) {
        if (*at != '%') {
            strbuf_putc(out, *at);
        } else if (*++at == '!') {
            strbuf_puts(out, "\n   ");
        } else if (*at == '{') {
            size_t length = strcspn(at + 1, "}");
            put_word(w, g, at + 1, length, out);
            at += length + 1;
        } else {
            sinfo_put(g, *at, out);
        }
    }
}

static int take_shown_node(void *context, const char *text, size_t length)
{
    struct showing *w = context;
    json_t *node = json_loadb(text, length, 0, NULL);
    const char *name = answer_text(node, "name");
    if (!node) {
        errno = EPROTO;
        return -1;
    }
    if (w->list && hostlist_find(&w->names, name, strlen(name)) < 0) {
        json_decref(node);
        return 0;
    }
    return json_array_append_new(w->nodes, node);
}

static void show_node(const struct showing *w, const json_t *node)
{
    struct node_group group = {.node = node};
    struct strbuf text = {0};
    const char *reason = answer_text(node, "reason");
    node_group_add(&group, node);
    put_form(w, &group, node_form, &text);
    if (*reason) {
        strbuf_puts(&text, "\n   Reason=");
        strbuf_puts(&text, reason);
    }
    scontrol_print(&text, w->one_line);
    strbuf_clear(&text);
}

static int show_partition(const struct showing *w, const json_t *queue)
{
    const char *name = answer_text(queue, "name");
    struct node_group group = {.queue = queue,
                               .is_default = strcmp(answer_text(w->answer, "default"), name) == 0};
    struct strbuf text = {0};
    const json_t *node;
    size_t i;
    int rc = 0;
    json_array_foreach (w->nodes, i, node) {
        const char *host = answer_text(node, "name");
        node_group_add(&group, node);
        rc = rc < 0 ? rc : hostlist_append_host(&group.names, host, strlen(host));
    }
    put_form(w, &group, partition_form, &text);
    scontrol_print(&text, w->one_line);
    hostlist_clear(&group.names);
    strbuf_clear(&text);
    return rc;
}

/* Ask for nodes and queues; then show nodes, or the partition of a name (NULL: all). */
static int show_all(struct showing *w, bool partitions, const char *name)
{
    struct connection s;
    berth_error_t err;
    const json_t *one;
    size_t i, shown = 0;
    int rc = 0;
    w->nodes = json_array();
    if (!w->nodes || connection_open(&s, "scontrol", &err) < 0 ||
        connection_ask(&s, "GET", "/v1/queues", NULL, &w->answer, &err) < 0 ||
        connection_list(&s, "/v1/nodes", take_shown_node, w, &err) < 0)
        rc = connection_failed(&s, &err);
    json_array_foreach (rc == 0 && !partitions ? w->nodes : NULL, i, one) {
        show_node(w, one);
        shown++;
    }
    json_array_foreach (rc == 0 && partitions ? json_object_get(w->answer, "queues") : NULL, i,
                        one) {
        if (name && strcmp(name, answer_text(one, "name")) != 0)
            continue;
        rc = show_partition(w, one) < 0 ? shim_failed("scontrol", "out of memory") : rc;
        shown++;
    }
    connection_close(&s);
    json_decref(w->nodes);
    json_decref(w->answer);
    if (rc != 0 || shown > 0)
        return rc;
    if (partitions)
        return shim_failed("scontrol", "Partition %.100s not found", name);
    return shim_failed("scontrol", "Node %.100s not found", w->list ? w->list : "");
}

int scontrol_show_nodes(const char *list, bool one_line)
{
    struct showing w = {.list = list, .one_line = one_line};
    berth_error_t err;
    if (list && hostlist_decode(&w.names, list, strlen(list), &err) < 0)
        return shim_failed("scontrol", "Invalid node list %.100s: %s", list, err.text);
    int rc = show_all(&w, false, NULL);
    hostlist_clear(&w.names);
    return rc;
}

int scontrol_show_partitions(const char *name, bool one_line)
{
    struct showing w = {.one_line = one_line};
    return show_all(&w, true, name);
}

/* ---- update ---- */

/* What a state is here; NULL: it is not supported. */
static const char *status_of(const char *state)
{
    static const char *const words[][2] = {{"drain", "drained"},
                                           {"down", "down"},
                                           {"resume", "up"},
                                           {"undrain", "up"},
                                           {"idle", "up"}};
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (strcasecmp(state, words[i][0]) == 0)
            return words[i][1];
    return NULL;
}

int scontrol_update_nodes(char **words, int n)
{
    struct connection s;
    berth_error_t err;
    const char *nodes = "", *status = NULL, *reason = NULL;
    int rc = 0;
    for (int i = 0; i < n; i++) {
        if (strncasecmp(words[i], "NodeName=", 9) == 0)
            nodes = words[i] + 9;
        else if (strncasecmp(words[i], "State=", 6) == 0)
            status = status_of(words[i] + 6);
        else if (strncasecmp(words[i], "Reason=", 7) == 0)
            reason = words[i] + 7;
        else
            return shim_failed("scontrol", "update: %.100s is not supported here", words[i]);
    }
    if (!status)
        return shim_failed("scontrol",
                           "update: expected State=DRAIN, DOWN, RESUME, UNDRAIN or IDLE");
    json_t *body = json_pack("{s:s, s:s, s:s*}", "resources", nodes, "status", status, "reason",
                             strcmp(status, "up") == 0 ? NULL : reason);
    if (!body)
        return shim_failed("scontrol", "update: the reason is not UTF-8");
    if (connection_open(&s, "scontrol", &err) < 0 ||
        connection_ask(&s, "PATCH", "/v1/resources", body, NULL, &err) < 0)
        rc = connection_failed(&s, &err);
    connection_close(&s);
    json_decref(body);
    return rc;
}
