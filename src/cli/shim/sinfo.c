/* sinfo: queues as partitions, each with all nodes of the machine; nodes that are alike in what is asked for are a line. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/hostlist.h"
#include "cli/client/terminal.h"
#include "cli/shim/format.h"
#include "cli/shim/shim.h"
#include "cli/shim/sinfo_cells.h"

#define FORMAT     "%#P %.5a %.10l %.6D %.6t %N"
#define LONG       "%#P %.5a %.10l %.10s %.4r %.8h %.10g %.6D %.11T %N"
#define BRIEF      "%#P %.5a %.10l %.16F %N"
#define NODES      "%#N %.5D %#.9P %6t"
#define NODES_LONG "%#N %.5D %#.9P %.11T %4c %.8z %.6m %.8d %.6w %.8f %20E"
#define REASONS    "%20E %9u %19H %N"

enum what {
    HEAD,
    FORM,
    QUEUES,
    NAMED,
    STATES,
    BY_NODE,
    LONG_FORM,
    SUM,
    WHY,
    CLUSTERS,
    NOTHING,
    HELP,
    VERSION
};

static const struct foreign_option options[] = {
    {"noheader", 'h', FOREIGN_NONE, HEAD, NULL},
    {"format", 'o', FOREIGN_NEEDED, FORM, NULL},
    {"partition", 'p', FOREIGN_NEEDED, QUEUES, NULL},
    {"nodes", 'n', FOREIGN_NEEDED, NAMED, NULL},
    {"states", 't', FOREIGN_NEEDED, STATES, NULL},
    {"Node", 'N', FOREIGN_NONE, BY_NODE, NULL},
    {"long", 'l', FOREIGN_NONE, LONG_FORM, NULL},
    {"summarize", 's', FOREIGN_NONE, SUM, NULL},
    {"list-reasons", 'R', FOREIGN_NONE, WHY, NULL},
    {"all", 'a', FOREIGN_NONE, NOTHING, NULL},
    {"exact", 'e', FOREIGN_NONE, NOTHING, NULL},
    {"responding", 'r', FOREIGN_NONE, NOTHING, NULL},
    {"verbose", 'v', FOREIGN_NONE, NOTHING, NULL},
    {"clusters", 'M', FOREIGN_NEEDED, CLUSTERS, NULL},
    {"help", 0, FOREIGN_NONE, HELP, NULL},
    {"version", 'V', FOREIGN_NONE, VERSION, NULL},
};

struct sinfo {
    const char *format, *queues, *named, *states, *clusters; /* NULL: not given */
    bool no_head, by_node, is_long, sums, reasons, help, version;
    struct hostlist names; /* those of -n */
    json_t *answer;        /* of the queues */
    json_t *nodes;         /* the wanted ones, in the order of their lines */
    size_t widest[2];      /* of partitions, of names of nodes */
};

/* ---- Which nodes ---- */

static bool is_node_wanted(const struct sinfo *f, const json_t *node)
{
    const char *name = answer_text(node, "name");
    bool found = !f->states;
    for (const char *at = f->states; at && *at && !found;) {
        size_t n = strcspn(at, ",");
        found = node_state_is(node_state(node), at, n);
        at += n + (at[n] == ',');
    }
    return found && (!f->named || hostlist_find(&f->names, name, strlen(name)) >= 0) &&
           (!f->reasons || *answer_text(node, "reason"));
}

/* What a line tells of a node, in one text, as a member of it: those where it is the same are one line. */
#define ALIKE "alike"

static int note_alike(const struct sinfo *f, json_t *node)
{
    struct strbuf none = {0}, text = {0};
    struct format_cell cell;
    for (const char *at = f->format; (at = format_next(at, &cell, &none)) != NULL;) {
        if (sinfo_is_of_partition(cell.letter) || sinfo_is_of_all(cell.letter))
            continue;
        sinfo_put(&(struct node_group){.node = node}, cell.letter, &text);
        strbuf_putc(&text, '\n');
    }
    int rc = json_object_set_new(node, ALIKE, json_string(strbuf_text(&text)));
    strbuf_clear(&none);
    strbuf_clear(&text);
    return rc;
}

static int visit(void *context, const char *text, size_t length)
{
    struct sinfo *f = context;
    json_t *node = json_loadb(text, length, 0, NULL);
    size_t at = json_array_size(f->nodes);
    if (!node) {
        errno = EPROTO;
        return -1;
    }
    if (!is_node_wanted(f, node)) {
        json_decref(node);
        return 0;
    }
    if (note_alike(f, node) < 0) {
        json_decref(node);
        errno = ENOMEM;
        return -1;
    }
    while (!f->by_node && at > 0 && node_state(json_array_get(f->nodes, at - 1)) < node_state(node))
        at--;
    return json_array_insert_new(f->nodes, at, node);
}

