/* GET /v1/jobs/last: the id of the job that the caller submitted last. */

#include "base/json_out.h"
#include "server/api/api.h"

/* That of the jobs that are not over; the table is sorted by id. */
static int64_t last_live(const server_t *s, uint32_t uid)
{
    for (size_t i = s->table.n; i-- > 0;) {
        const struct job *job = s->table.jobs[i].job;
        if (job && job->uid == uid)
            return job->id;
    }
    return 0;
}

void api_job_last(struct call *c)
{
    uint32_t uid = c->request->peer.uid;
    struct json_out out = {.text = c->out};
    berth_error_t why = {""};
    int64_t over, id = last_live(c->s, uid);
    if (store_last_over(c->s->store, uid, &over, &why) < 0) {
        api_wrong(c, &why);
        return;
    }
    id = over > id ? over : id;
    if (id == 0) {
        api_refuse(c, 404, NULL, "you have submitted no job yet");
        return;
    }
    json_open(&out, NULL, '{');
    json_put_int(&out, "id", id);
    strbuf_puts(c->out, "}\n");
}
