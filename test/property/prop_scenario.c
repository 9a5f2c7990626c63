/* Random scenarios against laws that hold for whatever a scheduler with queues decides:
 *
 *  1. Replayed, a scenario gives the same bytes.
 *  2. Where no job overruns its duration: saved at any time and taken up again, it goes on as if nothing
 *     had been.
 *  3. No resource is held by two jobs at once; one that is preempted has gone.
 *  4. A job ends once, starts again only after it was preempted to be requeued, and is told to end when its
 *     duration is over.
 *  5. In calm scenarios, of submissions, ends and cancels in one queue, nobody starts later than was
 *     promised.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"
#include "base/intern.h"
#include "config/config.h"
#include "config/seconds.h"
#include "random.h"
#include "sim/play.h"

enum { SCENARIOS = 200, EVENTS = 60, CUTS = 4, NODES = 5, CORES = 4, JOBS = 400 };

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: scenario %d: does not hold: %s\n", __FILE__, __LINE__, number, \
                    #condition);                                                                   \
            show();                                                                                \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static int number; /* of the scenario */

static void show(void);

struct event {
    int64_t at; /* seconds */
    char line[400];
};

struct story {
    bool calm, put_off;
    bool overruns; /* jobs may run longer than they say */
    struct config *config;
    struct event event[EVENTS];
    size_t n;
};

static struct story story;
static char configuration[2000]; /* its text */

/* What is needed to play it again. */
static void show(void)
{
    fputs(configuration, stderr);
    for (size_t i = 0; i < story.n; i++)
        fputs(story.event[i].line, stderr);
}

static const char *const calm_policies[] = {"easy", "hybrid", "conservative"};

static const char busy_queues[] =
    "  one: {policy: easy}\n"
    "  two: {policy: conservative, priority: 3, limits: {user: {running: 3}}}\n"
    "  few: {policy: hybrid, reservation-depth: 2, requires: {hostlist: [\"node[0-2]\"]}}\n"
    "  low: {policy: fcfs, priority: -5, preemptible: requeue}\n"
    "  gone: {policy: easy, priority: -9, preemptible: cancel, max-queue-depth: 3}\n";

static void take(void *arg, const char *bytes, size_t n)
{
    strbuf_put(arg, bytes, n);
}

static struct config *configure(struct random *r, bool calm, bool put_off)
{
    char *text = configuration;
    const size_t size = sizeof(configuration);
    static const char *const match[] = {"low", "lonode", "hinode"};
    int n =
        snprintf(text, size, "resources: {nodes: %d, cores: %d}\nmatch: {policy: %s}\n%squeues:\n",
                 NODES, CORES, match[random_between(r, 0, 2)],
                 put_off ? "passes: {min-interval: 7, max-events: 5}\n" : "");
    if (calm)
        snprintf(text + n, size - (size_t)n, "  one: {policy: %s}\n",
                 calm_policies[random_between(r, 0, 2)]);
    else
        snprintf(text + n, size - (size_t)n, "%sdefault-queue: one\n", busy_queues);
    berth_error_t err = {""};
    struct config *c = config_read("c", text, strlen(text), SECONDS_TICKS, &err);
    CHECK(c);
    return c;
}

static match_t *machine(const struct config *config)
{
    match_options_t options = config->match;
    options.end = MATCH_END * SECONDS_TICKS;
    resource_graph_t *graph = config_make_nodes(&config->resources, NULL);
    match_t *m = graph ? match_create(graph, &options, NULL) : NULL;
    CHECK(m);
    return m;
}

/* A player, and what belongs to it. */
struct stage {
    match_t *machine;
    struct decisions decisions;
    struct strbuf told;
    struct play *play;
};

static void stage_open(struct stage *g, const struct config *config, json_t *state)
{
    berth_error_t err = {""};
    g->machine = machine(config);
    g->decisions = (struct decisions){.write = take, .arg = &g->told};
    struct play_options options = {
        .config = config, .machine = g->machine, .decisions = &g->decisions};
    g->play = state ? play_load(&options, state, "state", &err) : play_create(&options, &err);
    if (!g->play)
        fprintf(stderr, "%s\n", err.text);
    CHECK(g->play);
}

static void stage_close(struct stage *g)
{
    play_destroy(g->play);
    match_destroy(g->machine);
    decisions_clear(&g->decisions);
    strbuf_clear(&g->told);
}

