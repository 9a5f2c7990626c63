#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine_scene.h"

#define SECOND INT64_C(1000000)

static const char *const hook_env[] = {"PATH=/usr/bin:/bin", "TOLD=7", NULL};

/* A shell's command with a prologue and an epilogue, which write into the folder as $DIR says. */
static uint64_t start(struct scene *s, const char *prologue, const char *command,
                      const char *epilogue, int64_t limit)
{
    char folder[100], before[400], after[400];
    snprintf(folder, sizeof(folder), "DIR=%s; ", s->folder);
    snprintf(before, sizeof(before), "%s%s", folder, prologue ? prologue : "");
    snprintf(after, sizeof(after), "%s%s", folder, epilogue ? epilogue : "");
    const struct engine_hooks hooks = {.prologue = prologue ? before : NULL,
                                       .epilogue = epilogue ? after : NULL,
                                       .limit = limit,
                                       .env = hook_env};
    const char *const argv[] = {"sh", "-c", command, NULL};
    struct engine_run run = scene_run(s, argv);
    run.hooks = &hooks;
    return scene_start(s, &run);
}

static void they_run_around_it(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    uint64_t key = start(s, "pwd >$DIR/before; env >>$DIR/before", "cat before >seen; exit 5",
                         "cat $DIR/seen >$DIR/after; echo told $TOLD", 60 * SECOND);
    const struct engine_event *ended = scene_wait(s, key, ENGINE_ENDED);
    assert_int_equal(ended->exit_status, 5);
    assert_string_equal(ended->text ? ended->text : "", "");
    const char *after = scene_text(s, "after"); /* it was written before the end was told */
    assert_true(strncmp(after, "/\n", 2) == 0);
    assert_non_null(strstr(after, "\nTOLD=7\n"));
    assert_non_null(strstr(after, "\nBERTH_RUN="));
    assert_null(strstr(after, "\nB=kept\n")); /* nothing of the run's own environment */
    scene_end(s);
}

static void a_prologue_that_fails_refuses_it(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    uint64_t key = start(s, "echo >&2; echo no room >&2; echo more; exit 3", "touch ran",
                         "touch $DIR/after", 60 * SECOND);
    const struct engine_event *refused = scene_wait(s, key, ENGINE_REFUSED);
    assert_string_equal(refused->text, "prologue: exit status 3: no room");
    assert_null(scene_heard(s, key, ENGINE_STARTED));
    key = start(s, "sleep 1000", "touch ran", "touch $DIR/after", SECOND);
    assert_string_equal(scene_wait(s, key, ENGINE_REFUSED)->text, "prologue: took longer than 1 s");
    char path[120];
    snprintf(path, sizeof(path), "%s/ran", s->folder);
    assert_int_equal(access(path, F_OK), -1);
    snprintf(path, sizeof(path), "%s/after", s->folder);
    assert_int_equal(access(path, F_OK), -1);
    scene_end(s);
}

static void an_epilogue_that_fails_is_told(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    uint64_t key = start(s, NULL, "true", "echo disk full; exit 4", 60 * SECOND);
    const struct engine_event *ended = scene_wait(s, key, ENGINE_ENDED);
    assert_int_equal(ended->exit_status, 0);
    assert_string_equal(ended->text, "epilogue: exit status 4: disk full");
    key = start(s, NULL, "exit 6", "sleep 1000", SECOND);
    ended = scene_wait(s, key, ENGINE_ENDED);
    assert_int_equal(ended->exit_status, 6);
    assert_string_equal(ended->text, "epilogue: took longer than 1 s");
    scene_end(s);
}

static void an_epilogue_is_not_killed_with_its_run(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    int begun = scene_fifo(s, "begun");
    uint64_t key = start(s, NULL, "sleep 1000 & exit 0",
                         "echo x >$DIR/begun; while [ ! -e $DIR/go ]; do sleep 0.02; done; "
                         "echo over >$DIR/after",
                         60 * SECOND);
    scene_line(begun); /* the process that was left behind is gone by now */
    s->e->ops->signal(s->e, key, SIGKILL, true);
    s->e->ops->flush(s->e);
    scene_take(s, 100);
    assert_null(scene_heard(s, key, ENGINE_ENDED));
    char path[120];
    snprintf(path, sizeof(path), "%s/go", s->folder);
    FILE *go = fopen(path, "w");
    assert_non_null(go);
    fclose(go);
    assert_int_equal(scene_wait(s, key, ENGINE_ENDED)->exit_signal, 0);
    assert_string_equal(scene_text(s, "after"), "over\n");
    close(begun);
    scene_end(s);
}

static void a_run_killed_in_its_prologue_has_an_epilogue(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    int begun = scene_fifo(s, "begun");
    uint64_t key = start(s, "echo x >$DIR/begun; sleep 1000", "touch ran", "echo over >$DIR/after",
                         60 * SECOND);
    scene_line(begun);
    s->e->ops->signal(s->e, key, SIGKILL, true);
    s->e->ops->flush(s->e);
    assert_int_equal(scene_wait(s, key, ENGINE_ENDED)->exit_signal, SIGKILL);
    assert_string_equal(scene_text(s, "after"), "over\n");
    close(begun);
    scene_end(s);
}

static void an_epilogue_ends_with_its_keeper(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    int begun = scene_fifo(s, "begun");
    uint64_t key =
        start(s, NULL, "true", "echo x >$DIR/begun; sleep 1000; touch $DIR/after", 600 * SECOND);
    scene_line(begun);
    scene_kill_keeper(s);
    scene_wait(s, key, ENGINE_LOST);
    close(begun);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_run_around_it),
        cmocka_unit_test(a_prologue_that_fails_refuses_it),
        cmocka_unit_test(an_epilogue_that_fails_is_told),
        cmocka_unit_test(an_epilogue_is_not_killed_with_its_run),
        cmocka_unit_test(a_run_killed_in_its_prologue_has_an_epilogue),
        cmocka_unit_test(an_epilogue_ends_with_its_keeper),
    };
    return SCENE_RUN(tests);
}
