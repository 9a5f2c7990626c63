/* The short form of a job as a jobspec (RFC 14): so many tasks with so many cores each, on so many nodes. */
#include <stdlib.h>
#include <string.h>

#include "server/api/job_read.h"

static void put_part(struct strbuf *out, const char *type, int64_t count, bool *first)
{
    if (count <= 0)
        return;
    strbuf_puts(out, *first ? "{\"type\":\"" : ",{\"type\":\"");
    strbuf_puts(out, type);
    strbuf_puts(out, "\",\"count\":");
    strbuf_put_int(out, count);
    strbuf_putc(out, '}');
    *first = false;
}

static void put_slot(struct strbuf *out, int64_t count, int64_t cores, int64_t gpus, int64_t memory)
{
    bool first = true;
    strbuf_puts(out, "{\"type\":\"slot\",\"count\":");
    strbuf_put_int(out, count);
    strbuf_puts(out, ",\"label\":\"task\",\"with\":[");
    put_part(out, "core", cores, &first);
    put_part(out, "gpu", gpus, &first);
    put_part(out, "memory", memory, &first);
    strbuf_puts(out, "]}");
}

static int64_t ceiling(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static void put_resources(struct strbuf *out, const struct job_shape *p)
{
    int64_t nodes = p->nodes > 0 ? p->nodes : 1;
    if (p->cores == 0 && p->gpus == 0 && p->memory == 0) {
        strbuf_puts(out, "{\"type\":\"slot\",\"count\":");
        strbuf_put_int(out, nodes);
        strbuf_puts(out, ",\"label\":\"task\",\"with\":[{\"type\":\"node\",\"count\":1,"
                         "\"exclusive\":true}]}");
        return;
    }
    if (p->nodes == 0 && !p->exclusive && p->memory == 0) {
        put_slot(out, p->tasks, p->cores, p->gpus, 0);
        return;
    }
    /* All tasks of a node together, so that its memory is for them all. */
    int64_t tasks = ceiling(p->tasks, nodes);
    strbuf_puts(out, "{\"type\":\"node\",\"count\":");
    strbuf_put_int(out, nodes);
    strbuf_puts(out, p->exclusive ? ",\"exclusive\":true,\"with\":[" : ",\"with\":[");
    put_slot(out, 1, tasks * p->cores, tasks * p->gpus, ceiling(p->memory, nodes));
    strbuf_puts(out, "]}");
}

void shape_put(struct strbuf *out, const struct job_shape *p)
{
    strbuf_puts(out, "{\"version\":9999,\"resources\":[");
    put_resources(out, p);
    strbuf_puts(out,
                "],\"tasks\":[{\"command\":[\"job\"],\"slot\":\"task\",\"count\":{\"per_slot\":1}"
                "}],\"attributes\":{\"system\":{");
    char *text = p->constraint ? json_dumps(p->constraint, JSON_COMPACT) : NULL;
    if (text) {
        strbuf_puts(out, "\"constraints\":");
        strbuf_puts(out, text);
    } else if (p->constraint) {
        out->failed = true;
    }
    free(text);
    strbuf_puts(out, "}}}");
}
