#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine_scene.h"

#define OTHER 12345

static char path[96];

/* Listen, as this user; returns the descriptor. */
static int listen_as(const struct scene *s, uid_t uid)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(path, sizeof(path), "%s/attach", s->folder);
    snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    assert_int_equal(seteuid(uid), 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(fd, 4), 0);
    assert_int_equal(seteuid(getuid()), 0);
    return fd;
}

/* Pass a descriptor to each of n who connect, from another process. */
static pid_t pass_to(int listener, int n, int passed)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid > 0)
        return pid;
    alarm(60);
    for (int i = 0; i < n; i++) {
        char byte = 0;
        struct iovec part = {&byte, 1};
        union {
            struct cmsghdr head;
            char room[CMSG_SPACE(sizeof(int))];
        } control = {.room = {0}};
        struct msghdr message = {.msg_iov = &part,
                                 .msg_iovlen = 1,
                                 .msg_control = &control,
                                 .msg_controllen = sizeof(control)};
        struct cmsghdr *c = CMSG_FIRSTHDR(&message);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(c), &passed, sizeof(passed));
        int fd = accept(listener, NULL, NULL);
        if (fd < 0 || sendmsg(fd, &message, 0) != 1)
            _exit(1);
        close(fd);
    }
    _exit(0);
}

static void is_passed(pid_t pid)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* The first task reads what it was passed, the second /dev/null. */
static void the_first_task_gets_the_input(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    const char *const argv[] = {"sh", "-c", "echo $T $(cat); exec <&-", NULL};
    const char *const env[2][2] = {{"T=0", NULL}, {"T=1", NULL}};
    const struct engine_task tasks[2] = {{.env = env[0]}, {.env = env[1]}};
    struct engine_run run = scene_run(s, argv);
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(write(ends[1], "typed\n", 6), 6);
    close(ends[1]);
    int listener = listen_as(s, getuid());
    pid_t passer = pass_to(listener, 1, ends[0]);
    run.tasks = tasks;
    run.n_tasks = 2;
    run.attach = path;
    run.attach_as = ENGINE_INPUT;
    scene_wait(s, scene_start(s, &run), ENGINE_ENDED);
    const char *text = scene_text(s, "out");
    assert_true(strcmp(text, "0 typed\n1\n") == 0 || strcmp(text, "1\n0 typed\n") == 0);
    is_passed(passer);
    close(ends[0]);
    close(listener);
    scene_end(s);
}

/* All streams are the terminal, which controls the session: so a shell in it has jobs. */
static void a_terminal_is_the_tasks_own(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    const char *const argv[] = {
        "sh", "-c", "test -t 0 && test -t 1 && test -t 2 && : </dev/tty && exit 9", NULL};
    struct engine_run run = scene_run(s, argv);
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(slave >= 0);
    int listener = listen_as(s, getuid());
    pid_t passer = pass_to(listener, 1, slave);
    run.attach = path;
    run.attach_as = ENGINE_TERMINAL;
    assert_int_equal(scene_wait(s, scene_start(s, &run), ENGINE_ENDED)->exit_status, 9);
    is_passed(passer);
    close(slave);
    close(master);
    close(listener);
    scene_end(s);
}

/* Where nobody is there, a keyboard has nothing to say; anything else fails, and nothing has run. */
static void who_is_gone_passes_nothing(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    const char *const argv[] = {"sh", "-c", "wc -c", NULL};
    struct engine_run run = scene_run(s, argv);
    snprintf(path, sizeof(path), "%s/attach", s->folder);
    run.attach = path;
    run.attach_as = ENGINE_KEYBOARD;
    assert_int_equal(scene_wait(s, scene_start(s, &run), ENGINE_ENDED)->exit_status, 0);
    assert_string_equal(scene_text(s, "out"), "0\n");
    close(listen_as(s, getuid())); /* the socket is there, and nobody listens */
    run.attach_as = ENGINE_INPUT;
    const struct engine_event *e = scene_wait(s, scene_start(s, &run), ENGINE_FAILED);
    assert_string_equal(e->text, "input: the client that passes it on is gone");
    assert_int_equal(e->exit_status, 0);
    run.attach_as = ENGINE_TERMINAL;
    e = scene_wait(s, scene_start(s, &run), ENGINE_FAILED);
    assert_string_equal(e->text, "terminal: the client that passes it on is gone");
    scene_end(s);
}

/* Somebody else has taken the place of the client: no task takes a terminal from there. */
static void another_user_passes_nothing(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    struct scene *s = scene_make();
    const char *const argv[] = {"true", NULL};
    struct engine_run run = scene_run(s, argv);
    assert_int_equal(chmod(s->folder, 0777), 0);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int listener = listen_as(s, OTHER);
    pid_t passer = pass_to(listener, 2, null);
    run.attach = path;
    for (int as = ENGINE_INPUT; as <= ENGINE_KEYBOARD; as++) {
        run.attach_as = (enum engine_attach)as;
        const struct engine_event *e = scene_wait(s, scene_start(s, &run), ENGINE_FAILED);
        assert_string_equal(e->text, "input: another user listens at its socket");
    }
    kill(passer, SIGKILL);
    waitpid(passer, NULL, 0);
    close(null);
    close(listener);
    scene_end(s);
}

/* As a shell has it: 127 if there is no such command, 126 if it can't be executed. */
static void what_cannot_run_has_a_status(void **state)
{
    (void)state;
    struct scene *s = scene_make();
    char file[160];
    const char *argv[] = {"no-such-command", NULL};
    struct engine_run run = scene_run(s, argv);
    assert_int_equal(scene_wait(s, scene_start(s, &run), ENGINE_FAILED)->exit_status, 127);
    argv[0] = "/no/such/command";
    assert_int_equal(scene_wait(s, scene_start(s, &run), ENGINE_FAILED)->exit_status, 127);
    snprintf(file, sizeof(file), "%s/file", s->folder);
    argv[0] = file;
    int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(write(fd, "#!/no/such/shell\n", 17), 17);
    close(fd);
    assert_int_equal(scene_wait(s, scene_start(s, &run), ENGINE_FAILED)->exit_status, 126);
    assert_int_equal(chmod(file, 0700), 0);
    assert_int_equal(scene_wait(s, scene_start(s, &run), ENGINE_FAILED)->exit_status, 126);
    run.directory = "/no/such/folder";
    assert_int_equal(scene_wait(s, scene_start(s, &run), ENGINE_FAILED)->exit_status, 0);
    scene_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_task_gets_the_input),
        cmocka_unit_test(a_terminal_is_the_tasks_own),
        cmocka_unit_test(who_is_gone_passes_nothing),
        cmocka_unit_test(another_user_passes_nothing),
        cmocka_unit_test(what_cannot_run_has_a_status),
    };
    return SCENE_RUN(tests);
}
