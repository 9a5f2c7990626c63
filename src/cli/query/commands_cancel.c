/* cancel, partial-cancel: commands that take something from a job. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cli/query/commands.h"

/* Print the number of visits, twice since Fluxion counts them on the way down and on the way up. */
static void print_stats(struct session *s, const char *what, uint64_t visits)
{
    fprintf(s->out,
            QUERY_RULE "INFO: %s PREORDER COUNT=\"%" PRIu64 "\"\n"
                       "INFO: %s POSTORDER COUNT=\"%" PRIu64 "\"\n" QUERY_RULE,
            what, visits, what, visits);
}

static struct job *live_job(struct session *s, const char *word)
{
    int64_t id;
    struct job *job = session_parse_id(word, &id) ? session_job(s, id, NULL) : NULL;
    return session_job_is_live(job) ? job : NULL;
}

void query_cancel(struct session *s, int argc, char **argv)
{
    berth_error_t err = {""};
    uint64_t visits = 0;
    struct job *job = live_job(s, argv[1]);
    if (!job) {
        session_error(s, "cancel: ERROR: nonexistent job %s", argv[1]);
        return;
    }
    /* ENOENT: everything that it held has been removed. */
    if (match_cancel(s->machine, job->id, &visits, &err) < 0 && errno != ENOENT) {
        session_error(s, "cancel: ERROR: error encountered while removing job %s: %s", argv[1],
                      err.text);
        return;
    }
    job->mode = JOB_CANCELED;
    if (argc == 3 && strcmp(argv[2], "stats") == 0)
        print_stats(s, "CANCEL", visits);
}

void query_partial_cancel(struct session *s, int argc, char **argv)
{
    berth_error_t err = {""};
    uint64_t visits = 0;
    bool full = false;
    if (strcmp(argv[2], "jgf") != 0 && strcmp(argv[2], "rv1exec") != 0) {
        session_error(s, "ERROR: unsupported reader %s", argv[2]);
        return;
    }
    if (session_read(s, argv[3], QUERY_GRAPH_MAX) < 0)
        return;
    struct job *job = live_job(s, argv[1]);
    if (!job) {
        session_error(s, "ERROR: nonexistent job %s", argv[1]);
        return;
    }
    if (job->mode == JOB_RESERVED) {
        session_error(s, "ERROR: reservations not currently supported by partial cancel");
        return;
    }
    if (match_partial_cancel(s->machine, job->id, argv[2], s->text.bytes, s->text.length, &full,
                             &visits, &err) < 0)
        session_error(s, "ERROR: error encountered while removing job %s: %s", argv[1], err.text);
    else if (full)
        job->mode = JOB_CANCELED;
    if (argc == 5 && strcmp(argv[4], "stats") == 0)
        print_stats(s, "PARTIAL CANCEL", visits);
}
