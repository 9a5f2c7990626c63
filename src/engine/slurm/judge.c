#include "engine/slurm/judge.h"

#include <stddef.h>
#include <string.h>

static bool is_state(const struct judge_seen *s, const char *state)
{
    return s->job && strcmp(s->job->state, state) == 0;
}

static bool is_job_over(const struct judge_seen *s)
{
    return s->job && (squeue_is_final(s->job->state) || is_state(s, "NODE_FAIL"));
}

static bool lasts(const struct judge_seen *s, int64_t seconds)
{
    return s->now - s->since >= seconds;
}

/* Nobody has taken it: as long as that is so, nothing of it has run. */
static enum judgement judge_untaken(const struct judge_seen *s)
{
    if (s->cancel)
        return JUDGE_TAKE_KILLED;
    if (!s->asked)
        return JUDGE_SUBMIT;
    if (!s->answers)
        return JUDGE_WAIT;
    if (!s->job)
        return lasts(s, JUDGE_TWICE) ? JUDGE_TAKE_REFUSED : JUDGE_WAIT;
    if (is_state(s, "PENDING"))
        return lasts(s, JUDGE_PENDING) ? JUDGE_TAKE_OCCUPIED : JUDGE_WAIT;
    if (is_state(s, "CANCELLED"))
        return JUDGE_TAKE_FAILED;
    if (is_job_over(s))
        return lasts(s, JUDGE_LAST) ? JUDGE_TAKE_REFUSED : JUDGE_WAIT;
    if (is_state(s, "RUNNING"))
        return lasts(s, JUDGE_SILENT) ? JUDGE_TAKE_REFUSED : JUDGE_WAIT;
    return JUDGE_WAIT;
}

/* It has begun. It is over for certain when Slurm says so of a job of which it has not lost sight, since then all of its
 * processes are dead; or when Slurm, which answers, has no such job any more: it kills what it does not know. Where it
 * has lost sight of a node, what ran there is dead once the node is back, or somebody knows that it never will be:
 * that counts unless Slurm says that the job goes on.
 */
static enum judgement judge_begun(const struct judge_seen *s)
{
    bool gone = s->answers && (!s->job || is_job_over(s));
    if (s->is_lost && (gone || !s->answers))
        return JUDGE_LOST;
    if (!gone)
        return JUDGE_WAIT;
    if ((s->given_up || is_state(s, "NODE_FAIL")) && !s->nodes_are_back)
        return JUDGE_WAIT;
    return lasts(s, s->job ? JUDGE_LAST : JUDGE_TWICE) ? JUDGE_LOST : JUDGE_WAIT;
}

enum judgement directed_judge(const struct judge_seen *s)
{
    if (s->taker == TAKEN_BY_SERVER)
        return s->cancel ? JUDGE_TAKE_KILLED : JUDGE_TAKE_REFUSED;
    if (s->ended)
        return JUDGE_ENDED;
    if (s->taker == TAKEN_BY_NOBODY)
        return judge_untaken(s);
    enum judgement is = judge_begun(s);
    return is == JUDGE_WAIT && s->broken ? JUDGE_STOP : is;
}