static void write_submit(struct random *r, const struct story *s, int id, char *line, size_t size)
{
    static const char *const queues[] = {"one", "two", "few", "low", "gone"};
    char what[64], more[160] = "";
    int64_t duration = random_between(r, 1, 60);
    if (random_between(r, 0, 2) == 0)
        snprintf(what, sizeof(what), "\"nodes\": %d", (int)random_between(r, 1, NODES));
    else {
        int nodes = (int)random_between(r, 1, 2), cores = (int)random_between(r, 1, CORES);
        snprintf(what, sizeof(what), "\"nodes\": %d, \"cores\": %d", nodes, cores);
    }
    if (!s->calm && id > 0 && random_between(r, 0, 4) == 0) {
        const char *how = random_between(r, 0, 1) ? "any" : "ok";
        snprintf(more, sizeof(more), ", \"dependency\": \"after%s:j%d\"", how,
                 (int)random_between(r, 0, id - 1));
    } else if (!s->calm && random_between(r, 0, 6) == 0)
        snprintf(more, sizeof(more), ", \"array\": 3, \"hold\": %s",
                 random_between(r, 0, 1) ? "true" : "false");
    else if (!s->calm && random_between(r, 0, 6) == 0)
        snprintf(more, sizeof(more), ", \"begin\": %d, \"preemptible-after\": 5",
                 (int)random_between(r, 0, 300));
    int user = (int)random_between(r, 0, 2);
    const char *queue = s->calm ? "one" : queues[random_between(r, 0, 4)];
    int64_t runtime = random_between(r, s->calm ? 1 : 0, s->overruns ? 80 : duration);
    int priority = s->calm ? 0 : (int)random_between(r, 0, 2);
    snprintf(line, size,
             "\"submit\": {\"id\": \"j%d\", \"user\": \"u%d\", \"queue\": \"%s\", %s, "
             "\"duration\": %" PRId64 ", \"runtime\": %" PRId64 ", \"priority\": %d%s}",
             id, user, queue, what, duration, runtime, priority, more);
}

static void write_event(struct random *r, const struct story *s, int jobs, char *line, size_t size)
{
    int job = (int)random_between(r, 0, jobs > 0 ? jobs - 1 : 0);
    int node = (int)random_between(r, 0, NODES - 1);
    int64_t kind = random_between(r, 0, s->calm ? 9 : 24);
    if (kind < 8 || jobs == 0)
        write_submit(r, s, jobs, line, size);
    else if (kind == 8)
        snprintf(line, size, "\"cancel\": \"j%d\"", job);
    else if (kind == 9)
        snprintf(line, size, "\"end\": \"j%d\"", job);
    else if (kind == 10)
        snprintf(line, size, "\"%s\": \"node%d\"", random_between(r, 0, 1) ? "down" : "fail", node);
    else if (kind <= 12)
        snprintf(line, size, "\"up\": \"node[0-%d]\"", NODES - 1);
    else if (kind == 13)
        snprintf(line, size, "\"drain\": \"node%d\"", node);
    else if (kind == 14)
        snprintf(line, size, "\"hold\": \"j%d\"", job);
    else if (kind == 15)
        snprintf(line, size, "\"release\": \"j%d\"", job);
    else if (kind == 16)
        snprintf(line, size, "\"priority\": {\"id\": \"j%d\", \"value\": %d}", job,
                 (int)random_between(r, -3, 3));
    else if (kind == 17)
        snprintf(line, size, "\"duration\": {\"id\": \"j%d\", \"value\": %d}", job,
                 (int)random_between(r, 1, 90));
    else if (kind == 18)
        snprintf(line, size, "\"queue\": {\"id\": \"j%d\", \"value\": \"%s\"}", job,
                 random_between(r, 0, 1) ? "one" : "low");
    else if (kind == 19)
        snprintf(line, size, "\"queue-%s\": \"two\"", random_between(r, 0, 1) ? "pause" : "stop");
    else if (kind == 20)
        snprintf(line, size, "\"queue-start\": \"two\"");
    else if (kind == 21) {
        int block = (int)random_between(r, 0, 2);
        snprintf(line, size,
                 "\"block\": {\"name\": \"b%d\", \"resources\": \"node%d\", \"start\": %d, "
                 "\"duration\": 20, "
                 "\"every\": 100}",
                 block, node, (int)random_between(r, 0, 400));
    } else if (kind == 22)
        snprintf(line, size, "\"unblock\": \"b%d\"", (int)random_between(r, 0, 2));
    else if (kind == 23)
        snprintf(line, size,
                 "\"property\": {\"resources\": \"node%d\", \"key\": \"x\", \"value\": \"y\"}",
                 node);
    else
        snprintf(line, size, "\"add-nodes\": 1");
}

