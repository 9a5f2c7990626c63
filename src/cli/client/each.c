#include "cli/client/each.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/errtext.h"
#include "base/idset.h"
#include "base/strbuf.h"
#include "berth/jobspec.h"
#include "config/file_text.h"
#include "config/members.h"

#define FILE_MAX ((size_t)32 << 20)
#define CC_MAX   1000000

/* ---- The things ---- */

static int add_each_thing(struct each *e, char *thing)
{
    if (e->n == e->cap) {
        size_t cap = e->cap ? 2 * e->cap : 64;
        char **v = realloc(e->v, cap * sizeof(*v));
        if (!v)
            return -1;
        e->v = v;
        e->cap = cap;
    }
    e->v[e->n++] = thing;
    return 0;
}

/* The same, of texts that the things do not point into yet. */
static int begin_each(struct each *e, const char *mark, berth_error_t *err)
{
    if (each_is_list(e))
        return errtext_set(err, EINVAL,
                           "only one of --each, --cc, ::: and --array of gangs at a time");
    e->mark = mark;
    return 0;
}

int each_take_words(struct each *e, int *argc, char **argv, berth_error_t *err)
{
    int at = 0;
    while (at < *argc && strcmp(argv[at], ":::") != 0)
        at++;
    if (at == *argc)
        return 0;
    if (begin_each(e, "{}", err) < 0)
        return -1;
    if (at + 1 == *argc)
        return errtext_set(err, EINVAL, "nothing stands behind :::");
    for (int i = at + 1; i < *argc; i++) {
        if (strcmp(argv[i], ":::") == 0)
            return errtext_set(err, EINVAL, "::: may stand once");
        if (add_each_thing(e, argv[i]) < 0)
            return errtext_no_memory(err);
    }
    *argc = at;
    argv[at] = NULL;
    return 0;
}

static int split(struct each *e, const char *separators, berth_error_t *err)
{
    char *rest = e->text;
    for (char *word; (word = strsep(&rest, separators)) != NULL;)
        if (*word && add_each_thing(e, word) < 0)
            return errtext_no_memory(err);
    return 0;
}

int each_take_lines(struct each *e, const char *path, berth_error_t *err)
{
    struct text text = {0};
    bool standard = strcmp(path, "-") == 0;
    const char *name = standard ? "standard input" : path;
    if (begin_each(e, "{}", err) < 0)
        return -1;
    int rc =
        standard ? text_read_rest(&text, STDIN_FILENO, FILE_MAX) : text_read(&text, path, FILE_MAX);
    if (rc < 0)
        errtext_set(err, errno, "%s: %s", name, strerror(errno));
    else if (text.length > 0 && memchr(text.bytes, '\0', text.length))
        rc = errtext_set(err, EINVAL, "%s: has a NUL, expected lines of text", name);
    else if (!(e->text = strndup(text.length ? text.bytes : "", text.length)))
        rc = errtext_no_memory(err);
    text_clear(&text);
    if (rc == 0)
        rc = split(e, "\n", err);
    return rc == 0 && e->n == 0 ? errtext_set(err, EINVAL, "%s: has no line", name) : rc;
}

static int put_numbers(const struct idset *ids, struct strbuf *out)
{
    for (uint32_t id = idset_first(ids); id != IDSET_NONE; id = idset_next(ids, id)) {
        strbuf_put_uint(out, id);
        strbuf_putc(out, ',');
    }
    return out->failed ? -1 : 0;
}

int each_take_set(struct each *e, const char *set, berth_error_t *err)
{
    struct idset ids = {0};
    struct strbuf text = {0};
    if (begin_each(e, "{cc}", err) < 0)
        return -1;
    bool numbers = idset_decode(&ids, set, strlen(set), NULL) == 0;
    if (numbers && ids.count > CC_MAX) {
        idset_clear(&ids);
        return errtext_set(err, EINVAL, "--cc is '%s', expected at most %d", set, CC_MAX);
    }
    if (numbers)
        put_numbers(&ids, &text);
    else
        strbuf_puts(&text, set);
    idset_clear(&ids);
    e->text = strbuf_steal(&text);
    if (!e->text)
        return errtext_no_memory(err);
    if (split(e, ",", err) < 0)
        return -1;
    return e->n > 0 ? 0
                    : errtext_set(err, EINVAL,
                                  "--cc is '%s', expected numbers such as 1-9 or words a,b", set);
}

static bool is_gang(const json_t *job)
{
    const json_t *spec = json_object_get(job, "jobspec");
    if (json_object_get(job, "gang") || json_object_get(job, "roles"))
        return true;
    berth_error_t wrong; /* the server says what is */
    jobspec_t *read =
        spec ? jobspec_parse(json_string_value(spec), json_string_length(spec), NULL, &wrong)
             : NULL;
    bool is = read && read->gang.members > 0;
    jobspec_destroy(read);
    return is;
}