/* ---- Lines ---- */

static void widen_cell(struct format_cell *cell, const struct sinfo *f)
{
    size_t most = cell->letter == 'P' ? f->widest[0] : f->widest[1];
    if (cell->fits && cell->width < most)
        cell->width = most;
}

/* Without a group, the heads. */
static void print_sinfo_line(const struct sinfo *f, const struct node_group *group)
{
    struct strbuf line = {0}, text = {0};
    struct format_cell cell;
    for (const char *at = f->format; (at = format_next(at, &cell, &line)) != NULL;) {
        strbuf_reset(&text);
        if (group)
            sinfo_put(group, cell.letter, &text);
        else
            strbuf_puts(&text, sinfo_head(cell.letter));
        widen_cell(&cell, f);
        format_put(&cell, &text, &line);
    }
    terminal_print(stdout, strbuf_text(&line));
    putchar('\n');
    strbuf_clear(&line);
    strbuf_clear(&text);
}

static int add_node_to_group(struct node_group *group, const json_t *node)
{
    const char *name = answer_text(node, "name");
    node_group_add(group, node);
    return hostlist_append_host(&group->names, name, strlen(name));
}

/* The line of a node and of all from it on that are like it; `told` says of which there was one. 0, or -1 with errno. */
static int print_alike(const struct sinfo *f, struct node_group *group, size_t i, size_t end,
                       bool *told)
{
    group->node = json_array_get(f->nodes, i);
    const char *alike = answer_text(group->node, ALIKE);
    int rc = 0;
    for (; rc == 0 && i < end; i++) {
        const json_t *node = json_array_get(f->nodes, i);
        if (told[i] || strcmp(answer_text(node, ALIKE), alike) != 0)
            continue;
        told[i] = true;
        rc = add_node_to_group(group, node);
    }
    if (rc < 0 || hostlist_sort(&group->names) < 0)
        return -1;
    print_sinfo_line(f, group);
    return 0;
}

static bool tells_partitions(const char *format)
{
    struct strbuf none = {0};
    struct format_cell cell;
    bool tells = false;
    for (const char *at = format; (at = format_next(at, &cell, &none)) != NULL;)
        tells = tells || sinfo_is_of_partition(cell.letter);
    strbuf_clear(&none);
    return tells;
}

/* The lines of a queue for nodes from one on. 0, or -1 with errno. */
static int print_queue(const struct sinfo *f, const json_t *queue, size_t first, size_t end)
{
    bool is_default = strcmp(answer_text(f->answer, "default"), answer_text(queue, "name")) == 0;
    bool *told = calloc(end + 1, sizeof(*told));
    int rc = told ? 0 : -1;
    if (rc == 0 && first == end && tells_partitions(f->format)) /* none is wanted */
        print_sinfo_line(f, &(struct node_group){.queue = queue, .is_default = is_default});
    for (size_t i = first; rc == 0 && i < end; i++) {
        struct node_group group = {.queue = queue, .is_default = is_default};
        if (!told[i])
            rc = print_alike(f, &group, i, end, told);
        hostlist_clear(&group.names);
    }
    free(told);
    return rc;
}

static bool is_named(const char *list, const char *word)
{
    for (const char *at = list; at && *at;) {
        size_t n = strcspn(at, ",");
        if (strlen(word) == n && strncmp(at, word, n) == 0)
            return true;
        at += n + (at[n] == ',');
    }
    return !list;
}

/* The lines of nodes from one on, for each queue; for one, if they tell nothing of it. */
static int print_queues(const struct sinfo *f, size_t first, size_t end)
{
    bool each = tells_partitions(f->format), any = false;
    json_t *queue;
    size_t i;
    json_array_foreach (json_object_get(f->answer, "queues"), i, queue) {
        if ((any && !each) || !is_named(f->queues, answer_text(queue, "name")))
            continue;
        any = true;
        if (print_queue(f, queue, first, end) < 0)
            return -1;
    }
    return 0;
}

static void find_widest(struct sinfo *f)
{
    json_t *one;
    size_t i;
    f->widest[0] = strlen(sinfo_head('P'));
    f->widest[1] = strlen(sinfo_head('N')) + 2;
    json_array_foreach (json_object_get(f->answer, "queues"), i, one) {
        size_t n = strlen(answer_text(one, "name")) + 1;
        f->widest[0] = n > f->widest[0] ? n : f->widest[0];
    }
    json_array_foreach (f->nodes, i, one) {
        size_t n = strlen(answer_text(one, "name"));
        f->widest[1] = n > f->widest[1] ? n : f->widest[1];
    }
}

