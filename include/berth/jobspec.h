/* A jobspec: what a job asks for.
 *
 * The reader takes the canonical form (Flux RFC 14) and its first version (RFC 25), as YAML or JSON:
 * counts as numbers, mappings or strings (RFC 45 ranges, RFC 22 lists), constraints (RFC 31),
 * dependencies (RFC 26), and beyond the RFCs the types or_slot and xor_slot, and gangs. An unknown key is an error,
 * except for system attributes, which are skipped.
 *
 * A jobspec is one allocation and read-only. Its resources are an array in document order, each parent before
 * its children. Strings are NUL-terminated. Its constraints are opaque: jobspec_constraint_match evaluates
 * them.
 *
 * Errors are one line that says where, which key, and what was expected:
 *     line 4, column 19: key "exclusive": expected true or false, got "yes"
 *
 * Calls keep no state, so different threads may use different jobspecs.
 */
#ifndef BERTH_JOBSPEC_H
#define BERTH_JOBSPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "berth/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define JOBSPEC_NONE      UINT32_MAX        /* no such resource */
#define JOBSPEC_TEXT_MAX  ((size_t)1 << 24) /* bytes of a document; lists and mappings go 64 deep */
#define JOBSPEC_TYPES_MAX 256               /* different resource types in one jobspec */

/* How one acceptable count follows from another. */
enum jobspec_operator {
    JOBSPEC_ADD = '+',
    JOBSPEC_MULTIPLY = '*',
    JOBSPEC_POWER = '^',
    JOBSPEC_LIST = ',' /* it doesn't: the counts are listed */
};

/* The numbers first to last, both included. */
struct jobspec_run {
    uint32_t first;
    uint32_t last;
};

/* Which counts are acceptable: min, then each one made from the one before by the operator, up to max. A
 * single number is min = max; without an upper bound max = UINT32_MAX. Only a single number can be 0.
 */
struct jobspec_count {
    uint32_t min;
    uint32_t max;
    uint32_t operand; /* >= 1 for '+', >= 2 for '*' and '^'; 0 for a list */
    enum jobspec_operator op;
    const struct jobspec_run *runs; /* of a list: ascending, with gaps between the runs */
    uint32_t nruns;                 /* 0 unless a list, then at least 2 */
};

enum jobspec_kind {
    JOBSPEC_RESOURCE,
    JOBSPEC_SLOT,    /* type "slot" */
    JOBSPEC_OR_SLOT, /* type "or_slot" */
    JOBSPEC_XOR_SLOT /* type "xor_slot" */
};

enum jobspec_exclusive { JOBSPEC_EXCLUSIVE_UNSET, JOBSPEC_EXCLUSIVE_FALSE, JOBSPEC_EXCLUSIVE_TRUE };

/* A resource vertex. Other vertices are referred to by their index in the array. The subtree of vertex i is
 * [i, end); its first child, if end > i + 1, is i + 1.
 */
struct jobspec_resource {
    const char *type;
    uint32_t type_index; /* in jobspec.types */
    enum jobspec_kind kind;
    struct jobspec_count count;
    uint32_t parent; /* JOBSPEC_NONE at the top */
    uint32_t next;   /* sibling, JOBSPEC_NONE for the last */
    uint32_t end;
    uint32_t depth; /* 0 at the top */
    enum jobspec_exclusive exclusive;
    bool in_slot;      /* below a slot of any kind */
    const char *label; /* these four are NULL if not given; a slot always has a label */
    const char *unit;
    const char *id;
    const char
        *property; /* of each vertex itself, "gpu:a100"; unlike constraints, which are of nodes */
    uint32_t line; /* of the document, from 1 */
    uint32_t column;
};

struct jobspec_variable {
    const char *name;
    const char *value; /* NULL: the variable is to be unset */
};

/* What a task count refers to. */
enum jobspec_per { JOBSPEC_PER_SLOT, JOBSPEC_PER_RESOURCE, JOBSPEC_TOTAL };

struct jobspec_task {
    const char *const *command; /* ended by NULL */
    uint32_t ncommand;          /* >= 1 */
    uint32_t count;             /* >= 1 */
    enum jobspec_per per;
    const char *per_type;     /* of JOBSPEC_PER_RESOURCE, else NULL */
    const char *slot;         /* a label; the reader does not check that there is such a slot */
    const char *distribution; /* NULL if not given */
    const struct jobspec_variable *environment;
    uint32_t nenvironment;
};

/* What a job waits for (RFC 26). The scheme decides what the value means. */
struct jobspec_dependency {
    const char *scheme; /* "afterok" */
    const char *value;  /* a job's id */
};

