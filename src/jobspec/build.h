/* Building a jobspec from the tree of a document: what the readers of its parts share.
 *
 * A jobspec is one allocation. Its size is bounded before anything is put into it (jobspec.c, struct
 * need). Arrays come from its front, strings from its back.
 */
#ifndef JOBSPEC_BUILD_H
#define JOBSPEC_BUILD_H

#include <stddef.h>
#include <stdint.h>

#include "berth/jobspec.h"
#include "jobspec/doc.h"

struct build {
    const struct doc *doc;
    const struct jobspec_options *options;
    jobspec_t *spec;
    struct jobspec_resource *resources; /* spec->resources and spec->types, writable */
    const char **types;
    char *front; /* arrays grow up from here */
    char *back;  /* strings grow down from here */
};

/* Upper bounds for the arrays and for the strings, in bytes. */
struct need {
    size_t arrays;
    size_t text;
};

/* Take an array of n zeroed elements of `size` bytes, aligned for pointers. */
void *build_array(struct build *b, size_t n, size_t size);

/* Report that memory ran out. Returns -1 with ENOMEM. */
int build_nomem(const struct build *b);

/* Copy the text of a scalar. */
const char *build_text(struct build *b, uint32_t i);

/* Add the size of copies of all scalars in the subtree i. */
void need_text(struct need *need, const struct doc *d, uint32_t i);

/* Add the size of an array of n elements. */
void need_array(struct need *need, size_t n, size_t size);

/* Copy the text of a key's value, which must be a scalar, to *ret_text; -1 with EINVAL if it is not.
 * DOC_NONE gives NULL.
 */
int build_string(struct build *b, uint32_t i, const char *key, const char **ret_text);

/* A mapping from names to scalars or null. */
void environment_need(struct need *need, const struct doc *d, uint32_t i);
int environment_build(struct build *b, uint32_t i, const struct jobspec_variable **ret_variables,
                      uint32_t *ret_n);

/* The parts of a jobspec; `i` is the value of a top-level key. The _need calls accept any tree. */
void resources_need(struct need *need, const struct doc *d, uint32_t i);
int resources_build(struct build *b, uint32_t i);
void tasks_need(struct need *need, const struct doc *d, uint32_t i);
int tasks_build(struct build *b, uint32_t i);
void attributes_need(struct need *need, const struct doc *d, uint32_t i);
int attributes_build(struct build *b, uint32_t i);
void gang_need(struct need *need, const struct doc *d, uint32_t i);
int gang_build(struct build *b, uint32_t i);
void constraints_need(struct need *need, const struct doc *d, uint32_t i);
int constraints_build(struct build *b, uint32_t i);

/* The same, into *ret_constraint. That is the first array that is taken, and it is set even if the call
 * fails.
 */
int constraint_build(struct build *b, uint32_t i, const struct jobspec_constraint **ret_constraint);

/* Free what constraints hold outside of the jobspec's allocation. NULL is allowed. */
void constraints_clear(const struct jobspec_constraint *c);

#endif
