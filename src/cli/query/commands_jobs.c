/* list, info, stat, cat: commands that only look at the session. */
#include <inttypes.h>

#include "cli/query/commands.h"

static void print_job(struct session *s, const struct job *job)
{
    static const char *const modes[] = {
        [JOB_ALLOCATED] = "ALLOCATED",
        [JOB_RESERVED] = "RESERVED",
        [JOB_CANCELED] = "CANCELED",
    };
    fprintf(s->info, "INFO: %" PRId64 ", %s, %" PRId64 ", %s, %g\n", job->id, modes[job->mode],
            job->at, intern_text(&s->files, job->file), job->seconds);
}

void query_list(struct session *s, int argc, char **argv)
{
    (void)argc;
    (void)argv;
    for (size_t i = 0; i < s->njobs; i++)
        print_job(s, &s->jobs[i]);
}

void query_info(struct session *s, int argc, char **argv)
{
    (void)argc;
    int64_t id;
    const struct job *job = session_parse_id(argv[1], &id) ? session_job(s, id, NULL) : NULL;
    if (job)
        print_job(s, job);
    else
        session_error(s, "info: ERROR: nonexistent job %s", argv[1]);
}

void query_stat(struct session *s, int argc, char **argv)
{
    (void)argc;
    (void)argv;
    fprintf(s->info,
            "INFO: Num. of Jobs Matched: %zu\n"
            "INFO: Min. Match Time: %g\n"
            "INFO: Max. Match Time: %g\n"
            "INFO: Avg. Match Time: %g\n",
            s->njobs, s->least, s->most, s->nmatched ? s->sum / (double)s->nmatched : 0);
}

void query_cat(struct session *s, int argc, char **argv)
{
    (void)argc;
    if (session_read(s, argv[1], JOBSPEC_TEXT_MAX) < 0)
        return;
    size_t n = s->text.length;
    if (n > 0 && fwrite(s->text.bytes, 1, n, s->info) == n && s->text.bytes[n - 1] != '\n')
        fputc('\n', s->info);
    fprintf(s->info, "INFO: Jobspec in %s\n", argv[1]);
}
