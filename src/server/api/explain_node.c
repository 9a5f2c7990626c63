#include "server/api/explain_node.h"

#include "berth/sched_query.h"
#include "pilot/plan.h"
#include "report/explain.h"
#include "server/core/entry.h"
#include "server/core/pilots.h"
#include "server/core/run_hosts.h"

static void put_unheard(const server_t *s, const struct run_host *host, struct strbuf *out)
{
    int64_t end = entry_number(host->node, "end");
    strbuf_puts(out, " Node ");
    strbuf_puts(out, host->name);
    strbuf_puts(
        out,
        node_is_ruled(host->node)
            ? " is down at Slurm: what runs there counts as running until the node is back"
            : " is not heard of: what runs there counts as running until it is known to be over");
    if (!node_is_ruled(host->node) && end > 0) {
        int64_t over = end + PILOT_LATE * SERVER_SECOND - s->clock.wall;
        strbuf_puts(out, ", in ");
        explain_span(out, over > 0 ? over : 0);
        strbuf_puts(out, " at the latest");
    }
    strbuf_puts(out, ". If it never comes back: berth drain --lost ");
    strbuf_puts(out, host->name);
}

void explain_unheard(server_t *s, sched_job_t handle, struct strbuf *out)
{
    struct sched_allocation given;
    struct run_hosts hosts = {0};
    if (handle < 0 || sched_allocation(s->sched, handle, &given) < 0)
        return;
    size_t n = run_hosts_read(s, &given, &hosts) == 0 ? hosts.n : 0;
    for (size_t i = 0; i < n; i++)
        if (hosts.v[i].node && !pilots_node_up(s, entry_text(hosts.v[i].node, "id"))) {
            put_unheard(s, &hosts.v[i], out);
            break;
        }
    run_hosts_clear(&hosts);
}
