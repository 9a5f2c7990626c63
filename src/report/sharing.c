#include "report/sharing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/intern.h"
#include "base/strbuf.h"

/* What was noted last. */
struct now {
    uint32_t node;
    double deserves, has;
};

struct sharing_log {
    struct intern keys; /* of nodes, by number: what is above, kind, name */
    struct strbuf key;
    struct now *now;
    size_t n_now, cap_now;
    size_t cap_nodes;
};

struct sharing *sharing_create(void)
{
    struct sharing *s = calloc(1, sizeof(*s));
    if (s && !(s->log = calloc(1, sizeof(*s->log)))) {
        free(s);
        return NULL;
    }
    if (s)
        s->width = 1;
    return s;
}

void sharing_destroy(struct sharing *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++) {
        free(s->nodes[i].name);
        free(s->nodes[i].deserved_in);
    }
    free(s->nodes);
    intern_clear(&s->log->keys);
    strbuf_clear(&s->log->key);
    free(s->log->now);
    free(s->log);
    free(s);
}

/* ---- Nodes ---- */

/* Its name, with those of the nodes above it. NULL with ENOMEM. */
static char *path_name(const struct sharing *s, const char *name, int64_t above)
{
    struct strbuf path = {0};
    if (above > 0) {
        strbuf_puts(&path, s->nodes[above].name);
        strbuf_putc(&path, '/');
    }
    strbuf_puts(&path, name);
    char *copy = path.failed ? NULL : strdup(strbuf_text(&path));
    strbuf_clear(&path);
    return copy;
}

static int node_add(struct sharing *s, const struct sharing_note *note, int64_t above)
{
    if (array_grow((void **)&s->nodes, &s->log->cap_nodes, s->n + 1, sizeof(*s->nodes)) < 0)
        return -1;
    struct sharing_node *node = &s->nodes[s->n];
    *node = (struct sharing_node){.kind = note->kind, .above = (int32_t)above, .is_leaf = true};
    node->name = path_name(s, note->name, above);
    node->deserved_in = calloc(2 * SHARING_COLUMNS, sizeof(*node->deserved_in));
    if (!node->name || !node->deserved_in) {
        free(node->name);
        free(node->deserved_in);
        return -1;
    }
    node->had_in = node->deserved_in + SHARING_COLUMNS;
    if (above >= 0) {
        node->depth = s->nodes[above].depth + 1;
        s->nodes[above].is_leaf = false;
    }
    s->n++;
    return 0;
}

/* The number of a noted node, which `now` has for those before it. -1 with ENOMEM. */
static int64_t find_noted_node(struct sharing *s, const struct sharing_note *notes, size_t i)
{
    struct sharing_log *log = s->log;
    int64_t above = i == 0 ? -1 : (int64_t)log->now[notes[i].above].node;
    uint32_t number;
    strbuf_reset(&log->key);
    strbuf_put_int(&log->key, above);
    strbuf_putc(&log->key, ' ');
    strbuf_puts(&log->key, notes[i].kind);
    strbuf_putc(&log->key, ' ');
    strbuf_puts(&log->key, notes[i].name);
    if (log->key.failed ||
        intern_put(&log->keys, strbuf_text(&log->key), log->key.len, &number) < 0)
        return -1;
    return number < s->n || node_add(s, &notes[i], above) == 0 ? (int64_t)number : -1;
}

/* ---- Time ---- */

static void widen_one(double *in)
{
    for (size_t c = 0; c < SHARING_COLUMNS; c++)
        in[c] = 2 * c < SHARING_COLUMNS ? in[2 * c] + in[2 * c + 1] : 0;
}

/* Columns are twice as wide: two become one. */
static void widen_columns(struct sharing *s)
{
    for (size_t i = 0; i < s->n; i++) {
        widen_one(s->nodes[i].deserved_in);
        widen_one(s->nodes[i].had_in);
    }
    widen_one(s->error_in);
    for (size_t c = 0; c < SHARING_COLUMNS; c++)
        s->stops[c] = 2 * c < SHARING_COLUMNS ? s->stops[2 * c] + s->stops[2 * c + 1] : 0;
    s->width *= 2;
}

static void reach(struct sharing *s, int64_t now)
{
    while ((now - s->from) / s->width >= SHARING_COLUMNS)
        widen_columns(s);
    s->columns = (size_t)((now - s->from) / s->width) + 1;
}

/* Something has been so much since the last note: into the columns. */
static void lasted(const struct sharing *s, int64_t now, double amount, double *in)
{
    for (int64_t at = s->until; at < now;) {
        int64_t column = (at - s->from) / s->width;
        int64_t end = s->from + (column + 1) * s->width;
        in[column] += (double)((end < now ? end : now) - at) * amount;
        at = end;
    }
}

/* What was noted last has lasted up to now. */
static void add_up_to_now(struct sharing *s, int64_t now)
{
    const struct sharing_log *log = s->log;
    double error = 0;
    for (size_t i = 0; i < log->n_now; i++) {
        const struct now *held = &log->now[i];
        struct sharing_node *node = &s->nodes[held->node];
        lasted(s, now, held->deserves, node->deserved_in);
        lasted(s, now, held->has, node->had_in);
        node->deserved += (double)(now - s->until) * held->deserves;
        node->had += (double)(now - s->until) * held->has;
        if (node->is_leaf)
            error += fabs(held->has - held->deserves) / 2;
    }
    lasted(s, now, error, s->error_in);
    s->error += error * (double)(now - s->until);
    if (error > s->max_error && now > s->until)
        s->max_error = error;
    s->until = now;
}

int sharing_add(struct sharing *s, int64_t now, const struct sharing_note *notes, size_t n)
{
    struct sharing_log *log = s->log;
    if (s->n == 0)
        s->from = s->until = now;
    reach(s, now);
    add_up_to_now(s, now);
    log->n_now = 0;
    if (array_grow((void **)&log->now, &log->cap_now, n, sizeof(*log->now)) < 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        int64_t node = find_noted_node(s, notes, i);
        if (node < 0)
            return -1;
        log->now[i] = (struct now){(uint32_t)node, notes[i].deserves, notes[i].has};
        log->n_now = i + 1;
    }
    return 0;
}

void sharing_stopped(struct sharing *s, int64_t now)
{
    if (s->n == 0)
        return;
    reach(s, now);
    s->stops[(now - s->from) / s->width]++;
}

/* ---- Numbers ---- */

double sharing_jain(const struct sharing *s)
{
    double sum = 0, squares = 0, n = 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct sharing_node *node = &s->nodes[i];
        if (!node->is_leaf || node->deserved <= 0)
            continue;
        double x = node->had / node->deserved;
        sum += x;
        squares += x * x;
        n++;
    }
    return squares > 0 ? sum * sum / (n * squares) : 1;
}

double sharing_mean_error(const struct sharing *s)
{
    return s->until > s->from ? s->error / (double)(s->until - s->from) : 0;
}
