/* Classes: the settings, their JSON, who is in which class, and which tasks start and stop. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "share/classes.h"

static const struct classes_percent three[] = {{"land", 60}, {"diff", 30}, {"sandbox", 10}};
static const struct classes_requestor patterns[] = {
    {"^land", "land"}, {"diff|review", "diff"}, {"l", "sandbox"}};

static classes_t *make(void)
{
    classes_t *c = classes_create();
    assert_non_null(c);
    assert_int_equal(classes_set_percents(c, three, 3, NULL), 0);
    assert_int_equal(classes_set_requestors(c, patterns, 3, "sandbox", NULL), 0);
    assert_true(share_classes_check(c));
    return c;
}

static void expect_class(const classes_t *c, const char *requestor, const char *name,
                         size_t pattern)
{
    struct classes_match m;
    assert_int_equal(classes_find(c, requestor, strlen(requestor), &m), 0);
    assert_string_equal(m.name, name);
    assert_int_equal(m.pattern, pattern);
    assert_false(m.gave_up);
}

/* ---- Settings ---- */

static void new_settings_have_one_class(void **state)
{
    const struct classes_percent *percents;
    const struct classes_requestor *requestors;
    const char *fallback;
    classes_t *c = classes_create();
    (void)state;
    assert_int_equal(classes_get_percents(c, &percents), 1);
    assert_string_equal(percents[0].name, "default");
    assert_int_equal(percents[0].percent, 100);
    assert_int_equal(classes_get_requestors(c, &requestors, &fallback), 0);
    assert_string_equal(fallback, "default");
    assert_int_equal(classes_get_rebalance_threshold(c), 0);
    assert_int_equal(classes_get_rebalance_minimum_duration(c), 240);
    expect_class(c, "anybody", "default", 0);
    classes_destroy(c);
    classes_destroy(NULL);
}

static void percentages_are_sorted_and_scaled(void **state)
{
    static const struct classes_percent given[] = {{"c", 15}, {"b", 25}, {"none", 0},
                                                   {"e", 10}, {"a", 30}, {"d", 15}};
    static const struct classes_percent kept[] = {{"a", 34}, {"b", 26}, {"c", 15},
                                                  {"d", 15}, {"e", 10}, {"none", 0}};
    const struct classes_percent *list;
    classes_t *c = classes_create();
    (void)state;
    assert_int_equal(classes_set_percents(c, given, 6, NULL), 0);
    assert_int_equal(classes_get_percents(c, &list), 6);
    for (size_t i = 0; i < 6; i++) {
        assert_string_equal(list[i].name, kept[i].name);
        assert_int_equal(list[i].percent, kept[i].percent);
    }
    /* What the getter returns may be given to the setter. */
    assert_int_equal(classes_set_percents(c, list, 6, NULL), 0);
    assert_true(share_classes_check(c));
    classes_destroy(c);
}

static void expect_percents_refused(const struct classes_percent *list, size_t n, const char *why)
{
    berth_error_t err = {""};
    classes_t *c = make();
    char *before = classes_save(c);
    errno = 0;
    assert_int_equal(classes_set_percents(c, list, n, &err), -1);
    assert_int_equal(errno, EINVAL);
    assert_string_equal(err.text, why);
    char *after = classes_save(c);
    assert_string_equal(before, after);
    free(before);
    free(after);
    classes_destroy(c);
}

static void wrong_percentages_are_refused(void **state)
{
    static const struct classes_percent negative[] = {{"land", -1}};
    static const struct classes_percent nothing[] = {{"land", 0}, {"diff", 0}};
    static const struct classes_percent twice[] = {{"land", 1}, {"land", 2}};
    static const struct classes_percent blank[] = {{"land", 1}, {"a b", 2}};
    static const struct classes_percent two[] = {{"diff", 1}, {"land", 2}};
    static const struct classes_percent fewer[] = {{"diff", 1}, {"sandbox", 2}};
    (void)state;
    expect_percents_refused(NULL, 0, "classes: expected 1 to 256, found 0");
    expect_percents_refused(negative, 1,
                            "class 'land': expected a percentage from 0 to 1000000000, found -1");
    expect_percents_refused(nothing, 2, "classes: expected a percentage above 0, found none");
    expect_percents_refused(twice, 2, "class 'land': expected once, found twice");
    expect_percents_refused(
        blank, 2,
        "class 2: expected a name of 1 to 64 letters, digits, '_', '-' and '.', "
        "found 'a b'");
    expect_percents_refused(fewer, 2,
                            "classes: expected 'land', the class of pattern 1, found none");
    expect_percents_refused(two, 2,
                            "classes: expected 'sandbox', the class of pattern 3, found none");
}

