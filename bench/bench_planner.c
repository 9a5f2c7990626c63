/* What a planner costs: time a call and bytes a calendar.
 *
 * The loads and the reference figures are those that the project set out with. The figures were measured with
 * Fluxion's planner on another machine, with two busy cores: they give the scale, not a contest. Seeds are
 * fixed; a time is the median of some runs.
 */
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "berth/planner.h"
#include "measure.h"

enum { RUNS = 7 };

static const int64_t HORIZON = 10000000; /* spans start before this */
static const uint64_t SPAN_LONGEST = 5000;
static const uint64_t SPAN_UNITS = 100;
static const uint64_t TOTAL = 1000000000;

static uint64_t seed;

/* splitmix64 (Steele, Lea and Flood 2014), from 0 to n - 1. */
static uint64_t draw(uint64_t n)
{
    uint64_t z = seed += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) % n;
}

static double median(double *v, int n)
{
    qsort(v, (size_t)n, sizeof(*v), compare);
    return v[n / 2];
}

static void check(int right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "bench_planner: %s\n", what);
    exit(1);
}

static void row(const char *load, double us, const char *reference)
{
    char text[32];
    snprintf(text, sizeof(text), us < 0.1 ? "%.3f us" : "%.2f us", us);
    printf("%-78s %10s   %s\n", load, text, reference);
}

static void row_bytes(const char *load, double bytes, const char *reference)
{
    printf("%-78s %8.0f B   %s\n", load, bytes, reference);
}

static int64_t add_random(planner_t *p)
{
    int64_t start = (int64_t)draw((uint64_t)HORIZON);
    int64_t id = planner_add_span(p, start, 1 + draw(SPAN_LONGEST), 1 + draw(SPAN_UNITS));
    check(id > 0, "a span does not fit");
    return id;
}

static planner_t *filled(int spans, int64_t *ids)
{
    planner_t *p = planner_new(0, INT64_MAX, TOTAL, "core");
    check(p != NULL, "no memory");
    for (int i = 0; i < spans; i++) {
        int64_t id = add_random(p);
        if (ids)
            ids[i] = id;
    }
    return p;
}

struct query {
    int64_t from;
    uint64_t duration;
    uint64_t request;
};

/* Within 3,000 of the total, up to 20,000 long, from any time on at which spans may start. */
static struct query draw_query(void)
{
    struct query q = {.from = (int64_t)draw((uint64_t)HORIZON)};
    q.duration = 1 + draw(20000);
    q.request = TOTAL - draw(3000);
    return q;
}

static int64_t first(planner_t *p, struct query q)
{
    return planner_avail_time_first(p, q.from, q.duration, q.request);
}

/* The steps of a calendar, in order: what the reference counts gaps with. */
struct steps {
    int64_t *at;
    int64_t *free;
    int n;
};

