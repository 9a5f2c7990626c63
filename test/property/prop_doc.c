/* The quick reader of documents against libyaml's, over random text made of what YAML is made of.
 *
 * The law: where the quick reader has a tree, libyaml's is the same in every node. Random text is
 * mostly no YAML at all, so it is made line by line with likely indentations, and it is counted how
 * much of it both read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jobspec/doc.h"
#include "jobspec/quick.h"
#include "random.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { STEPS = 300000, LINES = 8 };

/* What a line may begin with, behind its indentation, and go on with. */
static const char *const heads[] = {
    "a: ",     "b:",   "c :",  "- ", "-",      "- d: ",  "- - ", "e",      "f: g",
    "\"h\": ", "{",    "]",    "}",  ", ",     "# note", "--- ", "'i': ",  "-j: ",
    "k: [",    "l: {", "m:\n", "? ", "- [n, ", "o: \"p", "...",  "q: # r", "",
};
static const char *const words[] = {
    "1",   "s",   "t u", "\"v\"", "'w'", "\"x\\n\\\"\"", "[",      "]",      "{",     "}",
    ", ",  ",",   ": ",  ":",     " ",   " # y",         "#z",     "A: ",    "-1",    "- ",
    "~",   "|",   "&B ", "*B",    "\n",  "[]",           "{}",     "[C, D]", "? ",    "{E: F}",
    "4-8", "2:3", "\\",  "!G",    "\t",  "\"H\":I",      "''",     "\"\"",   "J{}[]", "---",
    "%",   "K\n", "?",   "@",     "'L",  "\"M",          "'N''O'", "~P",
};

static size_t write_line(struct random *r, char *text, size_t size)
{
    size_t indent = (size_t)random_between(r, 0, 3);
    indent *= random_between(r, 0, 5) ? 2 : 1;
    size_t used = (size_t)snprintf(text, size, "%*s%s", (int)indent, "",
                                   heads[random_between(r, 0, COUNT(heads) - 1)]);
    for (int64_t n = random_between(r, 0, 3); n > 0; n--)
        used += (size_t)snprintf(text + used, size - used, "%s",
                                 words[random_between(r, 0, COUNT(words) - 1)]);
    if (random_between(r, 0, 19))
        used += (size_t)snprintf(text + used, size - used, "\n");
    return used;
}

/* Flow collections, closed as they were opened but for an accident. */
static size_t write_flow(struct random *r, char *text, size_t size, int depth)
{
    static const char *const scalars[] = {"1",   "s", "\"v\"", "'w'",
                                          "t u", "-", "a.b",   "\"\\/\\t\""};
    static const char *const commas[] = {",", ", ", ",\n", "\n, ", " ,", ",  # x\n", ";"};
    if (depth == 0 || random_between(r, 0, 2) == 0)
        return (size_t)snprintf(text, size, "%s",
                                scalars[random_between(r, 0, COUNT(scalars) - 1)]);
    bool mapping = random_between(r, 0, 1);
    size_t used = (size_t)snprintf(text, size, mapping ? "{" : "[");
    int64_t n = random_between(r, 0, 3);
    for (int64_t i = 0; i < n; i++) {
        if (i > 0)
            used += (size_t)snprintf(text + used, size - used, "%s",
                                     commas[random_between(r, 0, random_between(r, 0, 9) ? 3 : 6)]);
        if (mapping)
            used += (size_t)snprintf(text + used, size - used,
                                     random_between(r, 0, 1) ? "k%d: " : "\"k%d\":", (int)i);
        used += write_flow(r, text + used, size - used, depth - 1);
    }
    return used + (size_t)snprintf(text + used, size - used, mapping ? "}" : "]");
}

static bool is_same(const struct doc_node *a, const struct doc_node *b)
{
    return a->kind == b->kind && a->plain == b->plain && a->text == b->text &&
           a->length == b->length && a->end == b->end && a->count == b->count &&
           a->line == b->line && a->column == b->column;
}

/* Whether the quick reader knows the text; if so libyaml's is asked too. */
static bool compare(const char *text, size_t length)
{
    struct doc slow, quick = {.capacity = 4, .size = 64};
    quick.node = malloc(quick.capacity * sizeof(*quick.node));
    quick.text = malloc(quick.size);
    assert_true(quick.node && quick.text);
    bool known = quick_read(&quick, text, length);
    if (known) {
        if (doc_read_yaml(&slow, text, length, NULL, NULL) < 0)
            fail_msg("libyaml refuses:\n%s", text);
        bool same = slow.n == quick.n && slow.used == quick.used &&
                    memcmp(slow.text, quick.text, slow.used) == 0;
        for (uint32_t i = 0; same && i < slow.n; i++)
            same = is_same(&slow.node[i], &quick.node[i]);
        if (!same)
            fail_msg("libyaml reads otherwise:\n%s", text);
        doc_clear(&slow);
    }
    doc_clear(&quick);
    return known;
}

static void block_text_is_read_alike(void **state)
{
    (void)state;
    struct random r = {1};
    int known = 0;
    for (int step = 0; step < STEPS; step++) {
        char text[1024];
        size_t length = 0;
        for (int64_t lines = random_between(&r, 1, LINES); lines > 0; lines--)
            length += write_line(&r, text + length, sizeof(text) - length);
        known += compare(text, length);
    }
    assert_true(known > STEPS / 200);
}

static void flow_text_is_read_alike(void **state)
{
    (void)state;
    struct random r = {2};
    int known = 0;
    for (int step = 0; step < STEPS / 4; step++) {
        char text[4096];
        size_t length = (size_t)snprintf(text, sizeof(text), random_between(&r, 0, 1) ? "" : "a: ");
        length += write_flow(&r, text + length, sizeof(text) - length, 4);
        known += compare(text, length);
    }
    assert_true(known > STEPS / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block_text_is_read_alike),
        cmocka_unit_test(flow_text_is_read_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
