#include "told.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "base/idset.h"
#include "match/inner.h"
#include "match/text/names.h"

/* Paths, sorted, each once. */
struct paths {
    char **v;
    size_t n;
};

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_path(const struct graph *g, uint8_t subsystem, uint32_t v, struct paths *to)
{
    struct strbuf text = {0};

    graph_path(g, v, subsystem, &text);
    to->v = realloc(to->v, (to->n + 1) * sizeof(*to->v));
    if (!to->v)
        abort();
    to->v[to->n++] = strbuf_steal(&text);
}

static void sort_paths(struct paths *p)
{
    size_t n = 0;

    if (p->n > 1)
        qsort(p->v, p->n, sizeof(*p->v), by_text);
    for (size_t i = 0; i < p->n; i++) {
        if (n > 0 && strcmp(p->v[n - 1], p->v[i]) == 0)
            free(p->v[i]);
        else
            p->v[n++] = p->v[i];
    }
    p->n = n;
}

static void clear_paths(struct paths *p)
{
    for (size_t i = 0; i < p->n; i++)
        free(p->v[i]);
    free(p->v);
}

static bool is_below(const struct match *m, uint32_t v, uint32_t above)
{
    while (v != VERTEX_NONE && v != above)
        v = graph_parent(m->g, v, m->topo.subsystem);
    return v == above;
}

/* What has a vertex to itself, units of it, or is only told so and has nothing below it that has. */
static bool is_given(const struct match *m, const struct job *job, uint32_t i)
{
    const uint32_t own = HOLD_EXCLUSIVE | HOLD_UNITS;

    if (!(job->hold[i].flags & HOLD_SHOWN))
        return job->hold[i].flags & own;
    for (uint32_t k = 0; k < job->n; k++)
        if (k != i && (job->hold[k].flags & (own | HOLD_SHOWN)) &&
            is_below(m, job->hold[k].vertex, job->hold[i].vertex))
            return false;
    return true;
}

static void given_paths(const struct match *m, const struct job *job, struct paths *to)
{
    bool *given = calloc(job->n + 1, sizeof(*given));

    if (!given)
        abort();
    for (uint32_t i = 0; i < job->n; i++)
        given[i] = is_given(m, job, i);
    for (uint32_t i = 0; i < job->n; i++) {
        bool covered = false;
        for (uint32_t k = 0; k < job->n && given[i]; k++)
            covered |= k != i && given[k] && is_below(m, job->hold[i].vertex, job->hold[k].vertex);
        if (given[i] && !covered)
            add_path(m->g, m->topo.subsystem, job->hold[i].vertex, to);
    }
    free(given);
    sort_paths(to);
}

bool told_in_short(struct match *m, int64_t jobid)
{
    const struct job *job = jobs_find(&m->jobs, jobid);
    struct strbuf text = {0};
    struct paths given = {0}, named = {0};
    uint32_t *v = NULL;
    size_t n = 0;
    berth_error_t err = {""};

    given_paths(m, job, &given);
    bool good = match_summary(m, jobid, &text) == 0 && (given.n > 0) == (text.len > 0);
    if (good && given.n > 0)
        good = match_select(m, strbuf_text(&text), &v, &n, &err) == 0;
    for (size_t i = 0; i < n; i++)
        add_path(m->g, m->topo.subsystem, v[i], &named);
    sort_paths(&named);
    good = good && named.n == given.n;
    for (size_t i = 0; i < named.n && good; i++)
        good = strcmp(named.v[i], given.v[i]) == 0;
    if (!good)
        fprintf(stderr, "job %lld: %s: %zu of %zu vertices %s\n", (long long)jobid,
                strbuf_text(&text), named.n, given.n, err.text);
    clear_paths(&given);
    clear_paths(&named);
    strbuf_clear(&text);
    free(v);
    return good;
}

bool told_as_found(struct match *m, int64_t jobid)
{
    static const char *const formats[] = {"simple",      "pretty_simple", "rlite", "rv1",
                                          "rv1_nosched", "rv1_shorthand", "jgf",   "jgf_shorthand"};
    char *found[8] = {NULL};
    int error[8] = {0};
    const char *text;
    size_t length;
    bool good = true;

    for (int i = 0; i < 8; i++) {
        if (match_write(m, formats[i], &text, &length) == 0)
            found[i] = strndup(text, length);
        else
            error[i] = errno;
    }
    for (int i = 0; i < 8; i++) {
        if (match_write_job(m, jobid, formats[i], &text, &length) == 0)
            good &= found[i] && strlen(found[i]) == length && strcmp(found[i], text) == 0;
        else
            good &= !found[i] && errno == error[i];
        if (!good)
            fprintf(stderr, "job %lld as %s:\n%s\ninstead of\n%s\n", (long long)jobid, formats[i],
                    text, found[i] ? found[i] : "nothing");
        if (!good)
            break;
    }
    for (int i = 0; i < 8; i++)
        free(found[i]);
    return good;
}

/* ---- By host ---- */

