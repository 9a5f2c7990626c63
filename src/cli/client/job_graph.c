#include "cli/client/job_graph.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/dict.h"
#include "base/errtext.h"
#include "base/strbuf.h"
#include "jobspec/doc.h"

/* What a job waits for. */
struct wait {
    uint32_t job;     /* for which */
    uint32_t node;    /* where that is said */
    const char *kind; /* of a dependency */
};

struct graph_job {
    struct dict_entry entry; /* by its name */
    uint32_t key, value;     /* nodes */
    struct wait *wait;
    size_t n_wait, next; /* of them: the next to look at */
    enum { NEW, OPEN, LISTED } phase;
    size_t place; /* in the list, once it is there */
};

struct graph {
    struct doc doc;
    uint32_t defaults; /* a node, or DOC_NONE */
    const json_t *common;
    struct graph_job *job;
    size_t n;
    struct dict names;
    struct graph_job **stack; /* of jobs that are open, each waiting for the next */
    size_t depth;
    json_t *list;
    berth_error_t *err;
};

/* ---- Values ---- */

static json_t *scalar(const struct doc *d, uint32_t i)
{
    const char *text = doc_text(d, i);
    char *end;
    if (!d->node[i].plain)
        return json_string(text);
    if (doc_is_null(d, i))
        return json_null();
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
        return json_boolean(text[0] == 't');
    if (strspn(text, "0123456789+-.eE") != strlen(text))
        return json_string(text);
    errno = 0;
    long long whole = strtoll(text, &end, 10);
    if (!*end && !errno)
        return json_integer(whole);
    double number = strtod(text, &end);
    return *end ? json_string(text) : json_real(number);
}

/* Depth is bounded by the reader of the document. */
static json_t *json_of_doc_node(const struct doc *d, uint32_t i)
{
    const struct doc_node *node = &d->node[i];
    if (node->kind == DOC_SCALAR)
        return scalar(d, i);
    json_t *made = node->kind == DOC_LIST ? json_array() : json_object();
    bool failed = !made;
    for (uint32_t at = i + 1; at < node->end && !failed;) {
        if (node->kind == DOC_LIST) {
            failed = json_array_append_new(made, json_of_doc_node(d, at)) < 0;
        } else {
            failed = json_object_set_new(made, doc_text(d, at), json_of_doc_node(d, at + 1)) < 0;
            at++;
        }
        at = d->node[at].end;
    }
    if (!failed)
        return made;
    json_decref(made);
    return NULL;
}

/* ---- What jobs wait for ---- */

static int add_wait(struct graph *g, struct graph_job *job, uint32_t name, const char *kind)
{
    const struct doc *d = &g->doc;
    const char *text = doc_text(d, name);
    if (d->node[name].kind != DOC_SCALAR)
        return doc_expected(d, name, "after", "the name of a job");
    struct graph_job *on =
        (struct graph_job *)(void *)dict_find(&g->names, text, d->node[name].length);
    if (!on)
        return doc_fault(d, name, "there is no job '%.80s'", text);
    job->wait[job->n_wait++] = (struct wait){(uint32_t)(on - g->job), name, kind};
    return 0;
}

static const char *dependency_kind_of(const struct doc *d, uint32_t i)
{
    static const char *const words[][2] = {
        {"ok", "afterok"}, {"any", "afterany"}, {"notok", "afternotok"}, {"started", "after"}};
    for (size_t k = 0; k < sizeof(words) / sizeof(*words); k++)
        if (doc_is(d, i, words[k][0]))
            return words[k][1];
    return NULL;
}

