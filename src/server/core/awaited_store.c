#include "server/core/awaited_store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int awaited_to_store(const struct sched_record *r, struct store_member *to, struct strbuf *text)
{
    if (r->n_awaited_by == 0)
        return 0;
    to->stopped_for = strtoll(r->awaited_by[0].id, NULL, 10);
    to->stopped_for_member = r->awaited_by[0].member;
    for (size_t i = 1; i < r->n_awaited_by; i++) {
        strbuf_putc(text, ' ');
        strbuf_puts(text, r->awaited_by[i].id);
        strbuf_putc(text, '.');
        strbuf_put_int(text, r->awaited_by[i].member);
    }
    if (r->n_awaited_by > 1)
        to->awaited_also = strbuf_text(text);
    errno = ENOMEM;
    return text->failed ? -1 : 0;
}

/* One of those who wait. */
struct stored {
    char id[24];
};

static void add(struct sched_record *r, struct sched_awaiting *list, struct stored *ids,
                int64_t job, uint32_t member)
{
    size_t i = r->n_awaited_by++;
    snprintf(ids[i].id, sizeof(ids[i].id), "%" PRId64, job);
    list[i] = (struct sched_awaiting){ids[i].id, member};
}

void *awaited_from_store(const struct promise *p, struct sched_record *r)
{
    size_t most = 1;
    for (const char *c = p->awaited_also; c && *c; c++)
        most += *c == ' ';
    struct sched_awaiting *list = calloc(most, sizeof(*list) + sizeof(struct stored));
    if (!list)
        return NULL;
    struct stored *ids = (struct stored *)(list + most);
    r->awaited_by = list;
    r->n_awaited_by = 0;
    if (p->stopped_for > 0)
        add(r, list, ids, p->stopped_for, p->stopped_for_member);
    for (const char *c = p->awaited_also; c && *c == ' ' && r->n_awaited_by < most;) {
        int64_t job;
        uint32_t member;
        int length = 0;
        if (sscanf(c, " %" SCNd64 ".%" SCNu32 "%n", &job, &member, &length) != 2 || job < 1)
            break;
        add(r, list, ids, job, member);
        c += length;
    }
    return list;
}