/* Play a line now. True if it could be. */
static bool can_be(struct stage *g, const char *line)
{
    berth_error_t err = {""};
    struct scenario *s = scenario_from_text("line", line, strlen(line), &err);
    CHECK(s);
    int rc = play_run(g->play, s, DRIVER_TO_EVENTS, 0, &err);
    scenario_close(s);
    return rc == 0;
}

/* Make up events, of which each can be at its time. */
static void make_up(struct random *r, struct story *s)
{
    struct stage g = {0};
    int64_t at = 0;
    int jobs = 0;
    s->n = 0;
    stage_open(&g, s->config, NULL);
    for (int i = 0; i < EVENTS; i++) {
        char what[360];
        struct event *e = &s->event[s->n];
        at += random_between(r, 0, 2) ? random_between(r, 0, 12) : 0;
        write_event(r, s, jobs, what, sizeof(what));
        e->at = at;
        snprintf(e->line, sizeof(e->line), "{\"at\": %" PRId64 ", %s}\n", at, what);
        if (!can_be(&g, e->line))
            continue;
        s->n++;
        jobs += strncmp(what, "\"submit\"", 8) == 0;
    }
    stage_close(&g);
}

/* Play those events of a story that are after `from` and until `to`. Recurring blocks let time go on for
 * ever, and a job that can't start waits for them; so there is an end.
 */
static bool play_part(struct stage *g, const struct story *s, int64_t from, int64_t to)
{
    struct strbuf text = {0};
    berth_error_t err = {""};
    for (size_t i = 0; i < s->n; i++)
        if (s->event[i].at > from && s->event[i].at <= to)
            strbuf_puts(&text, s->event[i].line);
    const char *lines = strbuf_text(&text);
    struct scenario *scenario = scenario_from_text("story", lines, text.len, &err);
    CHECK(scenario);
    int rc = play_run(g->play, scenario, DRIVER_TO_TIME, to * SECONDS_TICKS, &err);
    scenario_close(scenario);
    strbuf_clear(&text);
    return rc == 0;
}

/* What is told of a job. */
struct told {
    bool runs, ended;
    int64_t until, promised;
    struct hostlist holds;
};

struct law {
    struct intern jobs;
    struct told told[JOBS];
    int64_t starts;
};

static bool meet(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    return n <= m ? strncmp(a, b, n) == 0 && (b[n] == '/' || !b[n])
                  : strncmp(a, b, m) == 0 && a[m] == '/';
}

/* What a job gets is free. */
static void check_free(struct law *w, uint32_t job)
{
    char mine[HOSTLIST_NAME_SIZE], other[HOSTLIST_NAME_SIZE];
    struct hostlist_cursor c = {0};
    while (hostlist_next(&w->told[job].holds, &c, mine)) {
        for (uint32_t i = 0; i < w->jobs.n; i++) {
            struct hostlist_cursor d = {0};
            while (i != job && w->told[i].runs && hostlist_next(&w->told[i].holds, &d, other))
                CHECK(!meet(mine, other));
        }
    }
}

static void check_decision(struct law *w, const struct story *s, const json_t *d)
{
    const char *id = json_string_value(json_object_get(d, "job"));
    const char *decision = json_string_value(json_object_get(d, "decision"));
    const char *resources = json_string_value(json_object_get(d, "resources"));
    uint32_t job;
    int64_t at, start = -1;
    CHECK(intern_put(&w->jobs, id, strlen(id), &job) == 0 && job < JOBS);
    struct told *t = &w->told[job];
    CHECK(seconds_read(json_object_get(d, "at"), &at));
    seconds_read(json_object_get(d, "start"), &start);
    CHECK(!t->ended);
    if (strcmp(decision, "start") == 0) {
        CHECK(!t->runs && resources && *resources);
        CHECK(seconds_read(json_object_get(d, "until"), &t->until) && t->until > at);
        if (s->calm && t->promised > 0)
            CHECK(at <= t->promised);
        CHECK(hostlist_decode(&t->holds, resources, strlen(resources), NULL) == 0);
        check_free(w, job);
        t->runs = true;
        w->starts++;
    } else if (strcmp(decision, "reserve") == 0) {
        CHECK(!t->runs && start >= at);
        if (s->calm && t->promised > 0)
            CHECK(start <= t->promised);
        t->promised = start;
    } else if (strcmp(decision, "wait") == 0 || strcmp(decision, "await") == 0) {
        CHECK(!t->runs);
    } else if (strcmp(decision, "reject") == 0) {
        CHECK(!t->runs);
        t->ended = true;
    } else if (strcmp(decision, "preempt") == 0) {
        CHECK(t->runs);
        t->runs = false; /* it ends at this very instant */
    } else {
        CHECK(strcmp(decision, "end") == 0);
        t->ended = true;
        t->runs = false;
    }
}

