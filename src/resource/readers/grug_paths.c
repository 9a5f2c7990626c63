#include "resource/readers/grug_paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

struct place {
    uint32_t vertex, subsystem;
};

void grug_paths_clear(struct grug_paths *p)
{
    int saved = errno;

    free(p->made_under);
    free(p->text);
    intern_clear(&p->written);
    intern_clear(&p->texts);
    memset(p, 0, sizeof(*p));
    errno = saved;
}

int grug_paths_made(struct grug_paths *p, uint32_t under)
{
    if (array_grow((void **)&p->made_under, &p->capacity, (size_t)p->n + 1,
                   sizeof(*p->made_under)) < 0)
        return -1;
    p->made_under[p->n++] = under;
    return 0;
}

/* The path that is written down, by its number in texts. */
static bool find_written(const struct grug_paths *p, uint32_t v, uint8_t subsystem, uint32_t *text)
{
    struct place place = {v, subsystem};
    uint32_t id;

    if (p->written.n == 0 || !intern_find(&p->written, (const char *)&place, sizeof(place), &id))
        return false;
    *text = p->text[id];
    return true;
}

void grug_path(const struct grug_paths *p, uint32_t v, uint8_t subsystem, struct strbuf *out)
{
    uint32_t text;

    if (find_written(p, v, subsystem, &text)) {
        strbuf_put(out, intern_text(&p->texts, text), intern_length(&p->texts, text));
        return;
    }
    if (p->g->v[v].subsystem != subsystem)
        return;
    if (p->made_under[v] != VERTEX_NONE)
        grug_path(p, p->made_under[v], subsystem, out); /* as deep as the recipe's edges go */
    strbuf_putc(out, '/');
    graph_name(p->g, v, out);
}

static int write_down(struct grug_paths *p, uint32_t v, uint8_t subsystem, struct strbuf *path)
{
    struct place place = {v, subsystem};
    uint32_t id, text;

    if (path->failed) {
        errno = ENOMEM;
        return -1;
    }
    if (intern_put(&p->texts, path->data, path->len, &text) < 0 ||
        intern_put(&p->written, (const char *)&place, sizeof(place), &id) < 0)
        return -1;
    if (array_grow((void **)&p->text, &p->text_capacity, (size_t)id + 1, sizeof(*p->text)) < 0)
        return -1;
    p->text[id] = text;
    return 0;
}

int grug_paths_keep(struct grug_paths *p, const uint8_t *is_one, uint8_t subsystem)
{
    struct strbuf path = {0};
    uint32_t text;
    int rc = 0;

    for (uint32_t v = 0; v < p->n && rc == 0; v++) {
        uint32_t under = p->made_under[v];
        if (under == VERTEX_NONE || !is_one[under] || p->g->v[v].subsystem != subsystem ||
            find_written(p, v, subsystem, &text))
            continue;
        strbuf_reset(&path);
        grug_path(p, v, subsystem, &path);
        rc = write_down(p, v, subsystem, &path);
    }
    strbuf_clear(&path);
    return rc;
}

int grug_paths_put(struct grug_paths *p, uint32_t v, uint32_t under, uint8_t subsystem)
{
    struct strbuf path = {0};

    grug_path(p, under, subsystem, &path);
    strbuf_putc(&path, '/');
    graph_name(p->g, v, &path);
    int rc = write_down(p, v, subsystem, &path);
    strbuf_clear(&path);
    return rc;
}

/* True if the stored path is the one that follows from the graph's edges. */
static bool follows(const struct grug_paths *p, uint32_t v, uint8_t subsystem, uint32_t text,
                    struct strbuf *path)
{
    uint32_t parent = graph_parent(p->g, v, subsystem);

    strbuf_reset(path);
    if (parent != VERTEX_NONE)
        grug_path(p, parent, subsystem, path);
    strbuf_putc(path, '/');
    graph_name(p->g, v, path);
    return !path->failed && path->len == intern_length(&p->texts, text) &&
           memcmp(path->data, intern_text(&p->texts, text), path->len) == 0;
}

int grug_paths_settle(struct grug_paths *p, struct graph *g)
{
    struct strbuf path = {0};
    struct place place;
    uint32_t text;
    int rc = 0;

    for (uint32_t i = 0; i < p->written.n && rc == 0; i++) {
        memcpy(&place, intern_text(&p->written, i), sizeof(place));
        if (!follows(p, place.vertex, (uint8_t)place.subsystem, p->text[i], &path))
            rc = graph_set_path(g, place.vertex, (uint8_t)place.subsystem,
                                intern_text(&p->texts, p->text[i]));
    }
    for (uint32_t v = 0; v < p->n && rc == 0; v++) {
        uint8_t own = g->v[v].subsystem;
        if (graph_parent(g, v, own) == p->made_under[v] || find_written(p, v, own, &text))
            continue;
        strbuf_reset(&path);
        grug_path(p, v, own, &path);
        rc = path.failed ? -1 : graph_set_path(g, v, own, strbuf_text(&path));
    }
    if (path.failed) {
        errno = ENOMEM;
        rc = -1;
    }
    strbuf_clear(&path);
    return rc < 0 || g->n_paths == 0 ? rc : graph_seal(g);
}
