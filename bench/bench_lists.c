/* What a list of 100,000 jobs costs the client: finding what it shows, and putting that into columns.
 *
 * usage: bench_lists [WAY]    without one, processor time and peak memory of each, in a process of its own;
 *                             with one, only that: `valgrind --tool=callgrind bench_lists WAY` counts its instructions
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef HAVE_SMARTCOLS
#include <libsmartcols.h>
#endif

#include "base/strbuf.h"
#include "cli/client/objects.h"
#include "cli/client/terminal.h"
#include "measure.h"

enum { JOBS = 100000, PIECE = 65536 };

/* The members that `berth jobs` shows, as texts. */
static const char *const keys[] = {"id",    "name", "user",  "queue", "state", "nodes",
                                   "cores", "gpus", "start", "until", "reason"};
enum { KEYS = sizeof(keys) / sizeof(*keys) };
static const struct table_column columns[] = {
    {"ID", true, 0},     {"NAME", false, 20}, {"USER", false, 12},  {"QUEUE", false, 12},
    {"STATE", false, 0}, {"NODES", true, 0},  {"CORES", true, 0},   {"GPUS", true, 0},
    {"START", true, 0},  {"UNTIL", true, 0},  {"REASON", false, 0}, {NULL, false, 0}};

static FILE *out;

/* As the server writes it: an object a line. */
static void make_list(struct strbuf *text)
{
    char job[600];
    strbuf_puts(text, "{\"jobs\":[");
    for (int i = 1; i <= JOBS; i++) {
        snprintf(
            job, sizeof(job),
            "%s\n{\"id\":%d,\"name\":\"simulate-%d\",\"user\":\"ann\",\"queue\":\"batch\","
            "\"state\":"
            "\"pending\",\"reason\":\"waits for 4 cores\",\"priority\":0,\"nodes\":1,\"cores\":4,"
            "\"gpus\":0,\"memory\":1073741824,\"submit\":1798131600.25,\"start\":%d,\"limit\":3600,"
            "\"until\":%d,\"attempts\":0,\"members\":1,\"resources\":\"node0/core[0-3]\","
            "\"labels\":{\"project\":\"climate\"},\"command\":\"./simulate --case %d\"}",
            i > 1 ? "," : "", i, i % 977, 1798131600 + i, 1798135200 + i, i);
        strbuf_puts(text, job);
    }
    strbuf_puts(text, "\n],\"next\":null}\n");
}

/* ---- Finding: each calls put for each member of each job ---- */

typedef void put_cell(void *context, size_t key, const char *text);

struct finding {
    put_cell *put;
    void *context;
    struct strbuf text;
};

/* The scanner of the client's lists. */
static int visit_fields(void *context, const char *text, size_t length)
{
    struct finding *f = context;
    struct fields job;
    char number[32];
    if (!fields_find(&job, text, length))
        return -1;
    for (size_t k = 0; k < KEYS; k++) {
        int64_t n;
        bool whole = fields_whole(&job, keys[k], &n);
        if (whole)
            snprintf(number, sizeof(number), "%lld", (long long)n);
        f->put(f->context, k, whole ? number : fields_text(&job, keys[k], &f->text));
    }
    return 0;
}

static void put_object(struct finding *f, const json_t *job)
{
    char number[32];
    for (size_t k = 0; k < KEYS; k++) {
        const json_t *value = json_object_get(job, keys[k]);
        if (json_is_integer(value))
            snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(value));
        f->put(f->context, k, json_is_integer(value) ? number : json_string_value(value));
    }
}

/* jansson, for each object that the scanner has cut out. */
static int visit_jansson(void *context, const char *text, size_t length)
{
    json_t *job = json_loadb(text, length, 0, NULL);
    if (!job)
        return -1;
    put_object(context, job);
    json_decref(job);
    return 0;
}

static void find(const struct strbuf *list, int (*visit)(void *, const char *, size_t),
                 struct finding *f)
{
    struct records records = {.visit = visit, .context = f};
    for (size_t at = 0; at < list->len; at += PIECE)
        if (records_take(&records, list->data + at,
                         list->len - at < PIECE ? list->len - at : PIECE))
            exit(1);
    records_clear(&records);
    strbuf_clear(&f->text);
}

