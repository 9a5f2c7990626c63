#include "pilot/words.h"

static const char *const never[] = {
    [PILOT_TOO_MANY_CORES] = "its cores",   [PILOT_TOO_MANY_GPUS] = "its GPUs",
    [PILOT_TOO_MUCH_MEMORY] = "its memory", [PILOT_TOO_MANY_NODES] = "its nodes",
    [PILOT_TOO_LONG] = "its time",          [PILOT_NO_TIME] = "its time",
    [PILOT_ELSEWHERE] = "its constraint",
};

void pilot_put_fate(struct strbuf *out, const struct pilot_verdict *v)
{
    switch (v->fate) {
    case PILOT_SOON:
        return;
    case PILOT_QUEUED:
        strbuf_puts(out, "pilot ");
        strbuf_put_int(out, v->pilot);
        return;
    case PILOT_LACKING:
        strbuf_puts(out, "a pilot, to be asked for");
        return;
    case PILOT_BOUND:
        strbuf_puts(out, v->bound == PILOT_BY_NODES ? "pilots: max-nodes" : "pilots: budget");
        return;
    case PILOT_NEVER:
        strbuf_puts(out, "no pilot: ");
        strbuf_puts(out, never[v->why]);
        return;
    }
}
