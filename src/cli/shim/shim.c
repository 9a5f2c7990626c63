#include "cli/shim/shim.h"

#include <errno.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/array.h"
#include "base/errtext.h"
#include "cli/shim/fields.h"
#include "config/ids.h"

bool shim_run(int argc, char **argv, int *status)
{
    static const struct {
        const char *name;
        int (*run)(int argc, char **argv);
    } commands[] = {
        {"sbatch", shim_sbatch}, {"squeue", shim_squeue},     {"scancel", shim_scancel},
        {"sacct", shim_sacct},   {"scontrol", shim_scontrol}, {"sinfo", shim_sinfo},
        {"srun", shim_srun},     {"salloc", shim_salloc},     {"sacctmgr", shim_sacctmgr}};
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    const char *name = slash ? slash + 1 : argc > 0 ? argv[0] : "";
    for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
        if (strcmp(name, commands[i].name) == 0) {
            *status = commands[i].run(argc, argv);
            return true;
        }
    }
    return false;
}

int shim_failed(const char *name, const char *format, ...)
{
    berth_error_t line;
    char text[300];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    errtext_set(&line, 0, "%s", text);
    fprintf(stderr, "%s: error: %s\n", name, line.text);
    return 1;
}

const char *shim_me(void)
{
    const struct passwd *me = getpwuid(geteuid());
    return me ? me->pw_name : "";
}

int shim_version(void)
{
    puts("slurm 23.02.0");
    return 0;
}

/* ---- Ids ---- */

static int add_word(struct shim_ids *ids, const char *text, size_t length)
{
    char *word = strndup(text, length);
    if (!word || array_grow((void **)&ids->words, &ids->cap, ids->n + 1, sizeof(*ids->words)) < 0) {
        free(word);
        errno = ENOMEM;
        return -1;
    }
    ids->words[ids->n++] = word;
    return 0;
}

/* "17_3" is "17[3]" here, "17_[1-3]" is "17[1-3]"; what follows a dot is a step. */
static int add_id(struct shim_ids *ids, const char *text, size_t length)
{
    struct strbuf word = {0};
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > length) {
        errno = EINVAL;
        return -1;
    }
    strbuf_put(&word, text, digits);
    if (digits < length && text[digits] == '_') {
        const char *at = text + digits + 1;
        size_t n = length - digits - 1;
        const char *step = memchr(at, '.', n), *most = memchr(at, '%', n);
        bool list = *at == '[';
        n = step ? (size_t)(step - at) : n;
        n = most ? (size_t)(most - at) : n;
        strbuf_puts(&word, list ? "" : "[");
        strbuf_put(&word, at, n);
        strbuf_puts(&word, list && !most ? "" : "]");
    } else if (digits < length && text[digits] != '.') {
        strbuf_clear(&word);
        errno = EINVAL;
        return -1;
    }
    int rc = add_word(ids, strbuf_text(&word), word.len);
    strbuf_clear(&word);
    return rc;
}

int shim_ids_add(struct shim_ids *ids, const char *text)
{
    for (;; text++) {
        size_t n = 0;
        for (int depth = 0; text[n] && (depth > 0 || text[n] != ','); n++)
            depth += (text[n] == '[') - (text[n] == ']');
        if (add_id(ids, text, n) < 0)
            return -1;
        text += n;
        if (!*text)
            return 0;
    }
}

void shim_ids_clear(struct shim_ids *ids)
{
    for (size_t i = 0; i < ids->n; i++)
        free(ids->words[i]);
    free(ids->words);
    *ids = (struct shim_ids){0};
}

/* ---- States ---- */

static const char *find_state(const char *word, size_t length)
{
    static const char *const states[][3] = {{"PENDING", "PD", "pending,held"},
                                            {"RUNNING", "R", "running"},
                                            {"COMPLETED", "CD", "done"},
                                            {"FAILED", "F", "failed"},
                                            {"CANCELLED", "CA", "cancelled"},
                                            {"TIMEOUT", "TO", "timeout"},
                                            {"COMPLETING", "CG", ""},
                                            {"CONFIGURING", "CF", ""},
                                            {"SUSPENDED", "S", ""},
                                            {"NODE_FAIL", "NF", ""},
                                            {"PREEMPTED", "PR", ""},
                                            {"OUT_OF_MEMORY", "OOM", ""},
                                            {"BOOT_FAIL", "BF", ""},
                                            {"DEADLINE", "DL", ""},
                                            {"REQUEUED", "RQ", ""}};
    for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++)
        for (size_t k = 0; k < 2; k++)
            if (strlen(states[i][k]) == length && strncasecmp(states[i][k], word, length) == 0)
                return states[i][2];
    return NULL;
}

