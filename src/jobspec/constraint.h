/* Constraints (Flux RFC 31): a small tree of conditions on the machines that a job may get.
 *
 * Conditions stand in document order like the nodes of the document, with a zeroed one at the end.
 * A condition without operands is true of everything, but for `not`, and for lists of hosts and
 * ranks, which are true of what they have.
 */
#ifndef JOBSPEC_CONSTRAINT_H
#define JOBSPEC_CONSTRAINT_H

#include "base/hostlist.h"
#include "base/idset.h"
#include "berth/jobspec.h"

enum condition {
    END, /* of the array */
    PROPERTIES,
    HOSTLIST,
    RANKS,
    AND,
    OR,
    NOT,
    CONDITIONS
};

struct jobspec_constraint {
    enum condition condition;
    uint32_t size; /* of the subtree in conditions, this one included */
    union {
        const char **properties; /* ended by NULL */
        struct hostlist *hosts;
        struct idset *ranks;
    };
};

/* The operators' names by condition; NULL for END. */
extern const char *const constraint_names[CONDITIONS];

#endif
