/* rv1, rv1_nosched and rv1_shorthand: R, version 1 (Flux RFC 20). */
#include "resource/writers/rlite.h"
#include "resource/writers/writer.h"

static int put_execution(const struct emission *e, const struct graph *g, const struct rlite *r,
                         struct strbuf *out)
{
    PUT(out, "{\"version\": 1, \"execution\": {\"R_lite\": ");
    rlite_put(r, out);
    PUT(out, ", ");
    if (rlite_put_nodelist(r, g, out) < 0 || rlite_put_properties(r, g, out) < 0)
        return -1;
    PUT(out, ", \"starttime\": ");
    strbuf_put_int(out, e->start);
    PUT(out, ", \"expiration\": ");
    strbuf_put_int(out, e->end);
    strbuf_putc(out, '}');
    return 0;
}

static int put_scheduling(const struct emission *e, const struct graph *g, int flags,
                          struct strbuf *out)
{
    PUT(out, ", \"scheduling\": ");
    if (writer_jgf_object(e, g, flags, out) < 0)
        return -1;
    if (e->queue) {
        PUT(out, ", \"attributes\": {\"system\": {\"scheduler\": {\"queue\": ");
        strbuf_put_json(out, e->queue, strlen(e->queue));
        PUT(out, "}}}");
    }
    return 0;
}

/* Without cores or gpus below a node there is nothing to run on, and no text. */
int writer_rv1(const struct emission *e, const struct graph *g, int flags, struct strbuf *out)
{
    struct rlite r;
    if (rlite_gather(&r, e, g) < 0)
        return -1;
    int rc = 0;
    if (r.n > 0) {
        rc = put_execution(e, g, &r, out);
        if (rc == 0 && flags & WRITER_SCHEDULING)
            rc = put_scheduling(e, g, flags, out);
        PUT(out, "}\n");
    }
    rlite_clear(&r);
    return rc;
}