/* ---- Requestors ---- */

static void the_first_pattern_decides(void **state)
{
    classes_t *c = make();
    struct classes_match m;
    char longer[CLASSES_REQUESTOR_MAX + 2];
    (void)state;
    expect_class(c, "landing-bot", "land", 0);
    expect_class(c, "my-diff", "diff", 1);
    expect_class(c, "land-diff", "land", 0);
    expect_class(c, "alland", "sandbox", 2);
    expect_class(c, "", "sandbox", 3);
    expect_class(c, "nobody", "sandbox", 3);
    expect_class(c, "\xff\xfe review", "diff", 1); /* not UTF-8, but around it */
    memset(longer, 'l', sizeof(longer));
    assert_int_equal(classes_find(c, longer, CLASSES_REQUESTOR_MAX, &m), 0);
    assert_int_equal(m.pattern, 2);
    assert_int_equal(classes_find(c, longer, CLASSES_REQUESTOR_MAX + 1, &m), 0);
    assert_int_equal(m.pattern, 3);
    classes_destroy(c);
}

static void patterns_move_with_their_classes(void **state)
{
    static const struct classes_percent other[] = {
        {"diff", 70}, {"land", 20}, {"sandbox", 5}, {"new", 5}};
    struct classes_match m;
    classes_t *c = make();
    (void)state;
    assert_int_equal(classes_set_percents(c, other, 4, NULL), 0);
    assert_true(share_classes_check(c));
    assert_int_equal(classes_find(c, "land", 4, &m), 0);
    assert_int_equal(m.index, 1);
    /* Without patterns the default class goes with the list. */
    assert_int_equal(classes_set_requestors(c, NULL, 0, NULL, NULL), 0);
    expect_class(c, "land", "sandbox", 0);
    assert_int_equal(
        classes_set_percents(c, (struct classes_percent[]){{"x", 9}, {"y", 1}, {"z", 0}}, 3, NULL),
        0);
    expect_class(c, "land", "y", 0);
    assert_true(share_classes_check(c));
    classes_destroy(c);
}

static void expect_pattern_refused(const char *pattern, const char *class, const char *why)
{
    const struct classes_requestor list[] = {{"fine", "land"}, {pattern, class}};
    berth_error_t err = {""};
    classes_t *c = make();
    char *before = classes_save(c);
    errno = 0;
    assert_int_equal(classes_set_requestors(c, list, 2, NULL, &err), -1);
    assert_int_equal(errno, EINVAL);
    assert_string_equal(err.text, why);
    char *after = classes_save(c);
    assert_string_equal(before, after);
    free(before);
    free(after);
    classes_destroy(c);
}

static void wrong_patterns_are_refused(void **state)
{
    char longer[CLASSES_PATTERN_MAX + 2], deep[121];
    (void)state;
    memset(longer, 'x', sizeof(longer));
    longer[sizeof(longer) - 1] = '\0';
    memset(deep, '(', 60);
    memset(deep + 60, ')', 60);
    deep[120] = '\0';
    expect_pattern_refused("a(b", "land",
                           "pattern 2, offset 3: expected a regular expression: missing closing "
                           "parenthesis");
    expect_pattern_refused("*", "land",
                           "pattern 2, offset 0: expected a regular expression: quantifier does "
                           "not follow a repeatable item");
    expect_pattern_refused("a\nb", "land", "pattern 2, offset 1: expected no control character");
    expect_pattern_refused("", "land", "pattern 2: expected 1 to 512 bytes, found 0");
    expect_pattern_refused(longer, "land", "pattern 2: expected 1 to 512 bytes, found 513");
    expect_pattern_refused("a", "nobody", "pattern 2: expected one of the classes, found 'nobody'");
    expect_pattern_refused(deep, "land",
                           "pattern 2, offset 51: expected a regular expression: parentheses are "
                           "too deeply nested");
}

