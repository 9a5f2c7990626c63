/* Reasons in words of a person's: in a list, and where a submission is refused. */
#include "report/reason_words.h"

#include <string.h>

#include "jobspec/short.h"
#include "report/explain.h"

void reason_put_type(struct strbuf *out, const char *type, bool one)
{
    static const char *const words[][3] = {{"core", "core", "cores"},
                                           {"node", "node", "nodes"},
                                           {"gpu", "GPU", "GPUs"},
                                           {"memory", "memory", "memory"},
                                           {"gpu-memory", "GPU memory", "GPU memory"},
                                           {"socket", "socket", "sockets"},
                                           {"rack", "rack", "racks"}};
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (strcmp(type, words[i][0]) == 0) {
            strbuf_puts(out, words[i][one ? 1 : 2]);
            return;
        }
    const char *license = short_license_of(type);
    strbuf_puts(out, license ? "licence" : "unit");
    strbuf_puts(out, one ? " of " : "s of ");
    strbuf_puts(out, license ? license : type);
}

/* "8 cores" */
static void put_most(struct strbuf *out, const struct sched_reason_limit *l)
{
    strbuf_put_int(out, l->most);
    strbuf_putc(out, ' ');
    reason_put_type(out, l->what, l->most == 1);
}

void reason_put_limit(struct strbuf *out, const struct sched_reason_limit *l, const char *user,
                      const char *queue)
{
    bool one = l->whose == SCHED_OF_JOB;
    if (l->whose == SCHED_OF_ARRAY) {
        strbuf_puts(out, "of this array, at most ");
        strbuf_put_int(out, l->most);
        strbuf_puts(out, " may run at once");
        return;
    }
    strbuf_puts(out, one ? "a job" : "jobs");
    if (l->whose == SCHED_OF_USER) {
        strbuf_puts(out, " of user ");
        strbuf_puts(out, user);
    }
    if (l->whose == SCHED_OF_ACCOUNT) {
        strbuf_puts(out, " of account ");
        strbuf_puts(out, l->account);
    } else {
        strbuf_puts(out,
                    l->whose == SCHED_OF_DIVISION ? " of a division with queue " : " in queue ");
        strbuf_puts(out, queue);
    }
    if (strcmp(l->what, "running") == 0 || strcmp(l->what, "pending") == 0) {
        strbuf_puts(out,
                    strcmp(l->what, "running") == 0 ? " may run, at most " : " may wait, at most ");
        strbuf_put_int(out, l->most);
    } else if (strcmp(l->what, "duration") == 0) {
        strbuf_puts(out, " may last at most ");
        explain_span(out, l->most);
    } else {
        strbuf_puts(out, " may have at most ");
        put_most(out, l);
    }
    strbuf_puts(out, one ? "" : " at once");
}

void reason_put_jobs(struct strbuf *out, const struct sched_reason *reason)
{
    size_t all = reason->n_jobs + reason->singleton + reason->others;
    for (size_t i = 0; i < all; i++) {
        strbuf_puts(out, i == 0 ? "" : i + 1 < all ? ", " : " and ");
        if (i < reason->n_jobs)
            explain_put_job(out, &reason->job[i]);
        else
            strbuf_puts(out,
                        reason->singleton ? "the user's other jobs of the same name" : "others");
    }
}

/* "its user's limit: 8 cores" */
static void put_short_limit(struct strbuf *out, const struct sched_reason_limit *l)
{
    static const char *const whose[] = {[SCHED_OF_JOB] = "a job",
                                        [SCHED_OF_USER] = "its user",
                                        [SCHED_OF_QUEUE] = "its queue",
                                        [SCHED_OF_ARRAY] = "the array",
                                        [SCHED_OF_DIVISION] = "the division",
                                        [SCHED_OF_ACCOUNT] = "account "};
    strbuf_puts(out, whose[l->whose]);
    if (l->whose == SCHED_OF_ACCOUNT)
        strbuf_puts(out, l->account);
    strbuf_puts(out, "'s limit: ");
    if (strcmp(l->what, "duration") == 0) {
        explain_span(out, l->most);
        return;
    }
    if (strcmp(l->what, "running") != 0 && strcmp(l->what, "pending") != 0) {
        put_most(out, l);
        return;
    }
    strbuf_put_int(out, l->most);
    strbuf_putc(out, ' ');
    strbuf_puts(out, l->what);
}

bool reason_put_short(struct strbuf *out, const struct sched_reason *reason)
{
    switch (reason->kind) {
    case SCHED_REASON_RESOURCES:
        strbuf_puts(out, "waits for ");
        reason_put_type(out, reason->type, false);
        return true;
    case SCHED_REASON_LIMIT:
        put_short_limit(out, &reason->limit);
        return true;
    case SCHED_REASON_DEPTH:
        strbuf_puts(out, "not among the first of its queue");
        return true;
    case SCHED_REASON_PRIORITY:
        strbuf_puts(out, "others of its queue go first");
        return true;
    case SCHED_REASON_DEPENDENCY:
        strbuf_puts(out, "waits for ");
        reason_put_jobs(out, reason);
        return true;
    default:
        return false;
    }
}

void reason_put_refusal(struct strbuf *out, const struct sched_reason *reason, int64_t duration,
                        const char *user, const char *queue)
{
    char text[SCHED_REASON_TEXT];
    if (reason->kind != SCHED_REASON_LIMIT) {
        strbuf_puts(out, sched_reason_text(reason, text));
        return;
    }
    const struct sched_reason_limit *l = &reason->limit;
    reason_put_limit(out, l, user, queue);
    if (strcmp(l->what, "duration") != 0)
        return;
    if (duration >= SCHED_UNLIMITED) {
        strbuf_puts(out, ", it has no limit");
        return;
    }
    strbuf_puts(out, ", it asks for ");
    explain_span(out, duration);
}
