/* match, multi-match, update: commands that give a job something. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cli/query/commands.h"

/* The outcome of a match. */
enum outcome {
    GIVEN,
    NOT_NOW,
    NEVER,
    REFUSED /* the job was wrong, or the answer could not be written; it took no id */
};

struct attempt {
    match_op_t op;
    int64_t id;
    const char *file;
    match_result_t result;
    double seconds;
};

static bool op_allocates(match_op_t op)
{
    return op != MATCH_SATISFIABILITY && op != MATCH_WITHOUT_ALLOCATING &&
           op != MATCH_WITHOUT_ALLOCATING_FUTURE;
}

static void print_cost(FILE *file, const struct attempt *a)
{
    fprintf(file,
            "INFO: PREORDER VISIT COUNT=%" PRIu64 "\n"
            "INFO: POSTORDER VISIT COUNT=%" PRIu64 "\n",
            a->result.visits, a->result.visits);
}

static void print_given(struct session *s, const struct attempt *a)
{
    int64_t at = a->result.at;
    fprintf(s->out, QUERY_RULE "INFO: JOBID=%" PRId64 "\nINFO: RESOURCES=%s\n", a->id,
            !op_allocates(a->op) ? "MATCHED"
            : at == 0            ? "ALLOCATED"
                                 : "RESERVED");
    if (at == 0)
        fputs("INFO: SCHEDULED AT=Now\n", s->out);
    else
        fprintf(s->out, "INFO: SCHEDULED AT=%" PRId64 "\n", at);
    if (s->elapse) {
        fprintf(s->info, "INFO: ELAPSE=%f\n", a->seconds);
        print_cost(s->info, a);
    }
    fputs(QUERY_RULE, s->out);
}

static void print_not_given(struct session *s, const struct attempt *a, bool never)
{
    fputs(QUERY_RULE "INFO: No matching resources found\n", s->out);
    if (never)
        fputs("INFO: Unsatisfiable request\n", s->out);
    fprintf(s->out, "INFO: JOBID=%" PRId64 "\n", a->id);
    if (s->elapse) {
        fprintf(s->out, "INFO: ELAPSE=%f\n", a->seconds);
        print_cost(s->info, a);
    }
    fputs(QUERY_RULE, s->out);
}

static void print_satisfiability(struct session *s, const struct attempt *a, bool never)
{
    fprintf(s->out, QUERY_RULE "INFO: %s request\n" QUERY_RULE,
            never ? "Unsatisfiable" : "Satisfiable");
    if (s->elapse) {
        fprintf(s->info, "INFO: ELAPSE=%f\n", a->seconds);
        print_cost(s->info, a);
    }
}

static int enter_job(struct session *s, const struct attempt *a)
{
    struct job job = {
        .id = a->id,
        .at = a->result.at,
        .seconds = a->seconds,
        .mode = a->result.at == 0 ? JOB_ALLOCATED : JOB_RESERVED,
    };
    return session_add(s, &job, a->file);
}

/* Match the job whose text was read. */
static enum outcome match_text(struct session *s, struct attempt *a)
{
    berth_error_t err = {""};
    struct jobspec_options options = {.knows_type = match_knows_type, .arg = s->machine};
    jobspec_t *spec = jobspec_parse(s->text.bytes, s->text.length, &options, &err);
    if (!spec) {
        session_error(s, "match_allocate: ERROR: Jobspec error for %" PRId64 ": %s", s->next_id,
                      err.text);
        return REFUSED;
    }
    int rc = match_run(s->machine, a->op, spec, a->id, 0, &a->result, &err);
    int reason = errno;
    jobspec_destroy(spec);
    if (rc == 0)
        return GIVEN;
    if (reason == EBUSY || reason == ENODEV)
        return reason == EBUSY ? NOT_NOW : NEVER;
    session_error(s, "match_allocate: ERROR: %s", err.text[0] ? err.text : strerror(reason));
    return REFUSED;
}

