/* Of a member that waits again: for whom it was preempted, as its events say. */
#include <string.h>

#include <jansson.h>

#include "server/api/api.h"
#include "server/api/explain.h"
#include "server/core/members.h"
#include "server/core/priv.h"

/* The last reason for which a member was requeued; "": it was not, or for none. */
struct last_requeue {
    int64_t member;
    char reason[SCHED_REASON_TEXT];
};

static int note_requeue(void *context, const struct store_event *e)
{
    struct last_requeue *last = context;
    if (strcmp(e->kind, "requeued") != 0 || (e->member >= 0 && e->member != last->member))
        return 0;
    json_t *data = e->data ? json_loads(e->data, 0, NULL) : NULL;
    const char *reason = json_string_value(json_object_get(data, "reason"));
    bool is_whole = reason && strlen(reason) < sizeof(last->reason);
    strcpy(last->reason, is_whole ? reason : "");
    json_decref(data);
    return 0;
}

void explain_again(struct call *c, const struct job *job, uint32_t i, struct strbuf *text)
{
    struct last_requeue last = {.member = i};
    struct sched_reason why;
    char words[SCHED_REASON_TEXT];
    berth_error_t err = {""};
    if (member_look(job, i)->attempts > 0 &&
        store_events(c->s->store, 0, c->id, API_EVENTS_MAX, &last, note_requeue, &err) == 0 &&
        preempted_why(last.reason, &why, words))
        explain_preempted_before(text, &why);
}