#define JOBSPEC_MEMBERS_MAX 1000000 /* members of a gang, */
#define JOBSPEC_ROLES_MAX   16      /* and their roles */

/* What becomes of a gang of which a member fails: all others are stopped, or they go on while enough are left, or another
 * start of it takes its place.
 */
enum jobspec_failure { JOBSPEC_FAIL_ALL, JOBSPEC_FAIL_GO_ON, JOBSPEC_FAIL_REPLACE };

/* Members of a gang that ask for the same. */
struct jobspec_role {
    const char *name;  /* the label of a slot */
    uint32_t resource; /* at the top, with that slot: what each of them has */
    uint32_t count;    /* >= 1 */
    uint32_t min;      /* so many start together: 0 to count */
};

/* Members that start together, beyond Flux's RFCs: the system attribute "gang". */
struct jobspec_gang {
    uint32_t members; /* 0: it is none; else 2 to JOBSPEC_MEMBERS_MAX */
    uint32_t min;     /* so many start together: 1 to members */
    enum jobspec_failure failure;
    const struct jobspec_role
        *roles; /* each has other resources; NULL: every member has all of them */
    uint32_t nroles;
};

struct jobspec_constraint;

typedef struct {
    uint32_t version; /* 1 to 9999 */

    const struct jobspec_resource *resources;
    uint32_t nresources;      /* >= 1 */
    const char *const *types; /* the different types in order of appearance, slots included */
    uint32_t ntypes;

    const struct jobspec_task *tasks;
    uint32_t ntasks;

    double duration;   /* seconds, 0 if not given; not checked: it may be NaN */
    const char *queue; /* NULL if not given, as account and cwd */
    const char *account;
    const char *cwd;
    const struct jobspec_variable *environment;
    uint32_t nenvironment;
    const struct jobspec_constraint *constraints; /* NULL if not given */
    double preemptible_after; /* seconds since the start, >= 0; -1 if not given */
    double
        sla_waiting_time; /* seconds from its submission to its deadline, >= 0; -1 if not given */
    const struct jobspec_dependency *dependencies;
    uint32_t ndependencies;
    struct jobspec_gang gang;
} jobspec_t;

/* Options of jobspec_parse. NULL stands for options that are all zero. */
struct jobspec_options {
    /* Errors then begin with "NAME:LINE:COLUMN:" instead of "line LINE, column COLUMN: ". */
    const char *name;

    /* Whether the machine has a type (the types of slots are never asked for); an unknown type is an error.
     * NULL: all types are known.
     */
    bool (*knows_type)(const void *arg, const char *type);
    const void *arg;
};

/* Read a jobspec from length bytes of UTF-8; the caller destroys it. Returns NULL with EINVAL and an error
 * text, or ENOMEM. O(n log n).
 */
jobspec_t *jobspec_parse(const char *text, size_t length, const struct jobspec_options *options,
                         berth_error_t *err);

/* Destroy a jobspec. NULL is allowed; errno is kept. */
void jobspec_destroy(jobspec_t *spec);

/* Read a count from a string: a number, an RFC 45 range ("2-16:2:*", "4+") or an RFC 22 list ("1-3,8"), in
 * square brackets or not. Returns the number of runs that a list has, 0 for a number or a range. Up to nruns
 * runs are written to `runs`, and the count points to them; if a list has more, the count gets no runs and
 * accepts nothing. Returns -1 with EINVAL (the text is not a count) or ENOMEM.
 */
int64_t jobspec_count_parse(const char *text, struct jobspec_count *count, struct jobspec_run *runs,
                            uint32_t nruns);

/* The largest acceptable count that is at most `qualified`; 0 if there is none. O(log max). */
uint32_t jobspec_calc_count(const struct jobspec_count *count, uint32_t qualified);

/* The largest acceptable count; 0 if there is none. */
uint32_t jobspec_count_max(const struct jobspec_count *count);

/* What constraints are evaluated for: a host or another resource. */
struct jobspec_target {
    const char *name;                                            /* NULL: it has none */
    int64_t rank;                                                /* negative: it has none */
    bool (*has_property)(const void *arg, const char *property); /* NULL: it has none */
    const void *arg;
};

/* True if a target satisfies the constraints. NULL constraints are always satisfied. */
bool jobspec_constraint_match(const struct jobspec_constraint *constraints,
                              const struct jobspec_target *target);

/* True if the constraints depend only on properties: targets with the same properties then get the same
 * answer.
 */
bool jobspec_constraint_only_properties(const struct jobspec_constraint *constraints);

#ifdef __cplusplus
}
#endif

#endif
