/* What shares come to over a run: who deserved how much of the machine, who had how much, and how fair that is.
 *
 * The shell notes the tree of shares whenever it may have changed; what is noted holds until the next note. An
 * amount is a part of the machine, 0 to 1: of several resources the largest part (dominant share: Ghodsi et
 * al., "Dominant Resource Fairness", NSDI 2011). A node *has* what its jobs run on; what is only promised does
 * not count.
 *
 *  - Share error at an instant: half the sum over leaves of |has - deserves|: the part of the machine that
 *    others than those who deserve it have, or nobody. Its mean is over time.
 *  - Jain's index: (sum x)^2 / (n * sum x^2), with x what a leaf has had over the run divided by what it has
 *    deserved over the run, of the n leaves that deserved anything: 1 where all got the same part of what they
 *    deserved, 1/n where one got all (Jain, Chiu, Hawe, "A quantitative measure of fairness", DEC-TR-301, 1984).
 *
 * For pictures, time is cut into columns of equal width, which doubles when they run out: so a log takes
 * SHARING_COLUMNS numbers a node, however long the run. A note costs O(nodes), and one column for each that it
 * passes.
 */
#ifndef REPORT_SHARING_H
#define REPORT_SHARING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SHARING_COLUMNS = 1024 };

/* A node as it is noted. A node comes behind the one above it. */
struct sharing_note {
    const char *kind; /* such as "user" */
    const char *name; /* copied */
    size_t above;     /* which of the notes; of the root itself */
    double deserves;  /* part of the machine */
    double has;       /* likewise */
};

struct sharing_node {
    char *name; /* with those above it but the root: "batch/physics/ann" */
    const char *kind;
    int32_t above; /* by number; -1: it is the root */
    uint32_t depth;
    bool is_leaf; /* nothing was ever below it */

    /* Seconds times part of the machine: over the whole run, and by column. */
    double deserved, had;
    double *deserved_in, *had_in;
};

struct sharing {
    struct sharing_node *nodes; /* 0: the root */
    size_t n;
    int64_t from, until; /* seconds: of the first note, and of the last */
    int64_t width;       /* seconds of a column */
    size_t columns;      /* so many have begun */
    double error;        /* share error times seconds */
    double max_error;
    double error_in[SHARING_COLUMNS]; /* the same by column */
    uint32_t stops[SHARING_COLUMNS];  /* jobs stopped for others */
    struct sharing_log *log;
};

/* Begin a log, at the first note. NULL with ENOMEM. NULL is fine for destroy. */
struct sharing *sharing_create(void);
void sharing_destroy(struct sharing *s);

/* From `now` on this holds; times don't go back. `kind` is a constant. Returns 0, or -1 with ENOMEM: the log is
 * then only good for destroy.
 */
int sharing_add(struct sharing *s, int64_t now, const struct sharing_note *notes, size_t n);

/* A job was stopped for another, at a time that was noted or later. */
void sharing_stopped(struct sharing *s, int64_t now);

/* The numbers over the whole run; 1 and 0 where nobody deserved anything. */
double sharing_jain(const struct sharing *s);
double sharing_mean_error(const struct sharing *s);

#endif