/* Write out the result, and add the job. If that fails, the job gives back what it got. */
static enum outcome conclude(struct session *s, struct attempt *a, enum outcome outcome)
{
    bool given = outcome == GIVEN && op_allocates(a->op);
    bool told = session_tell(s) == 0;
    a->seconds = session_now() - a->seconds;
    if (told && (!given || enter_job(s, a) == 0)) {
        if (op_allocates(a->op) && s->next_id < INT64_MAX)
            s->next_id++;
        return outcome;
    }
    int reason = errno;
    session_error(s, "match_allocate: ERROR: match writer emit: %s", strerror(reason));
    if (given)
        match_cancel(s->machine, a->id, NULL, NULL);
    return reason == ENOENT ? NEVER : REFUSED;
}

/* Returns 0 even for a file that can't be read, since that does not end a multi-match. */
static int match_file(struct session *s, match_op_t op, const char *file)
{
    if (session_read(s, file, JOBSPEC_TEXT_MAX) < 0)
        return 0;
    struct attempt a = {.op = op, .id = s->next_id, .file = file, .seconds = session_now()};
    enum outcome outcome = match_text(s, &a);
    bool wrong = outcome == REFUSED;
    if (wrong)
        a.seconds = 0;
    else
        outcome = conclude(s, &a, outcome);
    /* A wrong jobspec can't be satisfied; but, as in Fluxion's sessions, one whose answer can't be written
     * can.
     */
    if (op == MATCH_SATISFIABILITY)
        print_satisfiability(s, &a, wrong || outcome == NEVER);
    else if (outcome == GIVEN)
        print_given(s, &a);
    else
        print_not_given(s, &a, outcome == NEVER);
    return outcome == GIVEN ? 0 : -1;
}

static int parse_op(struct session *s, const char *word)
{
    int op = match_op_parse(word);
    if (op < 0)
        session_error(s, "ERROR: unknown subcmd %s", word);
    return op;
}

void query_match(struct session *s, int argc, char **argv)
{
    (void)argc;
    int op = parse_op(s, argv[1]);
    if (op >= 0)
        match_file(s, (match_op_t)op, argv[2]);
}

void query_multi_match(struct session *s, int argc, char **argv)
{
    int op = parse_op(s, argv[1]);
    for (int i = 2; op >= 0 && i < argc; i++)
        if (match_file(s, (match_op_t)op, argv[i]) < 0)
            return;
}

/* The words of an update other than the file. */
static bool check_update(struct session *s, char **argv, int64_t *id, int64_t *at,
                         int64_t *duration)
{
    static const char *const formats[] = {"jgf", "jgf_shorthand", "rv1exec"};
    bool known = false;
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        known = known || strcmp(argv[2], formats[i]) == 0;
    if (strcmp(argv[1], "allocate") != 0 && strcmp(argv[1], "reserve") != 0)
        session_error(s, "ERROR: unknown subcmd %s", argv[1]);
    else if (!known)
        session_error(s, "ERROR: unsupported reader %s", argv[2]);
    else if (!session_parse_id(argv[4], id) || *id == INT64_MAX)
        session_error(s, "ERROR: invalid Jobid %s", argv[4]);
    else if (session_job_is_live(session_job(s, *id, NULL)))
        session_error(s, "ERROR: existing Jobid ");
    else if (!session_parse_id(argv[5], at) || !session_parse_id(argv[6], duration) ||
             *duration == 0)
        session_error(s, "ERROR: invalid time (%s, %s)", argv[5], argv[6]);
    else
        return true;
    return false;
}

void query_update(struct session *s, int argc, char **argv)
{
    (void)argc;
    struct attempt a = {.op = MATCH_ALLOCATE, .file = argv[3]};
    berth_error_t err = {""};
    if (!check_update(s, argv, &a.id, &a.result.at, &a.result.duration) ||
        session_read(s, argv[3], QUERY_GRAPH_MAX) < 0)
        return;
    s->next_id = a.id;
    a.seconds = session_now();
    /* A job recorded from outside is reported as an allocation, whichever word was used and whenever it
     * starts.
     */
    int rc = match_update(s->machine, argv[2], s->text.bytes, s->text.length, a.id, a.result.at,
                          a.result.duration, false, &err);
    enum outcome outcome = REFUSED;
    if (rc == 0) {
        outcome = conclude(s, &a, GIVEN);
    } else {
        session_error(s, "ERROR: traverser run () returned error: %s", err.text);
        a.seconds = session_now() - a.seconds;
    }
    s->next_id = a.id + 1;
    if (outcome == GIVEN)
        print_given(s, &a);
    else
        print_not_given(s, &a, false);
}
