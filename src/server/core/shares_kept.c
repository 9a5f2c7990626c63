#include "server/core/shares_kept.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/errtext.h"
#include "berth/sched_snapshot.h"

#define PREFIX "usage\t"
#define UNEVEN "uneven"

/* The kinds of the names that a node has, in this order; a tab comes before each but the first. */
static const char kinds[] = "DQAU";
enum { NAMES = 4 };

/* A value as it is stored: the number of the node among all, and what it has used. */
struct stored_usage {
    uint64_t number;
    struct sched_usage usage;
    char *name; /* which the names are part of */
};

struct stored_usages {
    struct stored_usage *v;
    size_t n, cap;
};

/* ---- Written ---- */

static void put_kind_and_name(struct strbuf *out, char kind, const char *name)
{
    if (!name)
        return;
    if (out->len > strlen(PREFIX))
        strbuf_putc(out, '\t');
    strbuf_putc(out, kind);
    strbuf_puts(out, name);
}

static int write_node(server_t *s, uint32_t node, berth_error_t *err)
{
    struct sched_usage u;
    char value[100];
    struct strbuf *name = &s->text;
    if (sched_usage(s->sched, node, &u) < 0)
        return 0; /* it has none that is kept */
    strbuf_reset(name);
    strbuf_puts(name, PREFIX);
    put_kind_and_name(name, kinds[0], u.node.division);
    put_kind_and_name(name, kinds[1], u.node.queue);
    put_kind_and_name(name, kinds[2], u.node.account);
    put_kind_and_name(name, kinds[3], u.node.user);
    snprintf(value, sizeof(value), "%" PRIu32 " %" PRId64 " %s", node, u.at, u.amount);
    if (name->failed)
        return errtext_no_memory(err);
    return store_put(s->store, strbuf_text(name), value, err);
}

/* A line for each queue: "1200 0 batch". */
static int uneven_write(server_t *s, berth_error_t *err)
{
    struct strbuf *text = &s->unsaved.uneven, *stored = &s->unsaved.stored_uneven;
    size_t n = sched_unevens(s->sched, NULL, 0);
    struct sched_uneven *list = calloc(n + 1, sizeof(*list));
    if (!list)
        return errtext_no_memory(err);
    sched_unevens(s->sched, list, n);
    strbuf_reset(text);
    for (size_t i = 0; i < n; i++) {
        strbuf_put_int(text, list[i].since);
        strbuf_putc(text, ' ');
        strbuf_put_int(text, list[i].rests);
        strbuf_putc(text, ' ');
        strbuf_puts(text, list[i].queue);
        strbuf_putc(text, '\n');
    }
    free(list);
    if (text->failed)
        return errtext_no_memory(err);
    return strcmp(strbuf_text(text), strbuf_text(stored)) == 0
               ? 0
               : store_put(s->store, UNEVEN, strbuf_text(text), err);
}

void shares_stored(server_t *s)
{
    struct strbuf text = s->unsaved.uneven;
    s->unsaved.uneven = s->unsaved.stored_uneven;
    s->unsaved.stored_uneven = text;
    s->unsaved.shares = false;
    sched_usages_kept(s->sched);
}

int shares_write(server_t *s, berth_error_t *err)
{
    const uint32_t *nodes;
    size_t n = sched_usages_changed(s->sched, &nodes);
    if (s->unsaved.shares && store_drop_values(s->store, PREFIX, err) < 0)
        return -1;
    if (s->unsaved.shares)
        n = sched_usages(s->sched);
    for (size_t i = 0; i < n; i++)
        if (write_node(s, s->unsaved.shares ? (uint32_t)i : nodes[i], err) < 0)
            return -1;
    return uneven_write(s, err);
}

void shares_renumbered(server_t *s)
{
    s->unsaved.shares = s->unsaved.urgent = true;
}

/* ---- Read ---- */

static void free_usages(struct stored_usages *all)
{
    for (size_t i = 0; i < all->n; i++)
        free(all->v[i].name);
    free(all->v);
}

/* Cut the names of a node out of the name of its value. False: it is none. */
static bool read_names(char *text, struct sched_share_name *node)
{
    const char **to[NAMES] = {&node->division, &node->queue, &node->account, &node->user};
    for (size_t i = 0; i < NAMES && *text; i++) {
        if (*text != kinds[i])
            continue;
        *to[i] = text + 1;
        text += strcspn(text, "\t");
        if (*text)
            *text++ = '\0';
    }
    return !*text;
}

static int read_value(void *context, const char *name, const char *value)
{
    struct stored_usages *all = context;
    struct stored_usage u = {0};
    if (array_grow((void **)&all->v, &all->cap, all->n + 1, sizeof(*all->v)) < 0 ||
        !(u.name = strdup(name + strlen(PREFIX))))
        return -1;
    if (sscanf(value, "%" SCNu64 " %" SCNd64 " %32s", &u.number, &u.usage.at, u.usage.amount) !=
            3 ||
        !read_names(u.name, &u.usage.node)) {
        free(u.name);
        errno = EINVAL;
        return -1;
    }
    all->v[all->n++] = u;
    return 0;
}

static int compare_numbers(const void *a, const void *b)
{
    const struct stored_usage *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

int shares_load(server_t *s, berth_error_t *err)
{
    struct stored_usages all = {0};
    berth_error_t why = {""};
    int rc = store_values(s->store, PREFIX, read_value, &all, err);
    if (rc < 0 && errno == EINVAL)
        errtext_set(err, EINVAL, "the stored usage of a share is malformed");
    if (rc == 0 && all.n > 0)
        qsort(all.v, all.n, sizeof(*all.v), compare_numbers);
    for (size_t i = 0; rc == 0 && i < all.n; i++) {
        rc = sched_restore_usage(s->sched, &all.v[i].usage, &why);
        if (rc < 0 && errno == ENOENT)
            rc = 0;
        else if (rc < 0)
            errtext_set(err, errno, "the stored usage of a share: %s", why.text);
    }
    s->unsaved.shares = rc == 0 && all.n > 0;
    int saved = errno;
    free_usages(&all);
    errno = saved;
    return rc;
}

int uneven_load(server_t *s, berth_error_t *err)
{
    const char *stored;
    if (store_get(s->store, UNEVEN, &stored, err) < 0)
        return -1;
    char *text = strdup(stored ? stored : ""), *rest = NULL;
    if (!text)
        return errtext_no_memory(err);
    int rc = 0;
    for (char *line = strtok_r(text, "\n", &rest); line && rc == 0;
         line = strtok_r(NULL, "\n", &rest)) {
        struct sched_uneven u;
        int at = 0;
        bool is_good =
            sscanf(line, "%" SCNd64 " %" SCNd64 " %n", &u.since, &u.rests, &at) == 2 && at > 0;
        u.queue = line + at;
        if (!is_good || (sched_restore_uneven(s->sched, &u) < 0 && errno != ENOENT))
            rc = errtext_set(err, EINVAL, "the stored times of uneven classes are malformed");
    }
    int saved = errno;
    free(text);
    errno = saved;
    return rc;
}