static int read_after(struct graph *g, struct graph_job *job, uint32_t i)
{
    const struct doc *d = &g->doc;
    const struct doc_node *node = &d->node[i];
    size_t most = node->kind == DOC_SCALAR ? 1 : node->count;
    job->wait = calloc(most + 1, sizeof(*job->wait));
    if (!job->wait)
        return errtext_no_memory(g->err);
    if (node->kind == DOC_SCALAR)
        return doc_is_null(d, i) ? 0 : add_wait(g, job, i, "afterok");
    for (uint32_t at = i + 1; at < node->end; at = d->node[at].end) {
        const char *kind = "afterok";
        uint32_t name = at;
        if (node->kind == DOC_MAPPING) {
            at++;
            kind = d->node[at].kind == DOC_SCALAR ? dependency_kind_of(d, at) : NULL;
            if (!kind)
                return doc_expected(d, at, doc_text(d, name), "ok, any, notok or started");
        }
        if (add_wait(g, job, name, kind) < 0)
            return -1;
    }
    return 0;
}

/* ---- Jobs ---- */

static int name_job(struct graph *g, uint32_t key)
{
    struct graph_job *job = &g->job[g->n];
    job->key = key;
    job->value = key + 1;
    if (g->doc.node[key + 1].kind != DOC_MAPPING)
        return doc_expected(&g->doc, key + 1, doc_text(&g->doc, key), "a job as a mapping");
    if (dict_reserve(&g->names) < 0)
        return errtext_no_memory(g->err);
    job->entry =
        (struct dict_entry){.text = doc_text(&g->doc, key), .length = g->doc.node[key].length};
    dict_put(&g->names, &job->entry);
    g->n++;
    return 0;
}

static int read_jobs(struct graph *g)
{
    static const char *const names[] = {"jobs", "defaults"};
    static const struct doc_keys keys = {"a file of jobs", names, 2, 1};
    const struct doc *d = &g->doc;
    uint32_t value[2];
    if (doc_fields(d, 0, &keys, value) < 0)
        return -1;
    const struct doc_node *jobs = &d->node[value[0]];
    g->defaults = value[1];
    if (jobs->kind != DOC_MAPPING || jobs->count == 0)
        return doc_expected(d, value[0], "jobs", "a mapping from names to jobs");
    if (g->defaults != DOC_NONE && d->node[g->defaults].kind != DOC_MAPPING)
        return doc_expected(d, g->defaults, "defaults", "a mapping");
    g->job = calloc(jobs->count, sizeof(*g->job));
    g->stack = calloc(jobs->count, sizeof(struct graph_job *));
    if (!g->job || !g->stack)
        return errtext_no_memory(g->err);
    for (uint32_t at = value[0] + 1; at < jobs->end; at = d->node[at + 1].end)
        if (name_job(g, at) < 0)
            return -1;
    return 0;
}

/* Put the keys of a mapping into a job. */
static int put_keys(struct graph *g, json_t *to, uint32_t mapping)
{
    const struct doc *d = &g->doc;
    for (uint32_t at = mapping + 1; at < d->node[mapping].end; at = d->node[at + 1].end) {
        const char *key = doc_text(d, at);
        if (strcmp(key, "after") == 0)
            continue;
        if (strcmp(key, "dependency") == 0 || strcmp(key, "environment") == 0)
            return doc_fault(d, at, "a job of a file takes no key '%s'%s", key,
                             key[0] == 'd' ? ", expected after" : "");
        json_t *value = strcmp(key, "command") == 0 && doc_is_text(d, at + 1)
                            ? json_pack("[s, s, s]", "/bin/sh", "-c", doc_text(d, at + 1))
                            : json_of_doc_node(d, at + 1);
        if (json_object_set_new(to, key, value) < 0)
            return errtext_no_memory(g->err);
    }
    return 0;
}

/* "afterok:#0,afterany:#2" */
static int put_waits(struct graph *g, const struct graph_job *job, json_t *to)
{
    struct strbuf text = {0};
    for (size_t i = 0; i < job->n_wait; i++) {
        strbuf_puts(&text, i ? "," : "");
        strbuf_puts(&text, job->wait[i].kind);
        strbuf_puts(&text, ":#");
        strbuf_put_uint(&text, g->job[job->wait[i].job].place);
    }
    int rc =
        text.failed || (job->n_wait > 0 &&
                        json_object_set_new(to, "dependency", json_string(strbuf_text(&text))) < 0)
            ? errtext_no_memory(g->err)
            : 0;
    strbuf_clear(&text);
    return rc;
}

