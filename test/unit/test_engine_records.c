#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/local/journal.h"
#include "engine/local/messages.h"
#include "engine/local/starts.h"
#include "engine/local/used_keys.h"

#define KEYS 200

static void used_keys_are_as_in_a_table(void **state)
{
    (void)state;
    struct used_keys u = {0};
    bool table[KEYS] = {false};
    uint32_t random = 1;
    for (int i = 0; i < 3000; i++) {
        random = random * 1664525 + 1013904223;
        uint64_t lo = (random >> 8) % KEYS;
        uint64_t hi = lo + (random >> 24) % 3;
        if (hi >= KEYS)
            hi = KEYS - 1;
        if (i % 300 == 0) {
            used_keys_clear(&u);
            memset(table, 0, sizeof(table));
        }
        assert_int_equal(used_keys_add(&u, lo, hi), 0);
        assert_true(used_keys_check(&u));
        for (uint64_t key = lo; key <= hi; key++)
            table[key] = true;
        if (i % 2 == 1) {
            uint64_t key = (random >> 16) % KEYS;
            assert_int_equal(used_keys_remove(&u, key), 0);
            assert_true(used_keys_check(&u));
            table[key] = false;
        }
        for (uint64_t key = 0; key < KEYS; key++)
            assert_int_equal(used_keys_has(&u, key), table[key]);
    }
    used_keys_clear(&u);
}

static void used_keys_reach_to_the_ends(void **state)
{
    (void)state;
    struct used_keys u = {0};
    assert_int_equal(used_keys_add(&u, 5, 4), -1);
    assert_int_equal(errno, EINVAL);
    assert_int_equal(used_keys_add(&u, UINT64_MAX, UINT64_MAX), 0);
    assert_int_equal(used_keys_add(&u, 0, 0), 0);
    assert_true(u.n == 2 && used_keys_has(&u, 0) && used_keys_has(&u, UINT64_MAX) &&
                !used_keys_has(&u, 1));
    assert_int_equal(used_keys_add(&u, 1, UINT64_MAX - 1), 0);
    assert_true(u.n == 1 && used_keys_check(&u));
    used_keys_clear(&u);
}

/* Scattered keys are joined at the low end: none that was used is forgotten. */
static void used_keys_are_bounded(void **state)
{
    (void)state;
    struct used_keys u = {0};
    for (uint64_t i = 0; i < 3 * USED_KEYS_MAX; i++)
        assert_int_equal(used_keys_add(&u, 10 * i, 10 * i), 0);
    assert_true(used_keys_check(&u) && u.n == USED_KEYS_MAX);
    for (uint64_t i = 0; i < 3 * USED_KEYS_MAX; i++)
        assert_true(used_keys_has(&u, 10 * i));
    assert_true(used_keys_has(&u, 5));
    assert_false(used_keys_has(&u, 10 * (3 * USED_KEYS_MAX - 1) - 5));
    used_keys_clear(&u);
}

static void take(const struct strbuf *b, enum message_kind kind, struct wire *w)
{
    size_t taken;
    for (size_t n = 0; n < b->len; n++)
        assert_int_equal(wire_next(b->data, n, w, &taken), 0);
    assert_int_equal(wire_next(b->data, b->len, w, &taken), 1);
    assert_int_equal(taken, b->len);
    assert_int_equal(wire_u8(w), kind);
}

