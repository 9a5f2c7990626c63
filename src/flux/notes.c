/* How sched-berth tells Flux what is decided. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "berth/sched_query.h"
#include "flux/module.h"

/* "rank[0-1]" or "core3": a set of ids in brackets where it is more than one. */
static void put_ids(struct strbuf *out, const char *what, const char *ids)
{
    bool one = strspn(ids, "0123456789") == strlen(ids);

    strbuf_puts(out, what);
    strbuf_puts(out, one ? "" : "[");
    strbuf_puts(out, ids);
    strbuf_puts(out, one ? "" : "]");
}

/* What R gives by ranks, "rank0/core[0-1],gpu0", as text to free: where brokers share a host, its name says too little. NULL:
 * R has no ranks, or there is no memory.
 */
static char *summary_by_rank(const char *r)
{
    struct strbuf text = {0};
    json_t *all = json_loads(r, 0, NULL), *entries = NULL, *entry, *ids;
    const char *rank, *type;
    size_t i;

    json_unpack(all, "{s:{s:o}}", "execution", "R_lite", &entries);
    json_array_foreach (entries, i, entry) {
        rank = json_string_value(json_object_get(entry, "rank"));
        char before = '/';
        strbuf_puts(&text, i > 0 ? " " : "");
        put_ids(&text, "rank", rank ? rank : "");
        json_object_foreach (json_object_get(entry, "children"), type, ids) {
            strbuf_putc(&text, before);
            put_ids(&text, type, json_string_value(ids));
            before = ',';
        }
    }
    json_decref(all);
    return text.len > 0 ? strbuf_steal(&text) : NULL;
}

/* Whether Flux has queues by name: without them the core's only one is nothing to tell of. */
static bool has_queues(flux_t *h)
{
    json_t *queues;
    return flux_conf_unpack(flux_get_conf(h), NULL, "{s:o}", "queues", &queues) == 0;
}

static int answer_start(struct module *m, const struct flux_job *job,
                        const struct sched_decision *d, const char *r)
{
    struct sched_annotation a;
    const char *summary = NULL;

    (void)d;
    bool is_told = has_queues(m->h) && sched_annotate(m->sched, job->handle, &a) == 0;
    char *queue = is_told ? strdup(a.queue) : NULL;
    if (sched_resources(m->sched, job->handle, &summary) < 0)
        summary = NULL;
    /* Names are paths where they would not be one resource's alone. */
    char *by_rank = summary && *summary == '/' ? summary_by_rank(r) : NULL;
    /* These stay in the job's events: what was said of its wait is gone. */
    int rc = schedutil_alloc_respond_success_pack(
        m->util, job->request, r, "{s:{s:n s:n s:s* s:s*}}", "sched", "t_estimate",
        "reason_pending", "resource_summary", by_rank ? by_rank : summary, "queue", queue);
    free(by_rank);
    free(queue);
    return rc;
}

static int annotate_reservation(struct module *m, const struct flux_job *job,
                                const struct sched_decision *d)
{
    return schedutil_alloc_respond_annotate_pack(m->util, job->request, "{s:{s:f s:n}}", "sched",
                                                 "t_estimate", (double)d->at / (double)m->second,
                                                 "reason_pending");
}

static int annotate_wait(struct module *m, const struct flux_job *job, const char *reason)
{
    return schedutil_alloc_respond_annotate_pack(m->util, job->request, "{s:{s:n s:s}}", "sched",
                                                 "t_estimate", "reason_pending", reason);
}

static void denied(const struct sched_reason *reason, char *note, size_t size)
{
    char text[SCHED_REASON_TEXT];
    snprintf(note, size, "alloc denied: %s", sched_reason_text(reason, text));
}

const struct module_notes module_notes = {
    answer_start, annotate_reservation, annotate_wait, denied, NULL, NULL};
