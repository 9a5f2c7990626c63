#include "cli/client/directives.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/errtext.h"
#include "cli/foreign/flux.h"
#include "cli/foreign/slurm.h"

#define WHERE_SIZE 320

/* A line has options only. */
static int check_rest(const struct script *s, const struct script_line *line, int at,
                      const char *where, berth_error_t *err)
{
    if (at == line->n)
        return 0;
    const char *word = s->words[line->first + at];
    bool parts = strcmp(word, "hetjob") == 0 || strcmp(word, "packjob") == 0;
    return errtext_set(err, EINVAL, "%s'%.100s' is not an option of a job%s", where, word,
                       parts ? "; for parts that differ, --role NAME:N,cores=C each" : "");
}

static int read_lines(struct directives *d, struct slurm *slurm, const struct script *s,
                      enum script_mark mark, const char *name, berth_error_t *err)
{
    char where[WHERE_SIZE];
    for (size_t i = 0; i < s->n_lines; i++) {
        const struct script_line *line = &s->lines[i];
        char **words = s->words + line->first;
        if (line->mark != mark)
            continue;
        snprintf(where, sizeof(where), "%.280s: line %zu: ", name, line->number);
        int at = mark == SCRIPT_FLUX ? flux_options(&d->all, words, line->n, where, err)
                                     : slurm_options(slurm, words, line->n, where, err);
        if (at < 0 || check_rest(s, line, at, where, err) < 0)
            return -1;
        d->slurm = d->slurm || mark == SCRIPT_SLURM;
    }
    return 0;
}

int directives_read(struct directives *d, const struct script *s, char **command, int n,
                    const char *name, berth_error_t *err)
{
    struct slurm slurm = {0};
    char where[WHERE_SIZE];

    *d = (struct directives){.slurm = command != NULL};
    snprintf(where, sizeof(where), "%.300s: ", command ? "sbatch" : name);
    int rc = read_lines(d, &slurm, s, SCRIPT_SLURM, name, err);
    if (rc == 0 && slurm.wrap)
        rc = errtext_set(err, EINVAL, "%s--wrap is for a command line", where);
    if (rc == 0 && command)
        rc = slurm_options(&slurm, command, n, where, err) < 0 ? -1 : 0;
    if (rc == 0 && command && !slurm.file[1])
        slurm.file[1] = slurm.array ? "slurm-%A_%a.out" : "slurm-%j.out";
    if (rc == 0 && d->slurm)
        rc = slurm_finish(&slurm, where, &d->tasks, err);
    if (rc == 0) {
        d->all = slurm.out;
        slurm.out = (struct foreign){0};
        rc = read_lines(d, &slurm, s, SCRIPT_FLUX, name, err);
    }
    slurm_clear(&slurm);
    if (rc < 0)
        directives_clear(d);
    return rc;
}

void directives_clear(struct directives *d)
{
    foreign_clear(&d->all);
    *d = (struct directives){0};
}