/* Add a job, all of whose waits are in the list. */
static int list_job(struct graph *g, struct graph_job *job)
{
    json_t *one = json_copy((json_t *)g->common);
    int rc = 0;
    job->place = json_array_size(g->list);
    job->phase = LISTED;
    if (!one || json_object_set_new(one, "name", json_string(doc_text(&g->doc, job->key))) < 0 ||
        (job->place > 0 && json_object_set_new(one, "environment", json_true()) < 0))
        rc = errtext_no_memory(g->err);
    if (rc == 0 && g->defaults != DOC_NONE)
        rc = put_keys(g, one, g->defaults);
    if (rc == 0)
        rc = put_keys(g, one, job->value);
    if (rc == 0)
        rc = put_waits(g, job, one);
    if (rc == 0 && json_array_append(g->list, one) < 0)
        rc = errtext_no_memory(g->err);
    json_decref(one);
    return rc;
}

/* ---- Order ---- */

static int report_cycle(struct graph *g, const struct graph_job *on, uint32_t node)
{
    struct strbuf text = {0};
    size_t from = 0;
    while (g->stack[from] != on)
        from++;
    for (size_t i = from; i < g->depth; i++) {
        strbuf_puts(&text, doc_text(&g->doc, g->stack[i]->key));
        strbuf_puts(&text, " -> ");
    }
    strbuf_puts(&text, doc_text(&g->doc, on->key));
    int rc = text.failed
                 ? errtext_no_memory(g->err)
                 : doc_fault(&g->doc, node, "jobs wait for each other: %.180s", strbuf_text(&text));
    strbuf_clear(&text);
    return rc;
}

/* List a job behind all that it waits for, however deep that is. */
static int list_from(struct graph *g, struct graph_job *job)
{
    g->stack[0] = job;
    g->depth = 1;
    job->phase = OPEN;
    while (g->depth > 0) {
        struct graph_job *top = g->stack[g->depth - 1];
        if (top->next == top->n_wait) {
            g->depth--;
            if (list_job(g, top) < 0)
                return -1;
            continue;
        }
        const struct wait *wait = &top->wait[top->next++];
        struct graph_job *on = &g->job[wait->job];
        if (on->phase == OPEN)
            return report_cycle(g, on, wait->node);
        if (on->phase == NEW) {
            on->phase = OPEN;
            g->stack[g->depth++] = on;
        }
    }
    return 0;
}

static int read_waits(struct graph *g, struct graph_job *job)
{
    const struct doc *d = &g->doc;
    for (uint32_t at = job->value + 1; at < d->node[job->value].end; at = d->node[at + 1].end)
        if (doc_is(d, at, "after"))
            return read_after(g, job, at + 1);
    return 0;
}

static int list_all(struct graph *g)
{
    g->list = json_array();
    if (!g->list)
        return errtext_no_memory(g->err);
    for (size_t i = 0; i < g->n; i++)
        if (read_waits(g, &g->job[i]) < 0)
            return -1;
    for (size_t i = 0; i < g->n; i++)
        if (g->job[i].phase == NEW && list_from(g, &g->job[i]) < 0)
            return -1;
    return 0;
}

json_t *job_graph_read(const char *text, size_t length, const char *name, const json_t *common,
                       berth_error_t *err)
{
    struct graph g = {.common = common, .err = err};
    if (doc_read_yaml(&g.doc, text, length, name, err) < 0)
        return NULL;
    int rc = read_jobs(&g) < 0 ? -1 : list_all(&g);
    int saved = errno;
    for (size_t i = 0; i < g.n; i++)
        free(g.job[i].wait);
    free(g.job);
    free(g.stack);
    dict_clear(&g.names);
    doc_clear(&g.doc);
    if (rc < 0)
        json_decref(g.list);
    errno = saved;
    return rc < 0 ? NULL : g.list;
}