bool shim_states(const char *text, struct strbuf *out, bool *none)
{
    strbuf_reset(out);
    *none = false;
    if (strcasecmp(text, "all") == 0)
        return true;
    for (;; text++) {
        size_t n = strcspn(text, ",");
        const char *ours = find_state(text, n);
        if (!ours)
            return false;
        strbuf_puts(out, out->len && *ours ? "," : "");
        strbuf_puts(out, ours);
        text += n;
        if (*text)
            continue;
        *none = out->len == 0;
        return true;
    }
}

/* ---- Lists ---- */

struct reading {
    json_t *jobs;
    const struct shim_select *select;
    struct ids ids;
};

/* Whether a word is one of a list "a,b"; NULL is any. */
static bool is_among(const char *list, const char *word)
{
    for (const char *at = list; at && *at;) {
        size_t n = strcspn(at, ",");
        if (strlen(word) == n && memcmp(at, word, n) == 0)
            return true;
        at += n + (at[n] == ',');
    }
    return !list;
}

/* Whether a job holds or held one of the nodes. */
static bool is_on(const struct hostlist *nodes, const json_t *job)
{
    struct strbuf text = {0};
    struct hostlist held = {0};
    char name[HOSTLIST_NAME_SIZE];
    bool found = false;
    shim_put_nodes(job, &text);
    if (text.len && hostlist_decode(&held, strbuf_text(&text), text.len, NULL) == 0)
        for (int64_t i = 0; !found && hostlist_nth(&held, i, name) == 0; i++)
            found = hostlist_find(nodes, name, strlen(name)) >= 0;
    hostlist_clear(&held);
    strbuf_clear(&text);
    return found;
}

static bool is_job_wanted(const struct reading *r, const json_t *job)
{
    const struct shim_select *s = r->select;
    const json_t *member = json_object_get(job, "member");
    double end = answer_number(job, "end"), submit = answer_number(job, "submit");
    int64_t index = json_is_integer(member) ? json_integer_value(member) : -1;
    if (r->ids.n && !ids_has(&r->ids, json_integer_value(json_object_get(job, "id")), index))
        return false;
    const char *users = s->users.len ? strbuf_text((struct strbuf *)&s->users) : NULL;
    return is_among(users, answer_text(job, "user")) &&
           is_among(s->queue, answer_text(job, "queue")) &&
           is_among(s->name, answer_text(job, "name")) &&
           is_among(s->account, answer_text(job, "account")) &&
           (hostlist_count(&s->nodes) == 0 || is_on(&s->nodes, job)) &&
           !(end > 0 && end < s->since) && !(s->until > 0 && submit > s->until);
}

static int visit(void *context, const char *text, size_t length)
{
    struct reading *r = context;
    json_t *job = json_loadb(text, length, 0, NULL);
    if (!job) {
        errno = EPROTO;
        return -1;
    }
    if (!is_job_wanted(r, job))
        json_decref(job);
    else if (json_array_append_new(r->jobs, job) < 0)
        return -1;
    return 0;
}

/* The numbers of jobs of the ids, each once where they stand beside each other. */
static void put_numbers(const struct ids *ids, struct strbuf *out)
{
    for (size_t i = 0; i < ids->n; i++) {
        if (i > 0 && ids->v[i].first == ids->v[i - 1].first)
            continue;
        strbuf_puts(out, out->len ? "," : "");
        strbuf_put_int(out, ids->v[i].first);
    }
}

json_t *shim_jobs(struct connection *s, const struct shim_select *select, berth_error_t *err)
{
    struct reading r = {.jobs = json_array(), .select = select};
    struct strbuf path = {0}, numbers = {0};
    int rc = r.jobs ? 0 : -1;

    if (rc == 0 && select->ids.n)
        rc = ids_read(&r.ids, select->ids.words, select->ids.n, err);
    strbuf_puts(&path, "/v1/jobs");
    if (select->history)
        route_query(&path, "history", "1");
    if (select->states.len)
        route_query(&path, "state", strbuf_text((struct strbuf *)&select->states));
    if (rc == 0 && r.ids.n) {
        put_numbers(&r.ids, &numbers);
        route_query(&path, "ids", strbuf_text(&numbers));
    }
    if (rc == 0 && !select->none)
        rc = connection_list(s, strbuf_text(&path), visit, &r, err);
    int saved = errno;
    ids_clear(&r.ids);
    strbuf_clear(&path);
    strbuf_clear(&numbers);
    if (rc < 0)
        json_decref(r.jobs);
    errno = saved;
    return rc < 0 ? NULL : r.jobs;
}

void shim_select_clear(struct shim_select *select)
{
    shim_ids_clear(&select->ids);
    strbuf_clear(&select->users);
    strbuf_clear(&select->states);
    hostlist_clear(&select->nodes);
}
