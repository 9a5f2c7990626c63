#include "cli/shim/sinfo_cells.h"

#include <string.h>
#include <strings.h>

#include "cli/client/connection.h"
#include "cli/client/when.h"
#include "cli/shim/fields.h"

/* ---- States ---- */

static const struct {
    const char *brief, *full;
} state_words[] = {[NODE_DOWN] = {"down", "down"},        [NODE_IDLE] = {"idle", "idle"},
                   [NODE_FULL] = {"alloc", "allocated"},  [NODE_MIXED] = {"mix", "mixed"},
                   [NODE_DRAINED] = {"drain", "drained"}, [NODE_DRAINING] = {"drng", "draining"}};

static double at_least_0(const json_t *object, const char *key)
{
    double n = answer_number(object, key);
    return n > 0 ? n : 0;
}

enum node_state node_state(const json_t *node)
{
    const char *status = answer_text(node, "status");
    double used = at_least_0(node, "cores_used");
    if (strcmp(status, "drained") == 0)
        return used > 0 ? NODE_DRAINING : NODE_DRAINED;
    if (strcmp(status, "up") != 0 && strcmp(status, "partly") != 0)
        return NODE_DOWN;
    if (used <= 0)
        return NODE_IDLE;
    return used < at_least_0(node, "cores") ? NODE_MIXED : NODE_FULL;
}

static bool is_word(const char *word, size_t length, const char *other)
{
    return strlen(other) == length && strncasecmp(word, other, length) == 0;
}

bool node_state_is(enum node_state state, const char *word, size_t length)
{
    bool drains = state == NODE_DRAINED || state == NODE_DRAINING;
    return is_word(word, length, state_words[state].brief) ||
           is_word(word, length, state_words[state].full) || is_word(word, length, "all") ||
           (drains && is_word(word, length, "drain"));
}

bool node_state_is_known(const char *word, size_t length)
{
    for (int state = NODE_DOWN; state <= NODE_DRAINING; state++)
        if (node_state_is((enum node_state)state, word, length))
            return true;
    return false;
}

/* ---- Groups ---- */

void node_group_add(struct node_group *group, const json_t *node)
{
    enum node_state state = node_state(node);
    double cores = at_least_0(node, "cores"), used = at_least_0(node, "cores_used");
    bool is_up = state >= NODE_IDLE && state <= NODE_MIXED;
    group->nodes[used > 0 ? 0 : is_up ? 1 : 2]++;
    group->cores[0] += used;
    group->cores[is_up ? 1 : 2] += cores - used;
}

/* ---- Heads ---- */

static const struct {
    char letter;
    char of; /* 'p' a partition, 'a' all nodes, 'n' a node */
    const char *head;
} heads[] = {
    {'P', 'p', "PARTITION"},      {'R', 'p', "PARTITION"},       {'a', 'p', "AVAIL"},
    {'l', 'p', "TIMELIMIT"},      {'L', 'p', "DEFAULTTIME"},     {'s', 'p', "JOB_SIZE"},
    {'r', 'p', "ROOT"},           {'h', 'p', "OVERSUBSCRIBE"},   {'g', 'p', "GROUPS"},
    {'p', 'p', "PRIO_TIER"},      {'S', 'p', "ALLOCNODES"},      {'D', 'a', "NODES"},
    {'N', 'a', "NODELIST"},       {'A', 'a', "NODES(A/I)"},      {'F', 'a', "NODES(A/I/O/T)"},
    {'C', 'a', "CPUS(A/I/O/T)"},  {'t', 'n', "STATE"},           {'T', 'n', "STATE"},
    {'c', 'n', "CPUS"},           {'m', 'n', "MEMORY"},          {'G', 'n', "GRES"},
    {'f', 'n', "AVAIL_FEATURES"}, {'b', 'n', "ACTIVE_FEATURES"}, {'n', 'n', "HOSTNAMES"},
    {'o', 'n', "NODE_ADDR"},      {'E', 'n', "REASON"},          {'H', 'n', "TIMESTAMP"},
    {'u', 'n', "USER"},           {'X', 'n', "SOCKETS"},         {'Y', 'n', "CORES"},
    {'Z', 'n', "THREADS"},        {'z', 'n', "S:C:T"},           {'d', 'n', "TMP_DISK"},
    {'w', 'n', "WEIGHT"}};

static char kind_of_cell(char letter)
{
    for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++)
        if (heads[i].letter == letter)
            return heads[i].of;
    return 'n';
}

const char *sinfo_head(char letter)
{
    for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++)
        if (heads[i].letter == letter)
            return heads[i].head;
    return "N/A";
}

bool sinfo_is_of_partition(char letter)
{
    return kind_of_cell(letter) == 'p';
}

bool sinfo_is_of_all(char letter)
{
    return kind_of_cell(letter) == 'a';
}

/* ---- Cells ---- */

static void put_counts(const double n[3], bool all, struct strbuf *out)
{
    strbuf_put_int(out, (int64_t)n[0]);
    strbuf_putc(out, '/');
    strbuf_put_int(out, (int64_t)n[1]);
    if (!all)
        return;
    strbuf_putc(out, '/');
    strbuf_put_int(out, (int64_t)n[2]);
    strbuf_putc(out, '/');
    strbuf_put_int(out, (int64_t)(n[0] + n[1] + n[2]));
}

