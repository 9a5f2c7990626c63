/* Rows of a machine, and what names in the text of an allocation have of them. */
#include "report/machine_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/errtext.h"
#include "base/hostlist.h"

const char *const machine_parts[MACHINE_PARTS] = {"core", "gpu"};

/* ---- Nodes by name ---- */

static struct machine_row_node *find_row_node(const struct machine_rows *m, const char *name,
                                              size_t n)
{
    uint32_t id;
    return intern_find(&m->names, name, n, &id) ? &m->v[id] : NULL;
}

/* A node by its name, which may be new. NULL: ENOMEM. */
static struct machine_row_node *find_or_add_node(struct machine_rows *m, const char *name, size_t n)
{
    uint32_t id;
    if (array_grow((void **)&m->v, &m->cap, m->n + 1, sizeof(*m->v)) < 0)
        return NULL;
    if (intern_put(&m->names, name, n, &id) < 0)
        return NULL;
    if (id == m->n)
        m->v[m->n++] = (struct machine_row_node){0};
    return &m->v[id];
}

/* ---- Names ---- */

/* What is the whole of a node, or a core or GPU of it by its number. */
struct place_name {
    size_t node; /* bytes of the node's name */
    int part;    /* -1: the node, or something of it that has no row */
    bool whole;
    int64_t number;
};

/* Units of a pool beside the nodes, such as licences: "matlab:2". */
static bool is_pool(const char *name)
{
    return !strchr(name, '/') && strchr(name, ':');
}

static struct place_name split_place_name(const char *name)
{
    struct place_name at = {.node = strcspn(name, "/"), .part = -1};
    at.whole = name[at.node] == '\0';
    const char *last = at.whole ? NULL : strrchr(name, '/') + 1;
    for (int p = 0; last && p < MACHINE_PARTS; p++) {
        size_t n = strlen(machine_parts[p]);
        char *end;
        if (strncmp(last, machine_parts[p], n) != 0 || last[n] < '0' || last[n] > '9')
            continue;
        at.number = strtoll(last + n, &end, 10);
        if (*end == '\0')
            at.part = p;
    }
    return at;
}

static int insert_number(struct machine_part *part, int64_t number)
{
    size_t at = part->n;
    while (at > 0 && part->number[at - 1] >= number)
        at--;
    if (at < part->n && part->number[at] == number)
        return 0;
    if (array_grow((void **)&part->number, &part->cap, part->n + 1, sizeof(*part->number)) < 0)
        return -1;
    memmove(part->number + at + 1, part->number + at, (part->n - at) * sizeof(*part->number));
    part->number[at] = number;
    part->n++;
    return 0;
}

/* Note what a text names. */
static int note_names(struct machine_rows *m, const char *text)
{
    struct hostlist names = {0};
    struct hostlist_cursor c = {0};
    char name[HOSTLIST_NAME_SIZE];
    int rc = 0;
    if (hostlist_decode(&names, text, strlen(text), NULL) < 0) {
        hostlist_clear(&names);
        return errno == ENOMEM ? -1 : 0;
    }
    while (rc == 0 && hostlist_next(&names, &c, name)) {
        if (is_pool(name))
            continue;
        struct place_name at = split_place_name(name);
        struct machine_row_node *node = find_or_add_node(m, name, at.node);
        rc = !node ? -1 : at.part < 0 ? 0 : insert_number(&node->part[at.part], at.number);
    }
    hostlist_clear(&names);
    return rc;
}

/* ---- Rows ---- */

/* Give a part its rows: those that the machine has, if all names are of these. */
static int number_rows(struct machine_part *part, int64_t count, size_t *row)
{
    bool within = part->n == 0 || part->number[part->n - 1] < count;
    for (int64_t i = 0; within && i < count; i++)
        if (insert_number(part, i) < 0)
            return -1;
    part->first = *row;
    *row += part->n;
    return 0;
}