/* A pattern that would take for ever is given up on, and the next one decides. */
static void a_pattern_that_takes_too_long_matches_nothing(void **state)
{
    static const struct classes_requestor list[] = {{"^(a+)+$", "land"}, {"^a", "diff"}};
    char requestor[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab";
    struct classes_match m;
    classes_t *c = make();
    (void)state;
    assert_int_equal(classes_set_requestors(c, list, 2, NULL, NULL), 0);
    assert_int_equal(classes_find(c, requestor, strlen(requestor), &m), 0);
    assert_true(m.gave_up);
    assert_string_equal(m.name, "diff");
    classes_destroy(c);
}

/* ---- JSON ---- */

static void settings_are_kept_to_the_byte(void **state)
{
    static const char text[] =
        "{\"classes\":[{\"name\":\"land\",\"percent\":60},{\"name\":\"diff\",\"percent\":30},"
        "{\"name\":\"sandbox\",\"percent\":10}],\"requestors\":[{\"pattern\":\"^land\",\"class\":"
        "\"land\"},{\"pattern\":\"\\\"\\\\w+é\",\"class\":\"diff\"}],\"default_class\":\"sandbox\","
        "\"rebalance_threshold\":20,\"rebalance_minimum_duration\":61}";
    classes_t *c = classes_load(text, strlen(text), NULL);
    (void)state;
    assert_non_null(c);
    assert_true(share_classes_check(c));
    char *saved = classes_save(c);
    assert_string_equal(saved, text);
    free(saved);
    classes_destroy(c);
    c = classes_load("{}", 2, NULL);
    saved = classes_save(c);
    assert_string_equal(saved, "{\"classes\":[{\"name\":\"default\",\"percent\":100}],"
                               "\"requestors\":[],\"default_class\":\"default\","
                               "\"rebalance_threshold\":0,\"rebalance_minimum_duration\":240}");
    free(saved);
    classes_destroy(c);
}

static void wrong_json_is_refused(void **state)
{
    static const char *const texts[][2] = {
        {"", "line 1, column 0: expected JSON: '[' or '{' expected near end of file"},
        {"[]", "classes: expected an object"},
        {"{\"percents\":1}",
         "classes: expected classes, requestors, default_class, rebalance_threshold or "
         "rebalance_minimum_duration, found 'percents'"},
        {"{\"classes\":{}}", "classes: expected a list"},
        {"{\"classes\":[1]}", "classes[0]: expected an object"},
        {"{\"classes\":[{\"name\":\"a\",\"percent\":1.5}]}",
         "classes[0].percent: expected an integer"},
        {"{\"classes\":[{\"percent\":1}]}", "classes[0].name: expected a text"},
        {"{\"requestors\":[{\"pattern\":\"a\"}]}", "requestors[0].class: expected a text"},
        {"{\"requestors\":[{\"pattern\":\"a[\",\"class\":\"default\"}]}",
         "pattern 1, offset 2: expected a regular expression: missing terminating ] for character "
         "class"},
        {"{\"default_class\":1}", "default_class: expected a text"},
        {"{\"default_class\":\"x\"}", "default class: expected one of the classes, found 'x'"},
        {"{\"rebalance_threshold\":201}",
         "rebalance threshold: expected 0 to 200 percent, found 201"},
        {"{\"rebalance_minimum_duration\":-1}",
         "rebalance minimum duration: expected 0 to 1000000000 seconds, found -1"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        berth_error_t err = {""};
        errno = 0;
        assert_null(classes_load(texts[i][0], strlen(texts[i][0]), &err));
        assert_int_equal(errno, EINVAL);
        assert_string_equal(err.text, texts[i][1]);
    }
}

/* ---- The worked examples ---- */

static void expect_counts(struct class_load *c, size_t n, int64_t idle, const int64_t *starts)
{
    class_set_targets(c, n, 1000);
    class_count_starts(c, n, idle);
    assert_true(class_check(c, n, idle));
    for (size_t i = 0; i < n; i++)
        assert_int_equal(c[i].start, starts[i]);
}

static void worked_examples_come_out(void **state)
{
    struct class_load one[] = {{.percent = 30, .running = 200, .waiting = 290},
                               {.percent = 25, .running = 300, .waiting = 230},
                               {.percent = 20, .running = 0, .waiting = 150},
                               {.percent = 15, .running = 100, .waiting = 150},
                               {.percent = 10, .running = 110, .waiting = 90},
                               {.percent = 0, .running = 0, .waiting = 328}};
    struct class_load two[] = {{.percent = 30, .running = 200, .waiting = 10},
                               {.percent = 25, .running = 300, .waiting = 230},
                               {.percent = 20, .running = 0, .waiting = 0},
                               {.percent = 15, .running = 100, .waiting = 50},
                               {.percent = 10, .running = 110, .waiting = 90}};
    (void)state;
    expect_counts(one, 6, 290, (const int64_t[]){94, 0, 150, 46, 0, 0});
    expect_counts(two, 5, 290, (const int64_t[]){10, 157, 0, 50, 73});
}

/* One worker at a time is never given to a class that has more than its target while others lack some. */
static void what_rounding_leaves_goes_to_those_below(void **state)
{
    struct class_load c[] = {{.percent = 40, .running = 60, .waiting = 100},
                             {.percent = 20, .running = 13, .waiting = 100},
                             {.percent = 20, .running = 13, .waiting = 100},
                             {.percent = 20, .running = 13, .waiting = 100}};
    (void)state;
    class_set_targets(c, 4, 100);
    class_count_starts(c, 4, 1);
    assert_int_equal(c[0].start, 0);
    assert_int_equal(c[1].start, 1);
}

/* Of many classes each gets its part: whole percents would be nothing. */
static void many_classes_share_alike(void **state)
{
    struct class_load c[200];
    (void)state;
    for (size_t i = 0; i < 200; i++)
        c[i] = (struct class_load){.percent = i < 100, .waiting = 1000};
    class_set_targets(c, 200, 10000);
    class_count_starts(c, 200, 5000);
    for (size_t i = 0; i < 200; i++)
        assert_int_equal(c[i].start, i < 100 ? 50 : 0);
}

/* Nothing is stopped where idle workers are enough, or nobody can use what is freed. */
static void rebalancing_stops_no_more_than_starts(void **state)
{
    struct class_load enough[] = {{.percent = 80, .running = 0, .waiting = 20},
                                  {.percent = 20, .running = 50, .waiting = 0}};
    struct class_load few[] = {{.percent = 50, .running = 30, .waiting = 5},
                               {.percent = 50, .running = 70, .waiting = 0}};
    (void)state;
    class_set_targets(enough, 2, 100);
    class_count_rebalance(enough, 2, 50);
    assert_int_equal(enough[0].start, 20);
    assert_int_equal(enough[1].stop, 0);
    class_set_targets(few, 2, 100);
    class_count_rebalance(few, 2, 0);
    assert_int_equal(few[0].start, 5);
    assert_int_equal(few[1].stop, 5);
}

/* What may not be stopped stays lent: who lacks workers has them from others, and of what is lent again it counts. */
static void rebalancing_takes_what_is_not_fixed(void **state)
{
    struct class_load one[] = {{.percent = 50, .running = 0, .waiting = 3},
                               {.percent = 30, .running = 5},
                               {.percent = 20, .running = 5, .fixed = 5}};
    /* 30 are lent, 14 of them fixed: 15 are for each of those that wait, so the third has 1 more, the second 15. */
    struct class_load again[] = {{.percent = 40, .running = 0, .waiting = 10},
                                 {.percent = 20, .running = 33, .waiting = 100},
                                 {.percent = 20, .running = 34, .waiting = 100, .fixed = 34},
                                 {.percent = 20, .running = 33}};
    (void)state;
    class_set_targets(one, 3, 10);
    class_count_rebalance(one, 3, 0);
    assert_true(class_check(one, 3, 0));
    assert_int_equal(one[0].start, 2);
    assert_int_equal(one[1].stop, 2);
    assert_int_equal(one[2].stop, 0);
    class_set_targets(again, 4, 100);
    class_count_rebalance(again, 4, 0);
    assert_true(class_check(again, 4, 0));
    assert_int_equal(again[0].start, 10);
    assert_int_equal(again[1].stop, 0);
    assert_int_equal(again[2].stop, 0);
    assert_int_equal(again[3].stop, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_settings_have_one_class),
        cmocka_unit_test(percentages_are_sorted_and_scaled),
        cmocka_unit_test(wrong_percentages_are_refused),
        cmocka_unit_test(the_first_pattern_decides),
        cmocka_unit_test(patterns_move_with_their_classes),
        cmocka_unit_test(wrong_patterns_are_refused),
        cmocka_unit_test(a_pattern_that_takes_too_long_matches_nothing),
        cmocka_unit_test(settings_are_kept_to_the_byte),
        cmocka_unit_test(wrong_json_is_refused),
        cmocka_unit_test(worked_examples_come_out),
        cmocka_unit_test(what_rounding_leaves_goes_to_those_below),
        cmocka_unit_test(many_classes_share_alike),
        cmocka_unit_test(rebalancing_stops_no_more_than_starts),
        cmocka_unit_test(rebalancing_takes_what_is_not_fixed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
