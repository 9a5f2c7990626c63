/* The rows of a picture of a machine: a row for each core, then one for each GPU, node below node.
 *
 * A node has the rows core0, core1, ... and gpu0, ...; where jobs name cores beyond their number, as on a machine of
 * which a part of the cores is in use, it has a row for each number that jobs name instead. A node that only jobs
 * know comes last.
 */
#ifndef REPORT_MACHINE_ROWS_H
#define REPORT_MACHINE_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"
#include "berth/error.h"

struct machine_node {
    const char *name;
    int64_t cores, gpus;
};

/* Cores or GPUs of a node that have rows. */
struct machine_part {
    int64_t *number; /* of each, ascending */
    size_t n, cap;
    size_t first; /* its first row */
};

#define MACHINE_PARTS 2 /* cores, GPUs */
extern const char *const machine_parts[MACHINE_PARTS];

struct machine_rows {
    struct intern names; /* of the nodes, numbered as they are */
    struct machine_row_node {
        int64_t count[MACHINE_PARTS]; /* as the machine says */
        struct machine_part part[MACHINE_PARTS];
        size_t first, n; /* all of its rows, at least one */
    } * v;
    size_t n, cap;
    size_t rows;
};

/* Rows one below the other that something has. */
struct machine_span {
    size_t first, n;
};

/* Make the rows of nodes, and of what each of some texts names: "node0/core[0-3],node1/gpu0,node[2-3]". Texts that are no such
 * names, and pools beside the nodes ("matlab:2"), are passed over. 0, or -1 with ENOMEM and a text. O(nodes + names).
 */
int machine_rows_make(struct machine_rows *m, const struct machine_node *nodes, size_t n_nodes,
                      const char *const *texts, size_t n_texts, berth_error_t *err);

/* The spans of what a text names, in the order of rows, in *spans, which the caller frees; all rows of a node that is
 * named as a whole. Returns their number, or -1 with ENOMEM.
 */
int64_t machine_rows_find(const struct machine_rows *m, const char *text,
                          struct machine_span **spans);

/* How many cores a text names, or -1 with ENOMEM. */
int64_t machine_rows_cores(const struct machine_rows *m, const char *text);

void machine_rows_clear(struct machine_rows *m);

#endif