/* jansson, for the whole list. */
static void find_whole(const struct strbuf *list, struct finding *f)
{
    json_t *all = json_loadb(list->data, list->len, 0, NULL);
    const json_t *job;
    size_t i;
    json_array_foreach (json_object_get(all, "jobs"), i, job)
        put_object(f, job);
    json_decref(all);
}

/* ---- Columns ---- */

static void put_own(void *context, size_t key, const char *text)
{
    (void)key;
    table_cell(context, text);
}

static void print_own(const struct strbuf *list, int (*visit)(void *, const char *, size_t))
{
    struct table table;
    struct finding f = {.put = put_own, .context = &table};
    table_begin(&table, out, columns);
    if (visit)
        find(list, visit, &f);
    else
        find_whole(list, &f);
    table_end(&table);
    table_clear(&table);
}

#ifdef HAVE_SMARTCOLS
struct smart {
    struct libscols_table *table;
    struct libscols_line *line;
};

static void put_smart(void *context, size_t key, const char *text)
{
    struct smart *s = context;
    if (key == 0)
        s->line = scols_table_new_line(s->table, NULL);
    scols_line_set_data(s->line, key, text);
}

/* libsmartcols: all lines are kept, then printed; `raw` without looking how wide they are. */
static void print_smart(const struct strbuf *list, int raw)
{
    struct smart s = {.table = scols_new_table()};
    struct finding f = {.put = put_smart, .context = &s};
    for (size_t i = 0; i < KEYS; i++)
        scols_table_new_column(s.table, columns[i].head, 0, columns[i].right ? SCOLS_FL_RIGHT : 0);
    scols_table_set_stream(s.table, out);
    scols_table_enable_raw(s.table, raw);
    find(list, visit_fields, &f);
    scols_print_table(s.table);
    scols_unref_table(s.table);
}
#endif

/* ---- The ways ---- */

static void nothing(const struct strbuf *list)
{
    (void)list;
}

static void own(const struct strbuf *list)
{
    print_own(list, visit_fields);
}

static void jansson(const struct strbuf *list)
{
    print_own(list, visit_jansson);
}

static void jansson_whole(const struct strbuf *list)
{
    print_own(list, NULL);
}

#ifdef HAVE_SMARTCOLS
static void smartcols(const struct strbuf *list)
{
    print_smart(list, 0);
}

static void smartcols_raw(const struct strbuf *list)
{
    print_smart(list, 1);
}
#endif

static const struct {
    const char *word, *what;
    void (*run)(const struct strbuf *list);
} ways[] = {
    {"nothing", "the text of 100,000 jobs alone", nothing},
    {"own", "the scanner and the table of the client", own},
    {"jansson", "jansson an object, the table of the client", jansson},
    {"jansson-whole", "jansson for the list, the table of the client", jansson_whole},
#ifdef HAVE_SMARTCOLS
    {"smartcols", "the scanner, libsmartcols", smartcols},
    {"smartcols-raw", "the scanner, libsmartcols raw", smartcols_raw},
#endif
};

static void measure(size_t way)
{
    struct strbuf list = {0};
    struct rusage used;
    make_list(&list);
    double before = worked();
    ways[way].run(&list);
    fflush(out);
    double after = worked();
    getrusage(RUSAGE_SELF, &used);
    printf("%-50s %8.3f s %8ld MB\n", ways[way].what, after - before, used.ru_maxrss / 1024);
    strbuf_clear(&list);
}

int main(int argc, char **argv)
{
    out = fopen("/dev/null", "w");
    for (size_t i = 0; out && i < sizeof(ways) / sizeof(*ways); i++) {
        if (argc > 1 && strcmp(argv[1], ways[i].word) != 0)
            continue;
        pid_t child = argc > 1 ? 0 : fork();
        if (child == 0) {
            measure(i);
            return 0;
        }
        waitpid(child, NULL, 0);
    }
    return out ? 0 : 1;
}
