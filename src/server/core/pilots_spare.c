/* Nodes that pilots may bring, in the machine before they come: down, so that nothing starts there, and there, so that
 * a job which only fits on such a node waits instead of being refused.
 *
 * They are in sets, each of nodes that are alike: one of what the rule may bring, and one of each pilot that was added by
 * hand and whose nodes are known, of those that have not come yet.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "berth/sched_admin.h"
#include "server/core/entry.h"
#include "server/core/machine.h"
#include "server/core/pilots_auto.h"
#include "server/core/priv.h"

/* Those of a set from `first` on. */
static void put_names(const struct spares *set, int64_t first, char names[80])
{
    snprintf(names, 80, "spare%" PRId64 "-[%" PRId64 "-%" PRId64 "]", set->number, first,
             set->n - 1);
}

static int attach_spare(server_t *s, const struct spares *set, berth_error_t *err)
{
    char base[32], names[80];
    json_t *node =
        json_pack("{s:I, s:I, s:I}", "cores", (json_int_t)set->node[PILOT_CORES], "gpus",
                  (json_int_t)set->node[PILOT_GPUS], "memory", (json_int_t)set->node[PILOT_MEMORY]);
    snprintf(base, sizeof(base), "spare%" PRId64, set->number);
    put_names(set, 0, names);
    char *text = node ? spare_graph(s, node, base, set->n) : NULL;
    int rc = text ? sched_attach(s->sched, s->clock.now, text, strlen(text), err) : -1;
    free(text);
    json_decref(node);
    return rc < 0 ? -1 : sched_set_status(s->sched, s->clock.now, names, RESOURCE_DOWN, err);
}

/* Leave the first n of a set. */
static void cut_spare(server_t *s, struct spares *set, int64_t n)
{
    char names[80];
    berth_error_t why = {"out of memory"};
    put_names(set, n, names);
    if (set->n > n && sched_remove(s->sched, s->clock.now, names, &why) < 0)
        server_notice(s, "%s: %s", names, why.text);
    set->n = n;
}

/* Have n such nodes in a set. The new ones come first: what waits for such finds some all the time. True: it has changed. */
static bool change_spare(server_t *s, struct spares *set, int64_t n,
                         const int64_t node[PILOT_KINDS])
{
    berth_error_t why = {"out of memory"};
    bool alike = memcmp(node, set->node, sizeof(set->node)) == 0;
    if (set->n == n && (alike || n == 0))
        return false;
    if (n == 0 || (alike && n < set->n)) {
        cut_spare(s, set, n);
        return true;
    }
    struct spares was = *set;
    set->n = n;
    set->number = ++s->pilots.made_spares;
    memcpy(set->node, node, sizeof(set->node));
    if (attach_spare(s, set, &why) < 0) /* it is not tried again until something changes */
        server_notice(s, "jobs cannot wait for nodes of pilots: %s", why.text);
    cut_spare(s, &was, 0);
    return true;
}

/* The set of a pilot (0: of the rule), made if need be. NULL: no memory. */
static struct spares *set_of(server_t *s, int64_t pilot)
{
    struct spares *v = s->pilots.spares;
    size_t i = 0, n = s->pilots.n_spares;
    while (i < n && v[i].pilot != pilot)
        i++;
    if (i < n)
        return &v[i];
    v = reallocarray(v, n + 1, sizeof(*v));
    if (!v)
        return NULL;
    s->pilots.spares = v;
    s->pilots.n_spares++;
    v[n] = (struct spares){.pilot = pilot};
    return &v[n];
}

/* How many of a pilot's nodes have not come, and what each has. 0 as well: that is not known, the rule has them, or it ends. */
static int64_t to_come(const json_t *pilot, int64_t node[PILOT_KINDS])
{
    const json_t *known = json_object_get(pilot, "node");
    int64_t n = entry_number(pilot, "nodes") - entry_number(pilot, "came");
    node[PILOT_CORES] = known ? entry_number(known, "cores") : 0;
    node[PILOT_GPUS] = known ? entry_number(known, "gpus") : 0;
    node[PILOT_MEMORY] = known ? entry_number(known, "memory") : 0;
    bool counts = node[PILOT_CORES] > 0 && !json_is_true(json_object_get(pilot, "ending"));
    return counts && n > 0 ? n : 0;
}

bool pilot_counts(const server_t *s, int64_t pilot)
{
    for (size_t i = 0; i < s->pilots.n_spares; i++)
        if (s->pilots.spares[i].pilot == pilot && s->pilots.spares[i].n > 0)
            return true;
    return false;
}

bool spares_are(const server_t *s)
{
    for (size_t i = 0; i < s->pilots.n_spares; i++)
        if (s->pilots.spares[i].n > 0)
            return true;
    return false;
}

/* Those of all pilots there are, PILOT_NODES_MOST together; and none of others. */
static bool follow_pilots(server_t *s)
{
    bool changed = false;
    size_t i;
    const json_t *pilot;
    int64_t node[PILOT_KINDS] = {0}, room = PILOT_NODES_MOST;
    json_array_foreach (pilots_list(s), i, pilot) {
        int64_t n = to_come(pilot, node), number = entry_number(pilot, "pilot");
        n = n < room ? n : room;
        room -= n;
        struct spares *set = n > 0 || pilot_counts(s, number) ? set_of(s, number) : NULL;
        changed |= set && change_spare(s, set, n, node);
    }
    for (i = s->pilots.n_spares; i > 0; i--) {
        struct spares *set = &s->pilots.spares[i - 1];
        if (set->pilot > 0 && !pilot_find(s, set->pilot))
            changed |= change_spare(s, set, 0, node);
        if (set->pilot > 0 && set->n == 0)
            *set = s->pilots.spares[--s->pilots.n_spares];
    }
    return changed;
}

void spares_follow(server_t *s)
{
    struct auto_rule rule;
    bool is = auto_rule_get(s, &rule) && rule.rule.node[PILOT_CORES] > 0;
    struct spares *set = set_of(s, 0);
    bool changed = set && change_spare(s, set, is ? rule.rule.max_nodes : 0, rule.rule.node);
    if (follow_pilots(s) || changed)
        machine_measure(s, NULL);
}
