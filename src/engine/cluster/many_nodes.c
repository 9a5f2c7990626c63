/* The nodes of an engine: the gate that lets their agents in, and what a server asks of them. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/errtext.h"
#include "engine/cluster/many_priv.h"
#include "engine/cluster/secret.h"
#include "engine/local/passive.h"

#define OUTPUTS    "output" /* in the folder of pilots, whose own names are numbers */
#define GATE_RETRY 1000000  /* us until a gate that has gone is started again */

/* A node, found or made. NULL with ENOMEM. */
static struct part *node_part(struct many *m, uint64_t pilot, const char *name)
{
    char id[NODE_NAME_MOST + 32];
    snprintf(id, sizeof(id), "%" PRIu64 "/%.*s", pilot, NODE_NAME_MOST, name);
    struct part *p = part_find(m, id);
    if (p)
        return p;
    char *outputs = NULL;
    if (asprintf(&outputs, "%s/" OUTPUTS "/%" PRIu64 "-%.*s", m->directory, pilot, NODE_NAME_MOST,
                 name) < 0)
        return NULL;
    struct engine *engine = passive_open(outputs);
    free(outputs);
    p = part_add(m, engine);
    if (p) {
        p->id = strdup(id);
        p->name = strdup(name);
        p->pilot = pilot;
        if (p->id && p->name)
            return p;
        m->n--;
        part_close(p);
    } else if (engine) {
        engine->ops->close(engine);
    }
    errno = ENOMEM;
    return NULL;
}

/* ---- The gate ---- */

static void open_gate(struct many *m)
{
    m->wants_gate = true;
    if (m->gate.control >= 0)
        return;
    gate_end(&m->gate);
    if (gate_start(&m->gate, m->program, m->directory, &m->trouble) == 0 &&
        many_listen(m, m->gate.control, &m->gate) == 0)
        m->trouble.text[0] = '\0';
    else
        many_come_back(m, GATE_RETRY);
}

/* A node has come, or come again. After another boot nothing runs there that ran before. */
static void take_joined_node(struct many *m, uint64_t pilot, int fd)
{
    struct node node;
    struct part *p = NULL;
    if (node_read(&node, m->text.data, m->text.len) == 0) {
        p = node_part(m, pilot, node.name);
        if (p && p->has_node && strcmp(p->node.boot, node.boot) != 0)
            passive_lose(p->engine);
        if (p) {
            node_clear(&p->node);
            p->node = node;
            p->has_node = true;
            m->change++;
        } else {
            node_clear(&node);
        }
    }
    if (p)
        passive_link(p->engine, fd);
    else
        close(fd);
}

void many_take_gate(struct many *m)
{
    uint64_t pilot;
    int fd, rc;
    while ((rc = gate_take(&m->gate, &pilot, &fd, &m->text)) > 0)
        take_joined_node(m, pilot, fd);
    strbuf_clear(&m->text);
    if (rc == 0)
        return;
    gate_end(&m->gate);
    many_come_back(m, GATE_RETRY);
}

void many_take_timer(struct many *m)
{
    uint64_t times;
    if (read(m->timer, &times, sizeof(times)) > 0 && m->wants_gate)
        open_gate(m);
}

/* ---- What a server asks of nodes ---- */

int many_invite(struct engine *e, uint64_t pilot, char *folder, berth_error_t *err)
{
    struct many *m = many_of(e);
    if (secret_path(folder, m->directory, pilot, ""))
        return errtext_set(err, errno, "%s: %s", m->directory, strerror(errno));
    if (secret_make(m->directory, pilot, err) < 0 && errno != EEXIST)
        return -1;
    open_gate(m);
    return 0;
}

void many_dismiss(struct engine *e, uint64_t pilot)
{
    secret_remove(many_of(e)->directory, pilot);
}

int many_expect(struct engine *e, uint64_t pilot, const char *name,
                const struct engine_expected *runs, size_t n)
{
    struct many *m = many_of(e);
    struct part *p = name ? node_part(m, pilot, name) : m->v[0];
    for (size_t i = 0; p && i < n; i++)
        if ((name && passive_expect(p->engine, &runs[i])) ||
            (runs[i].places > 1 && spread_expect(m, p, &runs[i])))
            return -1;
    open_gate(m);
    return p ? 0 : -1;
}

size_t many_nodes(struct engine *e, const struct engine_node **nodes, uint64_t *change)
{
    struct many *m = many_of(e);
    struct engine_node *v = reallocarray(m->nodes, m->n, sizeof(*v));
    *nodes = NULL;
    *change = m->change;
    if (!v)
        return 0;
    m->nodes = v;
    *nodes = v;
    for (size_t i = 1; i < m->n; i++) {
        const struct part *p = m->v[i];
        v[i - 1] = (struct engine_node){p->id,
                                        p->pilot,
                                        p->has_node ? &p->node : NULL,
                                        passive_linked(p->engine),
                                        passive_over(p->engine),
                                        NULL};
    }
    return m->n - 1;
}

void many_lose(struct engine *e, const char *id)
{
    struct many *m = many_of(e);
    struct part *p = part_find(m, id);
    if (!p || !p->id || passive_over(p->engine))
        return;
    passive_lose(p->engine);
    m->change++;
}

int many_forget(struct engine *e, const char *id)
{
    struct many *m = many_of(e);
    size_t i = 1;
    while (i < m->n && strcmp(m->v[i]->id, id) != 0)
        i++;
    if (i >= m->n)
        return 0;
    struct part *p = m->v[i];
    if (told_has(&m->told, p) || !passive_over(p->engine) || !passive_empty(p->engine)) {
        errno = EBUSY;
        return -1;
    }
    memmove(m->v + i, m->v + i + 1, (m->n - i - 1) * sizeof(struct part *));
    m->n--;
    m->change++;
    part_close(p);
    return 0;
}
