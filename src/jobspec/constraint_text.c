/* A constraint is one allocation that begins with its conditions. */
#include "jobspec/constraint_text.h"

#include <errno.h>
#include <stdlib.h>

#include "base/errtext.h"
#include "jobspec/build.h"

static struct jobspec_constraint *from_doc(const struct doc *d)
{
    struct need need = {0, 0};
    constraints_need(&need, d, 0);
    struct build b = {.doc = d, .front = malloc(need.arrays + need.text)};
    const struct jobspec_constraint *c;
    char *memory = b.front;
    if (!memory) {
        errtext_no_memory(d->err);
        return NULL;
    }
    b.back = b.front + need.arrays + need.text;
    if (constraint_build(&b, 0, &c) < 0) {
        jobspec_constraint_destroy((struct jobspec_constraint *)memory);
        return NULL;
    }
    return (struct jobspec_constraint *)memory;
}

struct jobspec_constraint *jobspec_constraint_parse(const char *json, size_t length,
                                                    berth_error_t *err)
{
    struct doc doc;
    if (doc_read(&doc, json, length, NULL, err) < 0)
        return NULL;
    struct jobspec_constraint *c = from_doc(&doc);
    doc_clear(&doc);
    return c;
}

void jobspec_constraint_destroy(struct jobspec_constraint *constraint)
{
    int saved = errno;
    constraints_clear(constraint);
    free(constraint);
    errno = saved;
}