int each_take_gangs(struct each *e, const json_t *job, berth_error_t *err)
{
    const json_t *array = json_object_get(job, "array");
    struct members members;
    struct strbuf text = {0};
    if (!array || !is_gang(job))
        return 0;
    if (begin_each(e, NULL, err) < 0 ||
        members_read(&members, json_string_value(array), json_string_length(array), err) < 0)
        return -1;
    e->is_gangs = true;
    e->most = members.most;
    put_numbers(&members.indices, &text);
    members_clear(&members);
    e->text = strbuf_steal(&text);
    if (!e->text)
        return errtext_no_memory(err);
    if (split(e, ",", err) < 0)
        return -1;
    if (e->n > BULK_JOBS_MAX)
        return errtext_set(err, EINVAL, "--array is '%.100s': expected at most %d gangs",
                           json_string_value(array), BULK_JOBS_MAX);
    return 0;
}

void each_clear(struct each *e)
{
    free(e->v);
    free(e->text);
    *e = (struct each){0};
}

/* ---- The jobs ---- */

/* What is put in place of the marks. */
struct filling {
    const char *mark, *thing;
    size_t number;
    bool used; /* the mark was there */
};

/* A text with its marks replaced; a new reference. NULL: not UTF-8, or no memory. */
static json_t *fill_text(struct filling *f, const json_t *value)
{
    struct strbuf text = {0};
    size_t n = strlen(f->mark);
    for (const char *at = json_string_value(value); *at;) {
        if (strncmp(at, f->mark, n) == 0) {
            strbuf_puts(&text, f->thing);
            f->used = true;
            at += n;
        } else if (strncmp(at, "{#}", 3) == 0) {
            strbuf_put_uint(&text, f->number);
            at += 3;
        } else {
            strbuf_putc(&text, *at++);
        }
    }
    json_t *made = text.failed ? NULL : json_string(strbuf_text(&text));
    strbuf_clear(&text);
    return made;
}

static json_t *fill_list(struct filling *f, const json_t *list)
{
    json_t *made = json_array(), *word;
    size_t i;
    json_array_foreach (list, i, word) {
        if (json_array_append_new(made, fill_text(f, word)) < 0) {
            json_decref(made);
            return NULL;
        }
    }
    return made;
}

/* A copy of the job for one thing. */
static json_t *fill_job_for_thing(const json_t *job, struct filling *f, bool adds)
{
    static const char *const lists[] = {"command", "args"};
    static const char *const texts[] = {"name", "output", "error", "input"};
    json_t *one = json_copy((json_t *)job);
    const char *words = json_object_get(job, "command") ? "command" : "args";
    bool failed = !one;
    for (size_t i = 0; i < 2 && !failed; i++) {
        const json_t *list = json_object_get(job, lists[i]);
        failed = list && json_object_set_new(one, lists[i], fill_list(f, list)) < 0;
    }
    bool used = f->used;
    for (size_t i = 0; i < 4 && !failed; i++) {
        const json_t *text = json_object_get(job, texts[i]);
        failed = text && json_object_set_new(one, texts[i], fill_text(f, text)) < 0;
    }
    if (!failed && adds && !used)
        failed = json_array_append_new(json_object_get(one, words), json_string(f->thing)) < 0;
    if (f->number > 1 && !failed)
        failed = json_object_set_new(one, "environment", json_true()) < 0;
    if (!failed)
        return one;
    json_decref(one);
    return NULL;
}

/* A copy of the job as one gang of the array; NULL without memory. */
static json_t *gang_of_array(const struct each *e, size_t i, const json_t *job)
{
    json_t *one = json_copy((json_t *)job);
    bool failed =
        !one || json_object_del(one, "array") < 0 ||
        json_object_set_new(one, "gang_index", json_integer(atol(e->v[i]))) < 0 ||
        json_object_set_new(one, "gang_count", json_integer((json_int_t)e->n)) < 0 ||
        (e->most > 0 && json_object_set_new(one, "gang_at_once", json_integer(e->most)) < 0) ||
        (i > 0 && json_object_set_new(one, "environment", json_true()) < 0);
    if (!failed)
        return one;
    json_decref(one);
    return NULL;
}

json_t *each_jobs(const struct each *e, const json_t *job, berth_error_t *err)
{
    json_t *jobs = json_array();
    for (size_t i = 0; jobs && i < e->n; i++) {
        struct filling f = {.mark = e->mark, .thing = e->v[i], .number = i + 1};
        json_t *one = e->is_gangs ? gang_of_array(e, i, job)
                                  : fill_job_for_thing(job, &f, strcmp(e->mark, "{}") == 0);
        if (!one || json_array_append_new(jobs, one) < 0) {
            json_decref(jobs);
            errtext_set(err, EINVAL, "'%.80s' is not UTF-8", e->v[i]);
            return NULL;
        }
    }
    if (!jobs)
        errtext_no_memory(err);
    return jobs;
}
