/* To check constraints is to build them for a jobspec that has nothing else. */
#include "jobspec/constraint_check.h"

#include <stdlib.h>

#include "base/errtext.h"
#include "jobspec/build.h"

int constraint_check(struct doc *d, uint32_t i)
{
    struct need need = {0, 0};

    for (uint32_t x = i; x < d->node[i].end; x++)
        if (doc_is_text(d, x))
            d->node[x].plain = false;
    need_array(&need, 1, sizeof(jobspec_t));
    constraints_need(&need, d, i);
    struct build b = {.doc = d, .front = malloc(need.arrays + need.text)};
    if (!b.front)
        return errtext_no_memory(d->err);
    b.back = b.front + need.arrays + need.text;
    b.spec = build_array(&b, 1, sizeof(*b.spec));
    int rc = constraints_build(&b, i);
    jobspec_destroy(b.spec);
    return rc;
}
