#include "server/core/cancel.h"

#include <errno.h>

#include "berth/sched_admin.h"
#include "server/core/job_text.h"
#include "server/core/members.h"
#include "server/core/priv.h"

int member_cancel(server_t *s, struct job *job, uint32_t i, const struct cancel *how)
{
    if (member_look(job, i)->state == STORE_PENDING) {
        member_recover_handle(s, job, i);
        if (!member_make(s, job, i) || member_split(s, job, i) < 0)
            return -1;
        struct member *m = member_record(job, i);
        m->cancelled = true;
        if (m->handle >= 0)
            sched_cancel(s->sched, s->clock.now, m->handle);
        member_event(s, job, i, "cancelled", event_text(how->key, how->text));
        member_end(s, job, i, STORE_CANCELLED, how->reason);
        return 0;
    }
    struct member *m = member_record(job, i);
    if (m->cancelled)
        return 0;
    if (m->run && m->handle >= 0 && sched_leave(s->sched, s->clock.now, m->handle) < 0 &&
        errno == ENOMEM)
        return -1;
    m->cancelled = true;
    member_changed(s, job, i);
    member_event(s, job, i, "cancelling", event_text(how->key, how->text));
    if (m->run)
        run_stop(s, m->run);
    return 0;
}

int entry_cancel(server_t *s, struct job *job, const struct cancel *how)
{
    sched_job_t entry = job->entry;
    struct mass *mass = NULL;
    if (entry_find_parts(s, job) == 0)
        mass = mass_prepare(s, job, STORE_CANCELLED, how->reason);
    if (!mass) {
        errno = ENOMEM;
        return -1;
    }
    entry_promised(s, job, -1);
    sched_cancel(s->sched, s->clock.now, entry);
    job->entry = job->promised = -1;
    for (uint32_t i = 0; (i = member_next_own(job, i)) < job->members; i++) {
        struct member *m = member_record(job, i);
        if (m->handle != entry || m->state != STORE_PENDING)
            continue;
        m->cancelled = true;
        member_event(s, job, i, "cancelled", event_text(how->key, how->text));
        member_end(s, job, i, STORE_CANCELLED, how->reason);
    }
    mass_end(s, job, mass, "cancelled", how->key, how->text);
    return 0;
}
