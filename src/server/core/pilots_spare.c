/* Nodes that pilots may bring, in the machine before they come: down, so that nothing starts there, and there, so that
 * a job which only fits on such a node waits instead of being refused.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "berth/sched_admin.h"
#include "server/core/machine.h"
#include "server/core/pilots_auto.h"
#include "server/core/priv.h"

static void put_names(int64_t number, int64_t n, char names[80])
{
    snprintf(names, 80, "spare%" PRId64 "-[0-%" PRId64 "]", number, n - 1);
}

static int attach_spare(server_t *s, const json_t *node, int64_t number, int64_t n,
                        berth_error_t *err)
{
    char base[32], names[80];
    snprintf(base, sizeof(base), "spare%" PRId64, number);
    put_names(number, n, names);
    char *text = spare_graph(s, node, base, n);
    int rc = text ? sched_attach(s->sched, s->clock.now, text, strlen(text), err) : -1;
    free(text);
    return rc < 0 ? -1 : sched_set_status(s->sched, s->clock.now, names, RESOURCE_DOWN, err);
}

/* The new ones come first: what waits for such finds some all the time. */
void spares_follow(server_t *s)
{
    struct auto_rule rule;
    struct spares was = s->pilots.spares, is = {.number = was.number};
    berth_error_t why = {"out of memory"};
    char names[80];
    if (auto_rule_get(s, &rule) && rule.rule.node[PILOT_CORES] > 0) {
        is.n = rule.rule.max_nodes;
        memcpy(is.node, rule.rule.node, sizeof(is.node));
    }
    if (is.n == was.n && memcmp(is.node, was.node, sizeof(is.node)) == 0)
        return;
    is.number++;
    json_t *node =
        json_pack("{s:I, s:I, s:I}", "cores", (json_int_t)is.node[PILOT_CORES], "gpus",
                  (json_int_t)is.node[PILOT_GPUS], "memory", (json_int_t)is.node[PILOT_MEMORY]);
    if (is.n > 0 && (!node || attach_spare(s, node, is.number, is.n, &why) < 0))
        server_notice(s, "jobs cannot wait for nodes of pilots: %s", why.text);
    put_names(was.number, was.n, names);
    if (was.n > 0 && sched_remove(s->sched, s->clock.now, names, &why) < 0)
        server_notice(s, "%s: %s", names, why.text);
    s->pilots.spares = is;
    json_decref(node);
    machine_measure(s, NULL);
}