static int compare_times(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static struct steps steps_of(planner_t *p)
{
    size_t most = 2 * planner_span_size(p) + 1;
    struct steps s = {.at = calloc(most, sizeof(int64_t)), .free = calloc(most, sizeof(int64_t))};
    check(s.at && s.free, "no memory");
    s.n = 1; /* the base */
    for (int64_t id = planner_span_first(p); id >= 0; id = planner_span_next(p)) {
        s.at[s.n++] = planner_span_start_time(p, id);
        s.at[s.n++] = planner_span_start_time(p, id) + planner_span_duration(p, id);
    }
    qsort(s.at, (size_t)s.n, sizeof(s.at[0]), compare_times);
    int kept = 0;
    for (int i = 0; i < s.n; i++)
        if (i == 0 || s.at[i] != s.at[i - 1])
            s.at[kept++] = s.at[i];
    s.n = kept;
    for (int i = 0; i < s.n; i++)
        s.free[i] = planner_avail_resources_at(p, s.at[i]);
    return s;
}

/* Walk step by step to the earliest fit, counting the stretches with enough free that are too short. */
static int64_t walk(const struct steps *s, struct query q, int64_t *gaps)
{
    int64_t request = (int64_t)q.request;
    for (int i = 0; i < s->n; i++) {
        if (s->at[i] < q.from || s->free[i] < request)
            continue;
        int64_t start = s->at[i];
        int64_t end = start + (int64_t)q.duration;
        while (i + 1 < s->n && s->free[i + 1] >= request && s->at[i + 1] < end)
            i++;
        if (i + 1 == s->n || s->at[i + 1] >= end)
            return start;
        ++*gaps;
    }
    return -1;
}

/* Short gaps a query, the answers of the planner being checked on the way. */
static double short_gaps(planner_t *p, int queries)
{
    struct steps s = steps_of(p);
    int64_t gaps = 0;
    for (int i = 0; i < queries; i++) {
        struct query q = draw_query();
        check(walk(&s, q, &gaps) == first(p, q), "the earliest fit is wrong");
    }
    free(s.at);
    free(s.free);
    return (double)gaps / queries;
}

static void bench_first(int spans, int queries, const char *reference)
{
    double times[RUNS];
    char load[96];
    int64_t sum = 0;
    seed = 1;
    planner_t *p = filled(spans, NULL);
    double gaps = short_gaps(p, 2000);
    for (int run = 0; run < RUNS; run++) {
        double began = now();
        for (int i = 0; i < queries; i++)
            sum += first(p, draw_query());
        times[run] = (now() - began) / queries;
    }
    check(sum > 0, "nothing ever fits");
    snprintf(load, sizeof(load), "earliest fit, %d spans, %.0f short gaps a query", spans, gaps);
    row(load, median(times, RUNS) * 1e6, reference);
    planner_destroy(&p);
}

/* Jobs of 60 to 86,459 ticks and 1 to 2,000 units, each booked at its earliest fit. */
static void bench_fill(void)
{
    double times[RUNS];
    for (int run = 0; run < RUNS; run++) {
        seed = 2;
        planner_t *p = planner_new(0, INT64_MAX, 10000, "core");
        double began = now();
        for (int i = 0; i < 20000; i++) {
            uint64_t duration = 60 + draw(86400);
            uint64_t units = 1 + draw(2000);
            int64_t at = planner_avail_time_first(p, 0, duration, units);
            check(planner_add_span(p, at, duration, units) > 0, "a job does not fit");
        }
        times[run] = (now() - began) / 20000;
        planner_destroy(&p);
    }
    row("fill an empty calendar of 10,000 units with 20,000 jobs, each at its first fit",
        median(times, RUNS) * 1e6, "489 to 521 us");
}

static void bench_remove_add(void)
{
    enum { SPANS = 100000, PAIRS = 100000 };
    double times[RUNS];
    int64_t *ids = calloc(SPANS, sizeof(*ids));
    check(ids != NULL, "no memory");
    seed = 3;
    planner_t *p = filled(SPANS, ids);
    for (int run = 0; run < RUNS; run++) {
        double began = now();
        for (int i = 0; i < PAIRS; i++) {
            uint64_t k = draw(SPANS);
            check(planner_rem_span(p, ids[k]) == 0, "no such span");
            ids[k] = add_random(p);
        }
        times[run] = (now() - began) / PAIRS;
    }
    row("remove a span and add another, 100000 spans", median(times, RUNS) * 1e6, "101 to 119 us");
    planner_destroy(&p);
    free(ids);
}

static void bench_during(void)
{
    enum { QUERIES = 200000 };
    double times[RUNS];
    int64_t sum = 0;
    seed = 4;
    planner_t *p = filled(100000, NULL);
    for (int run = 0; run < RUNS; run++) {
        double began = now();
        for (int i = 0; i < QUERIES; i++) {
            int64_t at = (int64_t)draw((uint64_t)HORIZON);
            uint64_t duration = 1 + draw(500000);
            sum += planner_avail_during(p, at, duration, TOTAL - 5000);
        }
        times[run] = (now() - began) / QUERIES;
    }
    check(sum == 0, "less is free than must be");
    row("free during windows of up to 500,000, 100000 spans", median(times, RUNS) * 1e6,
        "350 to 455 us");
    for (int run = 0; run < RUNS; run++) {
        double began = now();
        for (int i = 0; i < QUERIES; i++) {
            int64_t at = (int64_t)draw((uint64_t)HORIZON);
            sum += planner_avail_resources_during(p, at, 1 + draw(500000));
        }
        times[run] = (now() - began) / QUERIES;
    }
    check(sum > 0, "nothing is free");
    row("least that is free during them", median(times, RUNS) * 1e6, "");
    planner_destroy(&p);
}

/* Growth of the heap for each of so many calendars with so many spans, the array that holds them apart. */
static double heap_bytes(int calendars, int spans)
{
    planner_t **p = calloc((size_t)calendars, sizeof(*p));
    check(p != NULL, "no memory");
    seed = 5;
    struct mallinfo2 before = mallinfo2();
    for (int i = 0; i < calendars; i++)
        p[i] = filled(spans, NULL);
    struct mallinfo2 after = mallinfo2();
    for (int i = 0; i < calendars; i++)
        planner_destroy(&p[i]);
    free(p);
    double bytes =
        (double)(after.uordblks + after.hblkhd) - (double)(before.uordblks + before.hblkhd);
    return bytes / calendars;
}

static void bench_memory(void)
{
    static const int counts[] = {3, 4, 5, 6, 8, 10, 16, 32, 100, 1000};
    row_bytes("an empty calendar, of 100,000", heap_bytes(100000, 0), "464 B");
    row_bytes("a calendar with 1 span", heap_bytes(100000, 1), "768 B");
    double two = heap_bytes(100000, 2);
    row_bytes("a calendar with 2 spans", two, "");
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        char load[96];
        int calendars = counts[i] > 10 ? 1000000 / counts[i] : 100000;
        snprintf(load, sizeof(load), "a span beyond the second, with %d", counts[i]);
        row_bytes(load, (heap_bytes(calendars, counts[i]) - two) / (counts[i] - 2), "460 B");
    }
}

int main(void)
{
    puts(
        "Spans start anywhere in 10,000,000, last up to 5,000 and take up to 100 of 1,000,000,000\n"
        "units; requests are within 3,000 of the total, up to 20,000 long, and ask from any of "
        "these\n"
        "times on. Reference: Fluxion's planner, measured on another machine with 2 busy cores.\n");
    printf("%-78s %10s   %s\n", "planner", "Berth", "reference");
    bench_first(100000, 2000, "56000 to 81000 us");
    bench_first(1000, 20000, "230 us");
    bench_fill();
    bench_remove_add();
    bench_during();
    bench_memory();
    return 0;
}
