#include "cli/pilot_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/errtext.h"
#include "cli/client/connection.h"
#include "cli/pilot_auto.h"
#include "cli/pilot_judge.h"
#include "cli/pilot_slurm.h"
#include "cli/verb.h"

#define EACH      2  /* s between two looks at the server's pilots */
#define SELDOM    30 /* s between two questions to Slurm while all is well */
#define LAST_TIME 60 /* s without a server, until it ends */

/* When Slurm was first heard to have no job of a pilot; kept while that is so. */
struct absence {
    int64_t pilot, since;
};

struct watch {
    struct connection connection;
    struct strbuf said; /* by squeue: its lines, cut up */
    struct squeue_job *jobs;
    size_t n_jobs;
    struct absence *absent;
    size_t n_absent;
    int64_t asked; /* when Slurm was asked last */
};

static void rest(void)
{
    const struct timespec t = {EACH, 0};
    nanosleep(&t, NULL);
}

/* ---- Slurm ---- */

/* Its jobs. 0, or -1: it does not answer. */
static int ask_for_pilot_jobs(struct watch *w)
{
    berth_error_t err;
    strbuf_reset(&w->said);
    w->n_jobs = 0;
    if (slurm_queue(SQUEUE_FORMAT, &w->said, &err) < 0)
        return -1;
    char *rest_of = NULL, *text = *strbuf_text(&w->said) ? w->said.data : NULL;
    for (char *line = text ? strtok_r(text, "\n", &rest_of) : NULL; line;
         line = strtok_r(NULL, "\n", &rest_of)) {
        struct squeue_job *v = reallocarray(w->jobs, w->n_jobs + 1, sizeof(*v));
        if (!v)
            return -1;
        w->jobs = v;
        w->n_jobs += squeue_read(line, &v[w->n_jobs]) == 0;
    }
    return 0;
}

/* The job of a pilot: by its comment, since numbers are given out again after a crash of Slurm's. */
static const struct squeue_job *job_of_pilot(const struct watch *w, const json_t *pilot)
{
    const char *comment = answer_text(pilot, "comment"), *known = answer_text(pilot, "job");
    const struct squeue_job *found = NULL;
    for (size_t i = 0; *comment && i < w->n_jobs; i++)
        if (strcmp(w->jobs[i].comment, comment) == 0 &&
            (!found || strcmp(w->jobs[i].job, known) == 0))
            found = &w->jobs[i];
    return found;
}

/* Since when there is no job; 0: there is one. */
static int64_t note_absence(struct watch *w, int64_t pilot, bool is_absent, int64_t now)
{
    size_t i = 0;
    while (i < w->n_absent && w->absent[i].pilot != pilot)
        i++;
    if (!is_absent) {
        if (i < w->n_absent)
            w->absent[i] = w->absent[--w->n_absent];
        return 0;
    }
    if (i < w->n_absent)
        return w->absent[i].since;
    struct absence *v = reallocarray(w->absent, w->n_absent + 1, sizeof(*v));
    if (!v)
        return 0;
    w->absent = v;
    w->absent[w->n_absent++] = (struct absence){pilot, now};
    return now;
}

/* ---- The server ---- */

/* Whether all of it is as it should be, so that Slurm need not be asked. */
static bool is_well(const json_t *pilot)
{
    const json_t *nodes = json_object_get(pilot, "nodes"), *node;
    size_t i;
    json_array_foreach (nodes, i, node) {
        if (strcmp(answer_text(node, "state"), "up") != 0)
            return false;
    }
    return json_array_size(nodes) > 0 &&
           (double)json_array_size(nodes) >= answer_number(pilot, "asked") &&
           strcmp(answer_text(pilot, "state"), "up") == 0;
}

static bool all_well(const json_t *pilots)
{
    const json_t *pilot;
    size_t i;
    json_array_foreach (pilots, i, pilot) {
        if (!is_well(pilot))
            return false;
    }
    return true;
}

static void judge_pilot(struct watch *w, const json_t *pilot, bool answered, int64_t now)
{
    char path[64];
    berth_error_t err;
    int64_t number = (int64_t)answer_number(pilot, "pilot");
    const struct squeue_job *job = answered ? job_of_pilot(w, pilot) : NULL;
    int64_t since = answered ? note_absence(w, number, !job, now) : 0;
    json_t *change = pilot_judge(pilot, job, since, now);
    snprintf(path, sizeof(path), "/v1/pilots/%lld", (long long)number);
    if (change)
        connection_ask(&w->connection, "PATCH", path, change, NULL, &err);
    json_decref(change);
}

/* A look. Returns whether there are pilots, or a rule that asks for some. -1: there is no server. */
static int look_at_pilots(struct watch *w)
{
    berth_error_t err;
    json_t *answer = NULL;
    const json_t *pilot;
    size_t i;
    if (connection_ask(&w->connection, "GET", "/v1/pilots", NULL, &answer, &err) < 0)
        return -1;
    const json_t *pilots = json_object_get(answer, "pilots");
    int64_t now = (int64_t)time(NULL);
    bool some = json_array_size(pilots) > 0;
    if (some && (!all_well(pilots) || now - w->asked >= SELDOM)) {
        bool answered = ask_for_pilot_jobs(w) == 0;
        w->asked = now;
        json_array_foreach (pilots, i, pilot)
            judge_pilot(w, pilot, answered, now);
    }
    json_decref(answer);
    int rule = auto_follow(&w->connection);
    return rule < 0 ? -1 : some || rule;
}

/* One watches; the lock is given back when it ends. */
static int lock(const struct watch *w)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof(path), "%s/pilots", w->connection.directory);
    mkdir(path, 0700); /* as the gate does with the first pilot */
    snprintf(path, sizeof(path), "%s/pilots/watch.lock", w->connection.directory);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 ? 0 : -1;
}

int pilot_watch(void)
{
    static struct watch w;
    berth_error_t err;
    int64_t last = (int64_t)time(NULL);
    if (connection_open(&w.connection, "pilot", &err) < 0)
        return connection_failed(&w.connection, &err);
    for (int some = lock(&w) < 0 ? 0 : 1; some != 0;) {
        some = look_at_pilots(&w);
        if (some >= 0)
            last = (int64_t)time(NULL);
        else if ((int64_t)time(NULL) - last > LAST_TIME)
            break;
        if (some != 0)
            rest();
    }
    connection_close(&w.connection);
    strbuf_clear(&w.said);
    free(w.jobs);
    free(w.absent);
    return CLI_OK;
}
