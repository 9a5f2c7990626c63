/* Constraints (Flux RFC 31): a small tree of conditions on the hosts that a job may get.
 *
 * Conditions are in document order, with a zeroed one at the end. A condition without operands is true of
 * everything, except for `not` and for lists of hosts or ranks, which are true only of their members.
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
    uint32_t size; /* of the subtree, in conditions, including this one */
    union {
        const char **properties; /* ended by NULL */
        struct hostlist *hosts;
        struct idset *ranks;
    };
};

/* The name of each condition's operator; NULL for END. */
extern const char *const constraint_names[CONDITIONS];

#endif