static void a_run_is_read_as_it_was_written(void **state)
{
    (void)state;
    const char *const argv[] = {"a", "", "c d", NULL};
    const char *const env[] = {"A=1", NULL};
    const char *const own[] = {"B=2", "C=3", NULL};
    const gid_t groups[] = {7, 8, 9};
    const struct engine_task tasks[] = {{"0-3", own}, {NULL, NULL}};
    const struct engine_run run = {
        .key = 1ull << 40,
        .argv = argv,
        .script = "#!\0x",
        .script_length = 4,
        .env = env,
        .directory = "/d",
        .attach = "/s",
        .attach_as = ENGINE_TERMINAL,
        .output = "out",
        .append = true,
        .umask = 027,
        .as_user = true,
        .uid = 1000,
        .gid = 100,
        .groups = groups,
        .n_groups = 3,
        .memory = 1ll << 35,
        .processes = 10,
        .cpus = "0-7",
        .tasks = tasks,
        .n_tasks = 2,
    };
    struct strbuf b = {0};
    struct message_run read;
    struct wire w;
    message_put_start(&b, &run);
    take(&b, MESSAGE_START, &w);
    struct wire whole = w;
    assert_int_equal(message_start(&w, &read), 0);
    const struct engine_run *r = &read.run;
    assert_true(r->key == run.key && r->append && r->as_user && r->umask == 027);
    assert_true(r->uid == 1000 && r->gid == 100 && r->n_groups == 3 && r->groups[2] == 9);
    assert_true(r->memory == run.memory && r->processes == 10);
    assert_true(strcmp(r->attach, "/s") == 0 && r->attach_as == ENGINE_TERMINAL);
    assert_int_equal(r->script_length, 4);
    assert_memory_equal(r->script, "#!\0x", 4);
    assert_string_equal(r->argv[2], "c d");
    assert_string_equal(r->argv[1], "");
    assert_null(r->argv[3]);
    assert_string_equal(r->env[0], "A=1");
    assert_true(r->n_tasks == 2 && !r->input && !r->error && !r->tasks[1].cpus);
    assert_string_equal(r->tasks[0].cpus, "0-3");
    assert_string_equal(r->tasks[0].env[1], "C=3");
    assert_null(r->tasks[1].env[0]);
    message_run_clear(&read);
    for (size_t n = 0; n < whole.left; n++) {
        w = (struct wire){.at = whole.at, .left = n};
        assert_int_equal(message_start(&w, &read), -1);
        assert_int_equal(errno, EPROTO);
    }
    strbuf_clear(&b);
}

static void other_messages_are_read_as_they_were_written(void **state)
{
    (void)state;
    struct strbuf b = {0};
    struct wire w;
    struct message_signal signal;
    uint64_t number;
    message_put_signal(&b, &(struct message_signal){3, 15, true});
    take(&b, MESSAGE_SIGNAL, &w);
    assert_int_equal(message_signal(&w, &signal), 0);
    assert_true(signal.key == 3 && signal.signal == 15 && signal.tree);
    strbuf_reset(&b);
    message_put_acknowledge(&b, 99);
    take(&b, MESSAGE_ACKNOWLEDGE, &w);
    assert_int_equal(message_acknowledge(&w, &number), 0);
    assert_int_equal(number, 99);
    strbuf_reset(&b);
    const struct engine_event event = {ENGINE_FAILED, 4, 5, -6, 7, 8, 9, -1, 11, "why", false};
    struct engine_event read;
    message_put_event(&b, &event);
    take(&b, MESSAGE_EVENT, &w);
    assert_int_equal(message_event(&w, &read), 0);
    assert_true(read.what == ENGINE_FAILED && read.key == 4 && read.number == 5 && read.at == -6);
    assert_true(read.pid == 7 && read.exit_status == 8 && read.exit_signal == 9);
    assert_true(read.peak_memory == -1 && read.cpu_time == 11);
    assert_string_equal(read.text, "why");
    strbuf_reset(&b);
    uint64_t keys[] = {1, 9};
    struct message_hello hello = {.pid = 5, .keys = keys, .n_keys = 2};
    struct message_hello heard;
    assert_int_equal(used_keys_add(&hello.used, 2, 4), 0);
    message_put_hello(&b, &hello);
    take(&b, MESSAGE_HELLO, &w);
    assert_int_equal(message_hello(&w, &heard), 0);
    assert_true(heard.pid == 5 && !heard.notice && heard.n_keys == 2 && heard.keys[1] == 9);
    assert_true(used_keys_has(&heard.used, 3) && !used_keys_has(&heard.used, 5));
    message_hello_clear(&heard);
    used_keys_clear(&hello.used);
    strbuf_clear(&b);
}

/* What a reader was told, counted. */
struct told {
    int heads, tasks, ends, acknowledged, used;
    struct journal_task task;
    struct journal_end end;
};

static int on_head(void *context, const struct journal_head *head)
{
    assert_string_equal(head->boot, "boot");
    assert_true(head->id == 1 && head->base == 2 && head->acknowledged == 3);
    ((struct told *)context)->heads++;
    return 0;
}

static int on_task(void *context, const struct journal_task *task)
{
    ((struct told *)context)->tasks++;
    ((struct told *)context)->task = *task;
    return 0;
}

static int on_end(void *context, const struct journal_end *end)
{
    ((struct told *)context)->ends++;
    ((struct told *)context)->end = *end;
    return 0;
}

static int on_acknowledged(void *context, uint64_t number)
{
    assert_int_equal(number, 12);
    ((struct told *)context)->acknowledged++;
    return 0;
}