int machine_rows_make(struct machine_rows *m, const struct machine_node *nodes, size_t n_nodes,
                      const char *const *texts, size_t n_texts, berth_error_t *err)
{
    bool made = true;
    *m = (struct machine_rows){0};
    for (size_t i = 0; made && i < n_nodes; i++) {
        struct machine_row_node *node = find_or_add_node(m, nodes[i].name, strlen(nodes[i].name));
        made = node != NULL;
        if (made) {
            node->count[0] = nodes[i].cores;
            node->count[1] = nodes[i].gpus;
        }
    }
    for (size_t i = 0; made && i < n_texts; i++)
        made = note_names(m, texts[i]) == 0;
    for (size_t i = 0; made && i < m->n; i++) {
        struct machine_row_node *node = &m->v[i];
        node->first = m->rows;
        for (int p = 0; made && p < MACHINE_PARTS; p++)
            made = number_rows(&node->part[p], node->count[p], &m->rows) == 0;
        m->rows += m->rows == node->first; /* a node of which nothing is known has a row */
        node->n = m->rows - node->first;
    }
    if (made)
        return 0;
    machine_rows_clear(m);
    return errtext_set(err, ENOMEM, "%s", strerror(ENOMEM));
}

void machine_rows_clear(struct machine_rows *m)
{
    for (size_t i = 0; i < m->n; i++)
        for (int p = 0; p < MACHINE_PARTS; p++)
            free(m->v[i].part[p].number);
    free(m->v);
    intern_clear(&m->names);
    *m = (struct machine_rows){0};
}

/* ---- What a text names ---- */

static struct machine_span span_of(const struct machine_rows *m, const char *name)
{
    struct place_name at = split_place_name(name);
    const struct machine_row_node *node = find_row_node(m, name, at.node);
    if (node && at.whole)
        return (struct machine_span){node->first, node->n};
    const struct machine_part *part = node && at.part >= 0 ? &node->part[at.part] : NULL;
    for (size_t i = 0; part && i < part->n; i++)
        if (part->number[i] == at.number)
            return (struct machine_span){part->first + i, 1};
    return (struct machine_span){0, 0};
}

static int compare_spans(const void *a, const void *b)
{
    const struct machine_span *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

/* Join spans that touch. Returns how many are left. */
static size_t join_spans(struct machine_span *v, size_t n)
{
    size_t kept = 0;
    qsort(v, n, sizeof(*v), compare_spans);
    for (size_t i = 0; i < n; i++) {
        struct machine_span *last = kept > 0 ? &v[kept - 1] : NULL;
        size_t end = v[i].first + v[i].n;
        if (last && v[i].first <= last->first + last->n)
            last->n = end > last->first + last->n ? end - last->first : last->n;
        else
            v[kept++] = v[i];
    }
    return kept;
}

int64_t machine_rows_find(const struct machine_rows *m, const char *text,
                          struct machine_span **spans)
{
    struct hostlist names = {0};
    struct hostlist_cursor c = {0};
    char name[HOSTLIST_NAME_SIZE];
    size_t n = 0;
    *spans = NULL;
    if (hostlist_decode(&names, text, strlen(text), NULL) < 0) {
        hostlist_clear(&names);
        return errno == ENOMEM ? -1 : 0;
    }
    struct machine_span *v = calloc((size_t)hostlist_count(&names) + 1, sizeof(*v));
    while (v && hostlist_next(&names, &c, name)) {
        v[n] = span_of(m, name);
        n += v[n].n > 0;
    }
    hostlist_clear(&names);
    if (!v) {
        errno = ENOMEM;
        return -1;
    }
    *spans = v;
    return (int64_t)(n > 0 ? join_spans(v, n) : 0);
}

/* ---- Cores ---- */

/* The node of a row. */
static const struct machine_row_node *node_of_row(const struct machine_rows *m, size_t row)
{
    size_t low = 0, high = m->n;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (m->v[middle].first <= row)
            low = middle;
        else
            high = middle;
    }
    return &m->v[low];
}

static size_t common(size_t first, size_t end, const struct machine_part *part)
{
    size_t from = first > part->first ? first : part->first;
    size_t to = end < part->first + part->n ? end : part->first + part->n;
    return to > from ? to - from : 0;
}

int64_t machine_rows_cores(const struct machine_rows *m, const char *text)
{
    struct machine_span *spans;
    int64_t n = machine_rows_find(m, text, &spans), cores = 0;
    for (int64_t i = 0; i < n; i++) {
        size_t end = spans[i].first + spans[i].n;
        for (size_t row = spans[i].first; row < end;) {
            const struct machine_row_node *node = node_of_row(m, row);
            size_t stop = end < node->first + node->n ? end : node->first + node->n;
            cores += (int64_t)common(row, stop, &node->part[0]);
            row = stop;
        }
    }
    free(spans);
    return n < 0 ? -1 : cores;
}
