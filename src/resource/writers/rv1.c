/* rv1, rv1_nosched and rv1_shorthand: R, version 1 (Flux RFC 20). */
#include "resource/writers/rlite.h"
#include "resource/writers/writer.h"

static int put_execution(const struct emission *e, const struct graph *g, const struct rlite *r,
                         struct json_out *out)
{
    json_open(out, "execution", '{');
    rlite_put(r, out, "R_lite");
    if (rlite_put_nodelist(r, g, out) < 0 || rlite_put_properties(r, g, out) < 0)
        return -1;
    json_put_int(out, "starttime", e->start);
    json_put_int(out, "expiration", e->end);
    json_close(out, '}');
    return 0;
}

static int put_scheduling(const struct emission *e, const struct graph *g, int flags,
                          struct json_out *out)
{
    json_key(out, "scheduling");
    if (writer_jgf_object(e, g, flags, out->text) < 0)
        return -1;
    if (e->queue) {
        json_open(out, "attributes", '{');
        json_open(out, "system", '{');
        json_open(out, "scheduler", '{');
        json_put_string(out, "queue", e->queue);
        strbuf_puts(out->text, "}}}");
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
        struct json_out json = {.text = out, .spaced = true};
        json_open(&json, NULL, '{');
        json_put_int(&json, "version", 1);
        rc = put_execution(e, g, &r, &json);
        if (rc == 0 && flags & WRITER_SCHEDULING)
            rc = put_scheduling(e, g, flags, &json);
        strbuf_puts(out, "}\n");
    }
    rlite_clear(&r);
    return rc;
}
