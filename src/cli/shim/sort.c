/* The order of squeue --sort: letters of --format, each with a sign. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/client/connection.h"
#include "cli/shim/fields.h"

struct sorted {
    json_t *job;
    size_t place; /* before: of equals, the earlier stays first */
};

static double start_of(const json_t *job)
{
    double start = answer_number(job, "start");
    return start > 0 ? start : answer_number(job, "estimate");
}

/* One that is held comes after all others. */
static double priority_of(const json_t *job)
{
    bool is_held = strcmp(answer_text(job, "state"), "held") == 0;
    return is_held ? -HUGE_VAL : answer_number(job, "priority");
}

/* What jobs are compared by where that is a number; false: by the text of the column. */
static bool sort_number_of(const json_t *job, char letter, double *n)
{
    static const struct {
        char letter;
        const char *key;
    } keys[] = {{'i', "id"},    {'A', "id"},     {'F', "id"},    {'K', "member"}, {'C', "cores"},
                {'D', "nodes"}, {'m', "memory"}, {'l', "limit"}, {'V', "submit"}, {'e', "until"}};
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
        if (keys[i].letter == letter) {
            *n = answer_number(job, keys[i].key);
            return true;
        }
    if (letter == 'S')
        *n = start_of(job);
    else if (letter == 'M')
        *n = shim_elapsed(job);
    else if (letter == 'L')
        *n = answer_number(job, "limit") - shim_elapsed(job);
    else if (letter == 't' || letter == 'T')
        *n = shim_state_number(job);
    else if (letter == 'Q' || letter == 'p')
        *n = priority_of(job);
    else
        return false;
    return true;
}

static int compare_column(const json_t *a, const json_t *b, char letter)
{
    double x, y;
    if (sort_number_of(a, letter, &x) && sort_number_of(b, letter, &y))
        return (x > y) - (x < y);
    struct strbuf left = {0}, right = {0};
    shim_field_letter(letter)->put(a, &left);
    shim_field_letter(letter)->put(b, &right);
    int order = strcmp(strbuf_text(&left), strbuf_text(&right));
    strbuf_clear(&left);
    strbuf_clear(&right);
    return order;
}

static int compare_sorted(const void *a, const void *b, void *context)
{
    const struct sorted *x = a, *y = b;
    const char *text = context;
    for (const char *at = text; *at; at++) {
        if (*at == ',' || *at == '-' || *at == '+' || *at == '%')
            continue;
        bool down =
            at > text && (at[-1] == '-' || (at - 1 > text && at[-1] == '%' && at[-2] == '-'));
        int order = compare_column(x->job, y->job, *at);
        if (order != 0)
            return down ? -order : order;
    }
    return (x->place > y->place) - (x->place < y->place);
}

const char *shim_sort_wrong(const char *text)
{
    for (const char *at = text;; at++) {
        at += *at == '-' || *at == '+';
        at += *at == '%';
        if (!*at || !shim_field_letter(*at) || (at[1] && at[1] != ','))
            return at;
        if (!*++at)
            return NULL;
    }
}

int shim_sort(json_t *jobs, const char *text)
{
    size_t n = json_array_size(jobs);
    struct sorted *all = calloc(n + 1, sizeof(*all));
    if (!all)
        return -1;
    for (size_t i = 0; i < n; i++)
        all[i] = (struct sorted){json_incref(json_array_get(jobs, i)), i};
    qsort_r(all, n, sizeof(*all), compare_sorted, (void *)text);
    for (size_t i = 0; i < n; i++)
        json_array_set_new(jobs, i, all[i].job);
    free(all);
    return 0;
}