static void print_date(void)
{
    char text[64];
    time_t now = time(NULL);
    struct tm day;
    if (localtime_r(&now, &day) && strftime(text, sizeof(text), "%a %b %e %H:%M:%S %Y", &day) > 0)
        puts(text);
}

static int print_all(struct sinfo *f, struct connection *s, berth_error_t *err)
{
    int rc = 0;
    f->nodes = json_array();
    if (!f->nodes || connection_start(s, err) < 0 ||
        connection_ask(s, "GET", "/v1/queues", NULL, &f->answer, err) < 0 ||
        connection_list(s, "/v1/nodes", visit, f, err) < 0)
        return connection_failed(s, err);
    find_widest(f);
    if (!f->no_head && f->is_long)
        print_date();
    if (!f->no_head)
        print_sinfo_line(f, NULL);
    size_t n = json_array_size(f->nodes);
    for (size_t i = 0; rc == 0 && f->by_node && i < n; i++)
        rc = print_queues(f, i, i + 1);
    if (!f->by_node)
        rc = print_queues(f, 0, n);
    return rc < 0 ? shim_failed("sinfo", "out of memory") : 0;
}

/* ---- The command line ---- */

static void take_sinfo_value(struct sinfo *f, int what, const char *value)
{
    f->no_head = f->no_head || what == HEAD;
    f->help = f->help || what == HELP;
    f->version = f->version || what == VERSION;
    f->by_node = f->by_node || what == BY_NODE;
    f->is_long = f->is_long || what == LONG_FORM;
    f->sums = f->sums || what == SUM;
    f->reasons = f->reasons || what == WHY;
    f->format = what == FORM ? value : f->format;
    f->queues = what == QUEUES ? value : f->queues;
    f->named = what == NAMED ? value : f->named;
    f->states = what == STATES ? value : f->states;
    f->clusters = what == CLUSTERS ? value : f->clusters;
}

/* 0, or the status of a value that is wrong. */
static int check_values(struct sinfo *f)
{
    berth_error_t err;
    if (!format_is_right(f->format))
        return shim_failed("sinfo", "--format is '%.60s', expected %s", f->format, FORMAT_RIGHT);
    if (f->clusters && shim_cluster("sinfo", f->clusters) != 0)
        return 1;
    for (const char *at = f->states; at && *at;) {
        size_t n = strcspn(at, ",");
        if (!node_state_is_known(at, n))
            return shim_failed("sinfo",
                               "--states has '%.*s', expected idle, mix, alloc, drain, drained, "
                               "draining or down",
                               (int)(n < 60 ? n : 60), at);
        at += n + (at[n] == ',');
    }
    if (f->named && hostlist_decode(&f->names, f->named, strlen(f->named), &err) < 0)
        return shim_failed("sinfo", "--nodes is '%.60s': %s", f->named, err.text);
    return 0;
}

static const char *usual_format(const struct sinfo *f)
{
    return f->reasons   ? REASONS
           : f->sums    ? BRIEF
           : f->by_node ? (f->is_long ? NODES_LONG : NODES)
                        : (f->is_long ? LONG : FORMAT);
}

int shim_sinfo(int argc, char **argv)
{
    struct sinfo f = {.format = NULL};
    struct foreign_words walk = {.tool = "sinfo", .where = "", .v = argv + 1, .n = argc - 1};
    const struct foreign_option *option;
    struct connection s;
    const char *value;
    berth_error_t err;
    int rc;

    while ((rc = foreign_next(&walk, options, sizeof(options) / sizeof(*options), &option, &value,
                              &err)) > 0)
        take_sinfo_value(&f, option->what, value);
    if (rc < 0)
        return shim_failed("sinfo", "%s", err.text);
    if (walk.at < walk.n)
        return shim_failed("sinfo", "'%.60s' is not an option", walk.v[walk.at]);
    if (f.help)
        return puts("usage: sinfo [-hlNRs] [-o FORMAT] [-p QUEUES] [-n NODES] [-t STATES]") < 0;
    if (f.version)
        return shim_version();
    f.format = f.format ? f.format : usual_format(&f);
    rc = check_values(&f);
    if (rc == 0) {
        rc = connection_open(&s, "sinfo", &err) < 0 ? connection_failed(&s, &err)
                                                    : print_all(&f, &s, &err);
        connection_close(&s);
    }
    hostlist_clear(&f.names);
    json_decref(f.answer);
    json_decref(f.nodes);
    return rc;
}