static int on_used(void *context, const struct used_range *range)
{
    assert_true(range->lo == 5 && range->hi == 6);
    ((struct told *)context)->used++;
    return 0;
}

static struct told read_all(const char *bytes, size_t n)
{
    struct told told = {0};
    const struct journal_reader reader = {&told,  on_head,         on_task,
                                          on_end, on_acknowledged, on_used};
    assert_int_equal(journal_read(bytes, n, &reader), 0);
    return told;
}

/* Cut or damaged anywhere, it loses the record that was hit and no other. */
static void a_journal_is_read_as_it_was_written(void **state)
{
    (void)state;
    struct strbuf b = {0};
    const struct journal_task task = {8, 1, 2, 3, 4, 5, 6};
    struct journal_end end = {.event = {.what = ENGINE_ENDED, .key = 8, .number = 10},
                              .started = 9};
    journal_put_head(&b, &(struct journal_head){1, 2, 3, "boot"});
    journal_put_task(&b, &task);
    journal_put_end(&b, &end);
    journal_put_acknowledged(&b, 12);
    journal_put_used(&b, &(struct used_range){5, 6});
    struct told told = read_all(b.data, b.len);
    assert_true(told.heads == 1 && told.tasks == 1 && told.ends == 1);
    assert_true(told.acknowledged == 1 && told.used == 1);
    assert_true(told.task.key == 8 && told.task.index == 1 && told.task.tasks == 2);
    assert_true(told.task.pid == 3 && told.task.since == 4 && told.task.until == 5 &&
                told.task.at == 6);
    assert_true(told.end.started == 9 && told.end.event.number == 10);
    for (size_t n = 0; n < b.len; n++) {
        told = read_all(b.data, n);
        assert_true(told.heads + told.tasks + told.ends + told.acknowledged + told.used < 5);
    }
    for (size_t i = 0; i < b.len; i++) {
        b.data[i] ^= 0x10;
        told = read_all(b.data, b.len);
        assert_int_equal(told.heads + told.tasks + told.ends + told.acknowledged + told.used, 4);
        b.data[i] ^= 0x10;
    }
    strbuf_clear(&b);
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The locks that are held are listed, whatever lies between them. */
static void starts_are_listed(void **state)
{
    (void)state;
    static const uint64_t keys[] = {
        0, 1, 2, 7, 8, 1000, 1ull << 40, ENGINE_KEY_MAX - 1, ENGINE_KEY_MAX};
    enum { N = sizeof(keys) / sizeof(keys[0]) };
    char folder[] = "/tmp/berth-starts.XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    int directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int file = starts_open(directory);
    assert_true(file >= 0);
    for (unsigned chosen = 0; chosen < 1u << N; chosen += 3) {
        uint64_t *listed, expected[N];
        int locks[N];
        size_t n, n_expected = 0;
        for (int i = 0; i < N; i++) {
            locks[i] = chosen & 1u << i ? starts_lock(directory, keys[i]) : -1;
            if (chosen & 1u << i)
                expected[n_expected++] = keys[i];
        }
        /* Two tasks of a run: it is held until both are gone. */
        int second = starts_lock(directory, keys[chosen % N]);
        if (!(chosen & 1u << chosen % N))
            expected[n_expected++] = keys[chosen % N];
        qsort(expected, n_expected, sizeof(*expected), by_number);
        assert_int_equal(starts_list(file, &listed, &n), 0);
        qsort(listed, n, sizeof(*listed), by_number);
        assert_int_equal(n, n_expected);
        assert_memory_equal(listed, expected, n * sizeof(*listed));
        free(listed);
        for (int i = 0; i < N; i++)
            if (locks[i] >= 0)
                close(locks[i]);
        for (int i = 0; i < N; i++)
            assert_int_equal(starts_held(file, keys[i]), i == (int)(chosen % N));
        close(second);
        assert_int_equal(starts_list(file, &listed, &n), 0);
        assert_int_equal(n, 0);
        free(listed);
    }
    close(file);
    close(directory);
    snprintf(path, sizeof(path), "%s/%s", folder, STARTS_FILE);
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(used_keys_are_as_in_a_table),
        cmocka_unit_test(used_keys_reach_to_the_ends),
        cmocka_unit_test(used_keys_are_bounded),
        cmocka_unit_test(a_run_is_read_as_it_was_written),
        cmocka_unit_test(other_messages_are_read_as_they_were_written),
        cmocka_unit_test(a_journal_is_read_as_it_was_written),
        cmocka_unit_test(starts_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