static const char *openness(const json_t *queue)
{
    bool takes = json_is_true(json_object_get(queue, "enabled"));
    bool starts = json_is_true(json_object_get(queue, "started"));
    return takes ? starts ? "up" : "down" : starts ? "drain" : "inactive";
}

static void put_time(double seconds, const char *otherwise, struct strbuf *out)
{
    char text[WHEN_SIZE];
    strbuf_puts(out, seconds > 0 ? when_span(seconds, text) : otherwise);
}

/* "1-4": how many nodes a job may have. */
static void put_job_size(const json_t *limits, struct strbuf *out)
{
    double most = answer_number(limits, "node");
    strbuf_puts(out, most == 1 ? "1" : "1-");
    if (most > 1)
        strbuf_put_int(out, (int64_t)most);
    else if (most != 1)
        strbuf_puts(out, "infinite");
}

static void put_of_partition(const struct node_group *g, char letter, struct strbuf *out)
{
    const json_t *limits = json_object_get(json_object_get(g->queue, "limits"), "job");
    switch (letter) {
    case 'P':
    case 'R':
        strbuf_puts(out, answer_text(g->queue, "name"));
        strbuf_puts(out, letter == 'P' && g->is_default ? "*" : "");
        break;
    case 'a':
        strbuf_puts(out, openness(g->queue));
        break;
    case 'l':
        put_time(answer_number(limits, "duration"), "infinite", out);
        break;
    case 'L':
        put_time(answer_number(g->queue, "default_limit"), "n/a", out);
        break;
    case 's':
        put_job_size(limits, out);
        break;
    case 'r':
        strbuf_puts(out, "no");
        break;
    case 'h':
        strbuf_puts(out, "NO");
        break;
    case 'p':
        strbuf_put_int(out, (int64_t)answer_number(g->queue, "priority"));
        break;
    default:
        strbuf_puts(out, "all");
        break;
    }
}

static void put_of_all(const struct node_group *g, char letter, struct strbuf *out)
{
    if (letter == 'N')
        hostlist_encode(&g->names, out);
    else if (letter == 'D')
        strbuf_put_int(out, (int64_t)(g->nodes[0] + g->nodes[1] + g->nodes[2]));
    else
        put_counts(letter == 'C' ? g->cores : g->nodes, letter != 'A', out);
}

/* The properties of a node, separated by commas. */
static void put_features(const json_t *node, struct strbuf *out)
{
    const json_t *list = json_object_get(node, "properties"), *one;
    size_t i;
    strbuf_puts(out, json_array_size(list) ? "" : "(null)");
    json_array_foreach (list, i, one) {
        strbuf_puts(out, i ? "," : "");
        strbuf_puts(out, json_string_value(one) ? json_string_value(one) : "");
    }
}

static void put_node_size(const json_t *node, char letter, struct strbuf *out)
{
    int64_t cores = (int64_t)at_least_0(node, "cores"), gpus = (int64_t)at_least_0(node, "gpus");
    if (letter == 'z')
        strbuf_puts(out, "1:");
    if (letter == 'G' && gpus == 0)
        strbuf_puts(out, "(null)");
    else if (letter == 'G')
        strbuf_puts(out, "gpu:");
    if (letter == 'c' || letter == 'Y' || letter == 'z')
        strbuf_put_int(out, cores);
    else if (letter == 'm')
        strbuf_put_int(out, (int64_t)(at_least_0(node, "memory") / 1048576));
    else if (letter == 'G' && gpus > 0)
        strbuf_put_int(out, gpus);
    else if (letter == 'd')
        strbuf_putc(out, '0');
    else if (letter != 'G')
        strbuf_putc(out, '1');
    if (letter == 'z')
        strbuf_puts(out, ":1");
}

static void put_of_node(const json_t *node, char letter, struct strbuf *out)
{
    const char *reason = answer_text(node, "reason");
    switch (letter) {
    case 't':
        strbuf_puts(out, node ? state_words[node_state(node)].brief : "n/a");
        break;
    case 'T':
        strbuf_puts(out, node ? state_words[node_state(node)].full : "n/a");
        break;
    case 'n':
    case 'o':
        strbuf_puts(out, answer_text(node, "name"));
        break;
    case 'f':
    case 'b':
        put_features(node, out);
        break;
    case 'E':
        strbuf_puts(out, *reason ? reason : "none");
        break;
    case 'H':
        shim_put_time(answer_number(node, "since"), "Unknown", out);
        break;
    case 'u':
        strbuf_puts(out, "Unknown");
        break;
    default:
        if (letter && strchr("cmGXYZzdw", letter))
            put_node_size(node, letter, out);
        else
            strbuf_puts(out, "N/A");
    }
}

void sinfo_put(const struct node_group *group, char letter, struct strbuf *out)
{
    if (sinfo_is_of_partition(letter))
        put_of_partition(group, letter, out);
    else if (sinfo_is_of_all(letter))
        put_of_all(group, letter, out);
    else
        put_of_node(group->node, letter, out);
}
