/* What the files of depend.h share.
 *
 * An entry is an id: a job or an array with its members. A dependency is an edge from the needs of a job to
 * an entry or to a member of it; as long as that is open, it is in a list there, in the order of
 * submission. Jobs of the same user and name that have not ended are a row.
 */
#ifndef SCHED_DEPEND_PRIV_H
#define SCHED_DEPEND_PRIV_H

#include "base/dict.h"
#include "base/idset.h"
#include "berth/error.h"
#include "sched/controllers/depend.h"

#define DEPEND_NONE UINT32_MAX /* no slot */
#define DEPEND_ALL  UINT32_MAX /* of an edge: all members, or the one job */

enum depend_type {
    DEPEND_AFTER,
    DEPEND_AFTERANY,
    DEPEND_AFTEROK,
    DEPEND_AFTERNOTOK,
    DEPEND_SINGLETON
};

enum verdict { VERDICT_OPEN, VERDICT_MET, VERDICT_NEVER };

enum member_state { MEMBER_ABSENT, MEMBER_WAITING, MEMBER_STARTED, MEMBER_FAILED, MEMBER_OK };

struct edge {
    struct edge *prev; /* in the list of what it leads to, while it is open */
    struct edge *next;
    struct entry *entry;
    struct needs *needs;
    struct member *at; /* of an open one that leads to a member of an array; else NULL */
    uint32_t member;
    uint8_t type;
    uint8_t verdict;
};

struct edges {
    struct edge *first;
    struct edge *last;
};

/* Lists of jobs that something has come of. */
enum needs_list {
    NEEDS_NONE,
    NEEDS_READY, /* they are ready, or will never be */
    NEEDS_NEARER /* one thing less to wait for */
};

struct needs {
    struct needs *prev; /* in its list */
    struct needs *next;
    uint32_t slot;
    uint32_t n;
    uint32_t unmet; /* edges that are not met, and singleton */
    bool singleton; /* there is another job or array before it in its row */
    bool never;
    uint8_t list; /* enum needs_list */
    struct edge edge[];
};

/* A job that is no array; or a member of one that has a slot of its own or to which edges lead. */
struct member {
    struct dict_entry id; /* of a member: by `key` */
    struct {
        uint64_t entry;
        uint64_t member;
    } key;
    struct entry *entry;
    struct member *prev; /* among those of its array */
    struct member *next;
    struct edges edges;
    uint32_t
        slot; /* DEPEND_NONE: it is forgotten, waits in the slot of its array, or is not there yet */
    uint8_t state;
};

struct entry {
    struct dict_entry id; /* first; its text lies behind the struct */
    struct entry *prev;   /* among the living, or among the ended */
    struct entry *next;
    struct edges edges; /* that lead to all of it */
    size_t refs;        /* edges that are not met */
    bool gone;          /* it is in no list, and only these edges hold it */
    bool array;
    bool has_all;     /* not all members up to `size` exist */
    uint64_t number;  /* no other entry has it */
    uint32_t size;    /* one above the largest index */
    uint32_t members; /* how many there are */
    uint32_t slot;    /* of an array: of those that wait together; DEPEND_NONE */
    uint32_t ranges;  /* as many ranges of indices may they be */
    uint32_t slots;   /* how many slots it has */
    uint32_t started; /* members that have started or ended */
    uint32_t ended;
    uint32_t ok;
    uint32_t enough;   /* of all members, so many that end well are as good as all */
    struct member one; /* of what is no array */
    /* Of an array. There is memory for what those that have slots may come to. */
    struct idset all;         /* if has_all: which members exist */
    struct idset ended_ok;    /* how those that have ended did */
    struct idset ended_badly; /* so */
    struct member *first;     /* those of which more is to be known */
};

struct entries {
    struct entry *first;
    struct entry *last;
};

struct needs_ends {
    struct needs *first;
    struct needs *last;
};

struct row {
    struct dict_entry name; /* first; "user\0name" */
    uint32_t first;
    uint32_t last;
    uint32_t apart; /* how many of it stand behind one of another job or array */
    char text[];
};

struct job {
    struct entry *entry;   /* NULL: the slot is free */
    struct member *member; /* NULL: it is for the members of an array that wait together */
    struct row *row;       /* NULL: its name is no other's, or it has ended */
    struct needs *needs;   /* NULL: it waits for nobody */
    uint32_t row_prev;
    uint32_t row_next;
};

