#include "fake_match.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static void note(struct match *m, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(m->calls + m->length, sizeof(m->calls) - m->length, format, args);
    va_end(args);
    if (n > 0 && (size_t)n < sizeof(m->calls) - m->length)
        m->length += (size_t)n;
}

static int answer(int error, berth_error_t *err)
{
    if (error == 0)
        return 0;
    if (err)
        snprintf(err->text, sizeof(err->text), "fake %d", error);
    errno = error;
    return -1;
}

match_t *match_create(resource_graph_t *graph, const match_options_t *options, berth_error_t *err)
{
    (void)graph;
    (void)options;
    answer(ENOSYS, err);
    return NULL;
}

void match_destroy(match_t *m)
{
    (void)m;
}

const resource_graph_t *match_graph(const match_t *m)
{
    (void)m;
    return NULL;
}

bool match_knows_type(const void *m, const char *type)
{
    (void)m;
    return strcmp(type, "unicorn") != 0;
}

int match_op_parse(const char *name)
{
    static const char *const ops[] = {
        "allocate",       "allocate_orelse_reserve", "allocate_with_satisfiability",
        "satisfiability", "without_allocating",      "without_allocating_future"};
    for (int i = 0; i < 6; i++) {
        if (strcmp(name, ops[i]) == 0)
            return i;
    }
    return -1;
}

int match_run(match_t *m, match_op_t op, const jobspec_t *spec, int64_t jobid, int64_t now,
              match_result_t *result, berth_error_t *err)
{
    note(m, "run %d %s %" PRId64 " %" PRId64 "\n", (int)op, spec->resources[0].type, jobid, now);
    if (m->error == 0)
        *result = (match_result_t){.at = m->at, .duration = 10, .visits = 3, .tries = 1};
    return answer(m->error, err);
}

int match_update(match_t *m, const char *format, const char *text, size_t length, int64_t jobid,
                 int64_t at, int64_t duration, bool reserve, berth_error_t *err)
{
    note(m, "update %s %.*s %" PRId64 " %" PRId64 " %" PRId64 " %d\n", format, (int)length, text,
         jobid, at, duration, reserve);
    return answer(m->error, err);
}

int match_cancel(match_t *m, int64_t jobid, uint64_t *visits, berth_error_t *err)
{
    note(m, "cancel %" PRId64 "\n", jobid);
    if (visits)
        *visits = 5;
    return answer(m->error, err);
}

int match_partial_cancel(match_t *m, int64_t jobid, const char *format, const char *text,
                         size_t length, bool *full, uint64_t *visits, berth_error_t *err)
{
    note(m, "partial %" PRId64 " %s %.*s\n", jobid, format, (int)length, text);
    *full = m->full;
    *visits = 6;
    return answer(m->error, err);
}

int match_find(match_t *m, const char *criteria, int64_t now, berth_error_t *err)
{
    note(m, "find %s %s\n", criteria, now > 0 ? "by the clock" : "at 0");
    return answer(m->error, err);
}

int match_write(match_t *m, const char *format, const char **text, size_t *length)
{
    note(m, "write %s\n", format);
    *text = m->text ? m->text : "";
    *length = strlen(*text);
    return answer(m->write_error, NULL);
}

int match_attach(match_t *m, const char *text, size_t length, berth_error_t *err)
{
    note(m, "attach %.*s\n", (int)length, text);
    return answer(m->error, err);
}

int match_remove_path(match_t *m, const char *path, berth_error_t *err)
{
    note(m, "remove path %s\n", path);
    return answer(m->error, err);
}

int match_remove_ranks(match_t *m, const char *ranks, berth_error_t *err)
{
    note(m, "remove ranks %s\n", ranks);
    return answer(m->error, err);
}

int match_set_status(match_t *m, const char *path, bool up, berth_error_t *err)
{
    note(m, "status %s %s\n", path, up ? "up" : "down");
    return answer(m->error, err);
}

int match_get_status(match_t *m, const char *path, bool *up, berth_error_t *err)
{
    (void)path;
    *up = !m->down;
    return answer(m->error, err);
}

int match_set_property(match_t *m, const char *path, const char *key, const char *value,
                       berth_error_t *err)
{
    note(m, "property %s %s %s\n", path, key, value);
    return answer(m->error, err);
}

int match_get_properties(match_t *m, const char *path,
                         void (*each)(void *context, int64_t uniq_id, const char *key,
                                      const char *value),
                         void *context, berth_error_t *err)
{
    (void)path;
    if (m->error == 0) {
        each(context, 7, "a", "1");
        each(context, 8, NULL, NULL);
    }
    return answer(m->error, err);
}
