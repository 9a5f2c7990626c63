#include "sim/share_notes.h"

#include <stdlib.h>

#include "base/array.h"
#include "berth/sched_shares.h"

void share_notes_clear(struct share_notes *notes)
{
    free(notes->v);
    *notes = (struct share_notes){0};
}

/* The largest part of what there is, among the resources. */
static double largest_part(const struct sched_share_report *report,
                           const struct sched_share_amounts *amounts)
{
    const struct sched_share_amounts *total = &report->nodes[0].capability;
    double most = 0;
    for (size_t i = 0; i < report->n_resources; i++) {
        double part = total->of[i] > 0 ? (double)amounts->of[i] / (double)total->of[i] : 0;
        most = part > most ? part : most;
    }
    return most;
}

int share_notes_take(struct share_notes *notes, sched_t *s, int64_t now, int64_t second,
                     struct sharing *sharing)
{
    struct sched_share_report report;
    if (sched_shares_now(s, now, &report) < 0 ||
        array_grow((void **)&notes->v, &notes->cap, report.n_nodes, sizeof(*notes->v)) < 0)
        return -1;
    if (report.n_resources == 0)
        return 0;
    for (size_t i = 0; i < report.n_nodes; i++) {
        const struct sched_share_node *node = &report.nodes[i];
        notes->v[i] = (struct sharing_note){.kind = sched_share_kind_name(node->kind),
                                            .name = node->name,
                                            .above = node->above,
                                            .deserves = largest_part(&report, &node->deserved),
                                            .has = largest_part(&report, &node->running)};
    }
    return sharing_add(sharing, now / second, notes->v, report.n_nodes);
}