struct depend {
    struct job *job; /* by slot */
    uint32_t jobs;
    struct dict ids;
    struct dict members; /* of arrays */
    uint64_t entries;    /* how many there were so far */
    /* For a member that gets a slot of its own (depend_part_reserve). */
    struct member *spare;
    struct needs *spare_needs;
    struct dict rows;
    struct entries living; /* with jobs or, of an array, with members that are still to come */
    struct entries ended;  /* forgotten first, first */
    uint64_t remembered;   /* how much that is, */
    uint64_t most;         /* and may be, or one job more */
    struct needs_ends list[NEEDS_NEARER + 1];
    char *name; /* for depend_id */
    size_t name_size;
};

/* ---- depend_entry.c: ids ---- */

struct entry *depend_entry_find(const struct depend *depend, const char *id, size_t length);

/* A new entry, in no list yet; `all`: which members up to `size` exist, or NULL. NULL with ENOMEM. */
struct entry *depend_entry_create(struct depend *depend, const char *id, uint32_t size,
                                  const struct idset *all);
void depend_entry_free(struct depend *depend, struct entry *entry);

/* Make a new entry known, in place of an ended one of the same id. There is room in depend->ids. */
void depend_entry_add(struct depend *depend, struct entry *entry);

/* An entry whose members are all forgotten: it is remembered, or was never there. */
void depend_entry_settle(struct depend *depend, struct entry *entry);

/* Free an entry that is in no list once no edge holds it. */
void depend_entry_release(struct depend *depend, struct entry *entry);

/* Have memory for the ends of all that have slots, and of so many slots more. 0, or -1 with ENOMEM. */
int depend_entry_reserve(struct entry *entry, uint32_t more);

/* Whether there is such a member; and its state, where those without a slot of their own that have not ended
 * are absent.
 */
bool depend_entry_has(const struct entry *entry, uint32_t member);
enum member_state depend_entry_state(const struct depend *depend, const struct entry *entry,
                                     uint32_t member);

/* What is known of a member; NULL: nothing but its state. A new one; NULL with ENOMEM. And free it, if
 * nothing is known of it any more.
 */
struct member *depend_member_find(const struct depend *depend, const struct entry *entry,
                                  uint32_t member);
struct member *depend_member_create(struct depend *depend, struct entry *entry, uint32_t member);
void depend_member_put(struct depend *depend, struct entry *entry, uint32_t number,
                       struct member *member);
void depend_member_release(struct depend *depend, struct member *member);

/* A member has ended: what is remembered of that. */
void depend_entry_end(struct entry *entry, uint32_t member, bool ok);

/* ---- depend_edge.c: what waits ---- */

/* Whether what an edge asks for holds now. */
enum verdict depend_judge(const struct depend *depend, const struct edge *edge);

/* The needs that an expression says, judged but in no list yet; *needs is NULL if it says none. Returns 0,
 * or -1: EINVAL with a text, ENOMEM.
 */
int depend_needs_create(struct depend *depend, const char *expression, const char *own_id,
                        struct needs **needs, berth_error_t *err);

/* The same needs for another slot, in the lists that they are in; there is memory for them. Their edges come
 * right before or behind, as the slot does in a row.
 */
void depend_needs_copy(struct depend *depend, struct needs *from, struct needs *to, uint32_t slot,
                       bool before);

/* Put the open edges of needs into their lists; and take needs out of all lists and free them (NULL is
 * fine).
 */
void depend_needs_link(struct needs *needs);
void depend_needs_destroy(struct depend *depend, struct needs *needs);

/* One need less; and one that will never be met. */
void depend_needs_met(struct depend *depend, struct needs *needs);
void depend_needs_never(struct depend *depend, struct needs *needs);

/* Judge the edges of a list again; never: none of them can be met any more. */
void depend_edges_settle(struct depend *depend, struct edges *edges, bool never);

/* ---- depend_text.c: expressions ---- */

struct depend_term {
    enum depend_type type;
    const char *id; /* not of a singleton */
    size_t length;
    bool first; /* of its type's ids */
};

/* Where a reader of an expression stands. */
struct depend_scan {
    const char *text;
    size_t at;
    bool within; /* the ids of a type */
    enum depend_type type;
};

/* The next term. Returns 1, 0 at the end, or -1 with EINVAL and a text. */
int depend_scan(struct depend_scan *scan, struct depend_term *term, berth_error_t *err);

#endif
