/* What the writers have in common, and what one uses of another. Only emission_write (writer.c) calls
 * them: it makes sure that a writer which fails has appended nothing, and turns a buffer without memory
 * into ENOMEM. So a writer returns 0, or -1 with errno for a reason of its own.
 */
#ifndef RESOURCE_WRITERS_WRITER_H
#define RESOURCE_WRITERS_WRITER_H

#include <stdbool.h>

#include "base/strbuf.h"
#include "resource/emission.h"

/* What tells the formats of a family apart; each family has its own use for it. */
enum {
    WRITER_PRETTY = 1,     /* simple: from the root down, in words */
    WRITER_SHORTHAND = 2,  /* graphs: without what lies below an exclusive vertex */
    WRITER_SCHEDULING = 4, /* R: with the graph and the attributes */
};

typedef int writer_f(const struct emission *e, const struct graph *g, int flags,
                     struct strbuf *out);

writer_f writer_simple; /* simple.c */
writer_f writer_rlite;  /* rlite.c */
writer_f writer_rv1;    /* rv1.c */
writer_f writer_jgf;    /* jgf.c */

/* Append a graph without a newline; nothing if the emission has nothing to show. jgf.c */
int writer_jgf_object(const struct emission *e, const struct graph *g, int flags,
                      struct strbuf *out);

#endif
