/* jobspec/short.c: the short form, completed and as a jobspec. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "berth/jobspec.h"
#include "jobspec/short.h"

/* The resources of a form, once it is complete. */
static void expect(struct short_form form, const char *expected)
{
    struct strbuf text = {0}, found = {0};
    const char *why;
    berth_error_t err;
    assert_null(short_complete(&form, &why));
    short_put(&text, &form);
    jobspec_t *spec = jobspec_parse(text.data, text.len, NULL, &err);
    assert_non_null(spec);
    for (uint32_t i = 0; i < spec->nresources; i++) {
        strbuf_puts(&found, i ? " " : "");
        strbuf_puts(&found, spec->resources[i].type);
        strbuf_put_uint(&found, spec->resources[i].count.min);
        if (spec->resources[i].count.max > spec->resources[i].count.min) {
            strbuf_putc(&found, '-');
            strbuf_put_uint(&found, spec->resources[i].count.max);
        }
        if (spec->resources[i].unit)
            strbuf_puts(&found, spec->resources[i].unit);
        if (spec->resources[i].exclusive == JOBSPEC_EXCLUSIVE_TRUE)
            strbuf_putc(&found, 'x');
        if (spec->resources[i].exclusive == JOBSPEC_EXCLUSIVE_FALSE)
            strbuf_putc(&found, 's');
    }
    assert_string_equal(strbuf_text(&found), expected);
    assert_int_equal(spec->constraints != NULL, form.constraint != NULL);
    jobspec_destroy(spec);
    strbuf_clear(&text);
    strbuf_clear(&found);
}

static void forms_are_jobspecs(void **state)
{
    (void)state;
    expect((struct short_form){0}, "slot1 core1");
    expect((struct short_form){.tasks = 4, .cores = 2, .gpus = 1}, "slot4 core2 gpu1");
    expect((struct short_form){.gpus = 1}, "slot1 core1 gpu1");
    expect((struct short_form){.nodes = 3}, "slot3 node1x");
    expect((struct short_form){.nodes = 3, .exclusive = true}, "slot3 node1x");
    expect((struct short_form){.nodes = 3, .tasks = 3}, "node3 slot1 core1");
    expect((struct short_form){.nodes = 2, .tasks = 5, .cores = 2, .memory = 5},
           "node2 slot1 core6 memory3");
    expect((struct short_form){.nodes = 3, .nodes_max = 5}, "slot3-5 node1x");
    expect((struct short_form){.nodes = 3, .nodes_max = 3}, "slot3 node1x");
    expect((struct short_form){.nodes = 2, .nodes_max = 4, .tasks = 4, .cores = 2, .memory = 5},
           "node2-4 slot1 core4 memory3");
    expect((struct short_form){.exclusive = true}, "node1x slot1 core1");
    expect((struct short_form){.tasks = 2, .cores = 3, .memory = 7, .unit = "GB"},
           "node1 slot1 core6 memory7GB");
    /* The gpu is not in the slot: it stands beside it. */
    expect((struct short_form){.gpu_memory = 8}, "node1 slot1 core1 gpu1s gpu-memory8x");
    expect((struct short_form){.tasks = 4, .gpus = 1, .gpu_memory = 8},
           "node1 slot1 core4 gpu4s gpu-memory8x");
    expect((struct short_form){.nodes = 2, .tasks = 4, .gpus = 1, .memory = 6, .gpu_memory = 8},
           "node2 slot1 core2 memory3 gpu2s gpu-memory8x");
    expect((struct short_form){.nodes = 2, .gpu_memory = 8},
           "node2 slot1 core1 gpu1s gpu-memory8x");
    expect((struct short_form){.constraint = "{\"properties\":[\"fast\"]}"}, "slot1 core1");
}

static void what_is_wrong_is_told(void **state)
{
    struct short_form few = {.nodes = 3, .tasks = 2}, many = {.tasks = 65536, .cores = 65536},
                      much = {.memory = INT64_C(1) << 31};
    const char *why = NULL;
    (void)state;
    assert_string_equal(short_complete(&few, &why), "tasks");
    assert_string_equal(why, "at least as many tasks as nodes");
    assert_string_equal(short_complete(&many, &why), "cores");
    struct short_form alone = {.nodes_max = 3}, less = {.nodes = 3, .nodes_max = 2},
                      uneven = {.nodes = 2, .nodes_max = 3, .tasks = 3},
                      huge = {.nodes = 1, .nodes_max = 65536, .tasks = 65536};
    assert_string_equal(short_complete(&alone, &why), "nodes_max");
    assert_string_equal(why, "nodes beside it");
    assert_string_equal(short_complete(&less, &why), "nodes_max");
    assert_string_equal(why, "at least as many as nodes");
    assert_string_equal(short_complete(&uneven, &why), "tasks");
    assert_string_equal(why, "as many on each node, of which there may be more");
    assert_string_equal(short_complete(&huge, &why), "cores");
    assert_string_equal(short_complete(&much, &why), "cores");
    assert_string_equal(why, "fewer in all");
    struct short_form whole = {.gpu_memory = 8, .exclusive = true};
    assert_string_equal(short_complete(&whole, &why), "gpu_memory");
    assert_string_equal(why, "no whole nodes beside it, which have all of their GPUs");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(forms_are_jobspecs),
                                       cmocka_unit_test(what_is_wrong_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