/* "3 0-3/1" for cores 0 to 3 and GPU 1 of rank 3: as a line, added once. */
static void add_line(struct paths *to, uint32_t rank, const char *cores, const char *gpus)
{
    struct strbuf text = {0};

    strbuf_put_uint(&text, rank);
    strbuf_putc(&text, ' ');
    strbuf_puts(&text, cores ? cores : "");
    strbuf_putc(&text, '/');
    strbuf_puts(&text, gpus ? gpus : "");
    to->v = realloc(to->v, (to->n + 1) * sizeof(*to->v));
    if (!to->v)
        abort();
    strbuf_text(&text);
    to->v[to->n++] = strbuf_steal(&text);
}

static void lines_of_r(const json_t *r, struct paths *to)
{
    const json_t *execution = json_object_get(r, "execution"), *group;
    size_t i;

    json_array_foreach (json_object_get(execution, "R_lite"), i, group) {
        const char *ranks = json_string_value(json_object_get(group, "rank"));
        const json_t *children = json_object_get(group, "children");
        struct idset set = {0};
        if (idset_decode(&set, ranks, strlen(ranks), NULL) < 0)
            abort();
        for (uint32_t rank = idset_first(&set); rank != IDSET_NONE; rank = idset_next(&set, rank))
            add_line(to, rank, json_string_value(json_object_get(children, "core")),
                     json_string_value(json_object_get(children, "gpu")));
        idset_clear(&set);
    }
}

static void put_ranges(const struct resource_range *range, size_t n, struct strbuf *out)
{
    struct idset set = {0};

    for (size_t i = 0; i < n; i++)
        if (idset_add_range(&set, range[i].first, range[i].last) < 0)
            abort();
    strbuf_reset(out);
    idset_encode(&set, false, out);
    strbuf_text(out);
    idset_clear(&set);
}

/* All lines in order, and names, as one text. */
static char *put_together(struct paths *lines, const char *names)
{
    struct strbuf text = {0};

    sort_paths(lines);
    for (size_t i = 0; i < lines->n; i++) {
        strbuf_puts(&text, lines->v[i]);
        strbuf_putc(&text, '\n');
    }
    strbuf_puts(&text, names);
    strbuf_text(&text);
    clear_paths(lines);
    return strbuf_steal(&text);
}

char *told_hosts(const struct resource_host *hosts, size_t n)
{
    struct hostlist list = {0};
    struct strbuf cores = {0}, gpus = {0}, names = {0};
    struct paths lines = {0};

    for (size_t i = 0; i < n; i++) {
        const struct resource_host *h = &hosts[i];
        put_ranges(h->cores, h->n_cores, &cores);
        put_ranges(h->gpus, h->n_gpus, &gpus);
        add_line(&lines, (uint32_t)h->rank, strbuf_text(&cores), strbuf_text(&gpus));
        if (hostlist_append_host(&list, h->name, strlen(h->name)) < 0 &&
            hostlist_append(&list, h->name, strlen(h->name), NULL) < 0)
            abort();
    }
    hostlist_encode(&list, &names);
    char *text = put_together(&lines, strbuf_text(&names));
    hostlist_clear(&list);
    strbuf_clear(&cores);
    strbuf_clear(&gpus);
    strbuf_clear(&names);
    return text;
}

char *told_hosts_of_r(const char *text, size_t length)
{
    struct paths lines = {0};
    json_t *r = length > 0 ? json_loadb(text, length, 0, NULL) : json_object();
    const json_t *list = json_object_get(json_object_get(r, "execution"), "nodelist");
    const char *names = json_string_value(json_array_get(list, 0));

    lines_of_r(r, &lines);
    char *told = put_together(&lines, names ? names : "");
    json_decref(r);
    return told;
}

static int by_rank(const void *a, const void *b)
{
    const struct resource_host *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* R has the hosts in the order of their ranks, a job has them in that of their names. */
static bool are_in_order(const struct hosts *hosts)
{
    for (size_t i = 1; i < hosts->n; i++)
        if (hostlist_compare(hosts->v[i - 1].name, hosts->v[i].name) > 0)
            return false;
    return true;
}

bool told_by_host(struct match *m, int64_t jobid)
{
    struct hosts hosts = {0};
    const char *text = "";
    size_t length = 0;

    errno = 0;
    int rc = match_hosts(m, jobid, &hosts), error = errno;
    bool in_order = are_in_order(&hosts);
    if (hosts.n > 1)
        qsort(hosts.v, hosts.n, sizeof(*hosts.v), by_rank);
    char *held = told_hosts(hosts.v, hosts.n);
    hosts_clear(&hosts);
    errno = 0;
    bool written = match_write_job(m, jobid, "rv1_nosched", &text, &length) == 0;
    bool failed = rc < 0 && !written && errno == error;
    char *said = told_hosts_of_r(text, length);
    bool good = failed || (rc == 0 && written && in_order && strcmp(held, said) == 0);
    if (!good)
        fprintf(stderr, "job %lld: it has\n%s\nbut R says\n%s\n", (long long)jobid, held, said);
    free(held);
    free(said);
    return good;
}