static int64_t check_laws(const struct story *s, const char *told)
{
    static struct law w;
    memset(&w, 0, sizeof(w));
    for (const char *line = told; *line; line = strchr(line, '\n') + 1) {
        json_t *d = json_loadb(line, (size_t)(strchr(line, '\n') - line), 0, NULL);
        CHECK(d);
        check_decision(&w, s, d);
        json_decref(d);
    }
    for (uint32_t i = 0; i < w.jobs.n; i++)
        hostlist_clear(&w.told[i].holds);
    intern_clear(&w.jobs);
    return w.starts;
}

/* What is done, without what is told of jobs that wait: that depends on when they were looked at, and who
 * is looked at anew on what was looked at before.
 */
static void keep_deeds(const char *told, struct strbuf *out)
{
    for (const char *end; *told; told = end) {
        end = strchr(told, '\n') + 1;
        const char *wait = strstr(told, "\"decision\": \"wait\"");
        const char *reserve = strstr(told, "\"decision\": \"reserve\"");
        if ((!wait || wait > end) && (!reserve || reserve > end))
            strbuf_put(out, told, (size_t)(end - told));
    }
}

static bool is_alike(const char *one, const char *other)
{
    struct strbuf a = {0}, b = {0};
    keep_deeds(one, &a);
    keep_deeds(other, &b);
    bool alike = strcmp(strbuf_text(&a), strbuf_text(&b)) == 0;
    strbuf_clear(&a);
    strbuf_clear(&b);
    return alike;
}

/* Save at a time, take it up, go on. */
static void check_cut(const struct story *s, int64_t cut, int64_t end, const char *whole)
{
    struct stage before = {0}, after = {0};
    berth_error_t err = {""};
    stage_open(&before, s->config, NULL);
    CHECK(play_part(&before, s, -1, cut));
    json_t *state = play_save(before.play, &err);
    CHECK(state);
    stage_open(&after, s->config, state);
    CHECK(play_part(&after, s, cut, end));
    strbuf_puts(&before.told, strbuf_text(&after.told));
    if (!is_alike(strbuf_text(&before.told), whole)) {
        fprintf(stderr, "---- cut at %" PRId64 "\n%s---- whole\n%s", cut, strbuf_text(&before.told),
                whole);
    }
    CHECK(is_alike(strbuf_text(&before.told), whole));
    json_decref(state);
    stage_close(&before);
    stage_close(&after);
}

int main(void)
{
    struct random r = {20261121};
    int64_t starts = 0, played = 0;
    for (number = 0; number < RANDOM_ROUNDS(SCENARIOS); number++) {
        struct stage whole = {0}, again = {0};
        story.calm = number % 3 == 0;
        story.overruns = !story.calm && number % 2 == 0;
        story.put_off = !story.calm && random_between(&r, 0, 3) == 0;
        story.config = configure(&r, story.calm, story.put_off);
        make_up(&r, &story);
        int64_t end = (story.n > 0 ? story.event[story.n - 1].at : 0) + 2000;
        stage_open(&whole, story.config, NULL);
        stage_open(&again, story.config, NULL);
        if (play_part(&whole, &story, -1, end)) {
            const char *told = strbuf_text(&whole.told);
            CHECK(play_part(&again, &story, -1, end));
            CHECK(strcmp(strbuf_text(&again.told), told) == 0);
            starts += check_laws(&story, told);
            for (int i = 0; i < CUTS && !story.overruns; i++)
                check_cut(&story, random_between(&r, 0, end - 1900), end, told);
            played++;
        }
        stage_close(&whole);
        stage_close(&again);
        config_destroy(story.config);
    }
    printf("%" PRId64 " of %d scenarios played, %" PRId64 " starts\n", played,
           RANDOM_ROUNDS(SCENARIOS), starts);
    CHECK(played > RANDOM_ROUNDS(SCENARIOS) * 3 / 4 && starts > RANDOM_ROUNDS(SCENARIOS) * 5);
    return 0;
}
