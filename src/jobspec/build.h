/* From the tree of a document to a jobspec: what the readers of its parts share.
 *
 * The jobspec is one allocation whose size is bounded before anything is put into it (jobspec.c,
 * struct need). Arrays are taken from its front, strings from its back.
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
    struct jobspec_resource *resources; /* spec->resources and types, to be written */
    const char **types;
    char *front; /* arrays grow up from here */
    char *back;  /* strings grow down from here */
};

/* Upper bounds of what goes to the front, in bytes, and of strings. */
struct need {
    size_t arrays;
    size_t text;
};

/* An array of n zeroed elements of `size` bytes each, aligned for pointers. */
void *build_array(struct build *b, size_t n, size_t size);

/* Say that there is no memory. Returns -1 with ENOMEM. */
int build_nomem(const struct build *b);

/* A copy of a scalar's text. */
const char *build_text(struct build *b, uint32_t i);

/* Add what copies of all scalars of the subtree i take. */
void need_text(struct need *need, const struct doc *d, uint32_t i);

/* Add n elements of an array. */
void need_array(struct need *need, size_t n, size_t size);

/* A copy of the text of a scalar that is a key's value, into *ret_text; -1 with EINVAL if it is
 * none. A node of DOC_NONE is NULL.
 */
int build_string(struct build *b, uint32_t i, const char *key, const char **ret_text);

/* A mapping from names to scalars or null. */
void environment_need(struct need *need, const struct doc *d, uint32_t i);
int environment_build(struct build *b, uint32_t i, const struct jobspec_variable **ret_variables,
                      uint32_t *ret_n);

/* The parts of a jobspec; `i` is the value of the key at the top. Bounds can be asked of any tree.
 */
void resources_need(struct need *need, const struct doc *d, uint32_t i);
int resources_build(struct build *b, uint32_t i);
void tasks_need(struct need *need, const struct doc *d, uint32_t i);
int tasks_build(struct build *b, uint32_t i);
void attributes_need(struct need *need, const struct doc *d, uint32_t i);
int attributes_build(struct build *b, uint32_t i);
void constraints_need(struct need *need, const struct doc *d, uint32_t i);
int constraints_build(struct build *b, uint32_t i);

/* The same, to where the caller says: the first array that is taken, and there also if it fails. */
int constraint_build(struct build *b, uint32_t i, const struct jobspec_constraint **ret_constraint);

/* Free what constraints hold outside of their allocation; NULL is fine. */
void constraints_clear(const struct jobspec_constraint *c);

#endif
