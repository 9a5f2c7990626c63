/* The description of a node, in bytes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cluster/node.h"
#include "engine/local/wire.h"

#define VERSION   2
#define TEXT_MOST 4096 /* bytes of a core's CPUs, or of a GPU's name */

static void put_text_list(struct strbuf *to, char *const *list, size_t n)
{
    wire_put_u32(to, (uint32_t)n);
    for (size_t i = 0; i < n; i++)
        wire_put_string(to, list[i]);
}

void node_put(struct strbuf *to, const struct node *node)
{
    wire_put_u32(to, VERSION);
    wire_put_string(to, node->name);
    wire_put_string(to, node->boot);
    wire_put_string(to, node->job);
    wire_put_string(to, node->address);
    wire_put_u64(to, (uint64_t)node->memory);
    wire_put_u64(to, (uint64_t)node->end);
    put_text_list(to, node->cores, node->n_cores);
    put_text_list(to, node->gpus, node->n_gpus);
}

/* A text of the characters that are allowed; NULL: any that can be printed. */
static char *read_text(struct wire *w, size_t most, const char *allowed)
{
    const char *text = wire_string(w);
    size_t n = text ? strlen(text) : 0;
    bool fits = text && !w->bad && n <= most;
    for (size_t i = 0; i < n && fits; i++)
        fits = allowed ? strchr(allowed, text[i]) != NULL
                       : text[i] > ' ' && text[i] < 127 && !strchr(",\"\\", text[i]);
    if (!fits)
        w->bad = true;
    return fits ? strdup(text) : NULL;
}

static int read_list(struct wire *w, size_t most, const char *allowed, char ***list, size_t *n)
{
    size_t count = wire_count(w, 5);
    if (w->bad || count > most) {
        w->bad = true;
        return 0;
    }
    *list = calloc(count + 1, sizeof(**list));
    for (*n = 0; *list && *n < count; (*n)++) {
        (*list)[*n] = read_text(w, TEXT_MOST, allowed);
        if (!(*list)[*n])
            return w->bad ? 0 : -1;
    }
    return *list ? 0 : -1;
}

#define NAMES "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

static int read_node(struct wire *w, struct node *node)
{
    node->name = read_text(w, NODE_NAME_MOST, NAMES);
    node->boot = read_text(w, NODE_NAME_MOST, NAMES);
    node->job = read_text(w, NODE_NAME_MOST, NAMES);
    node->address = read_text(w, NODE_NAME_MOST, NAMES ":%");
    node->memory = (int64_t)wire_u64(w);
    node->end = (int64_t)wire_u64(w);
    if (w->bad)
        return 0;
    if (!node->name || !node->boot || !node->job || !node->address)
        return -1;
    if (read_list(w, NODE_CORES_MOST, "0123456789,-", &node->cores, &node->n_cores))
        return -1;
    return w->bad ? 0 : read_list(w, NODE_GPUS_MOST, NULL, &node->gpus, &node->n_gpus);
}

int node_read(struct node *node, const void *bytes, size_t n)
{
    struct wire w = {.at = bytes, .left = n};
    *node = (struct node){.name = NULL};
    w.bad = wire_u32(&w) != VERSION || w.bad;
    int rc = w.bad ? 0 : read_node(&w, node);
    bool good = !w.bad && w.left == 0 && node->name && node->name[0] && node->n_cores > 0 &&
                node->memory >= 0 && node->end >= 0;
    if (rc == 0 && good)
        return 0;
    node_clear(node);
    errno = rc ? ENOMEM : EPROTO;
    return -1;
}

static void clear_list(char **list, size_t n)
{
    for (size_t i = 0; list && i < n; i++)
        free(list[i]);
    free(list);
}

void node_clear(struct node *node)
{
    int saved = errno;
    free(node->name);
    free(node->boot);
    free(node->job);
    free(node->address);
    clear_list(node->cores, node->n_cores);
    clear_list(node->gpus, node->n_gpus);
    *node = (struct node){.name = NULL};
    errno = saved;
}
