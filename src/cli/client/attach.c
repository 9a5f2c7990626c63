/* Opening and closing what a job is attached to: the socket, the job's terminal, our own terminal. */
#include "cli/client/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/errtext.h"
#include "cli/client/attach_priv.h"

enum attach_as attach_input(void)
{
    struct stat st;
    if (fstat(STDIN_FILENO, &st) < 0 || (fcntl(STDIN_FILENO, F_GETFL) & O_ACCMODE) == O_WRONLY)
        return ATTACH_NOTHING;
    if (isatty(STDIN_FILENO))
        return ATTACH_KEYBOARD;
    bool null = S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3);
    return null || S_ISDIR(st.st_mode) ? ATTACH_NOTHING : ATTACH_INPUT;
}

/* A socket in a new folder that is ours alone. */
static int listen_in_new_folder(struct attach *a, berth_error_t *err)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    const char *base = getenv("XDG_RUNTIME_DIR");
    size_t most = sizeof(at.sun_path) - sizeof("/berth-XXXXXX/socket");
    if (!base || *base != '/' || strlen(base) > most || access(base, W_OK | X_OK) < 0)
        base = "/tmp";
    snprintf(a->folder, sizeof(a->folder), "%s/berth-XXXXXX", base);
    if (!mkdtemp(a->folder)) {
        a->folder[0] = '\0';
        return errtext_set(err, errno, "%s: %s", base, strerror(errno));
    }
    snprintf(a->path, sizeof(a->path), "%s/socket", a->folder);
    snprintf(at.sun_path, sizeof(at.sun_path), "%.100s/socket", a->folder);
    a->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (a->listener < 0 || bind(a->listener, (const struct sockaddr *)&at, sizeof(at)) < 0 ||
        listen(a->listener, 8) < 0)
        return errtext_set(err, errno, "%s: %s", a->path, strerror(errno));
    return 0;
}

void attach_size(const struct attach *a)
{
    struct winsize size;
    if (ioctl(STDIN_FILENO, TIOCGWINSZ, &size) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        ioctl(a->to, TIOCSWINSZ, &size);
}

/* The job's terminal: as large as ours, and with its settings. */
static int open_terminal(struct attach *a, berth_error_t *err)
{
    char name[64];
    a->to = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (a->to < 0 || grantpt(a->to) < 0 || unlockpt(a->to) < 0 ||
        ptsname_r(a->to, name, sizeof(name)) != 0)
        return errtext_set(err, errno, "a terminal: %s", strerror(errno));
    a->passed = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (a->passed < 0 || fchmod(a->passed, 0600) < 0 || fcntl(a->to, F_SETFL, O_NONBLOCK) < 0)
        return errtext_set(err, errno, "%s: %s", name, strerror(errno));
    if (a->is_terminal)
        tcsetattr(a->passed, TCSANOW, &a->saved);
    attach_size(a);
    return 0;
}

static int open_ends(struct attach *a, berth_error_t *err)
{
    int ends[2];
    if (a->as == ATTACH_TERMINAL)
        return open_terminal(a, err);
    if (a->as == ATTACH_INPUT) {
        a->passed = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
        return a->passed < 0 ? errtext_set(err, errno, "standard input: %s", strerror(errno)) : 0;
    }
    if (pipe2(ends, O_CLOEXEC) < 0)
        return errtext_set(err, errno, "a pipe: %s", strerror(errno));
    a->passed = ends[0];
    a->to = ends[1];
    fcntl(a->to, F_SETFL, O_NONBLOCK);
    return 0;
}

/* The thread takes no signals but, as a descriptor, that the window has another size. */
static int start_thread(struct attach *a, berth_error_t *err)
{
    sigset_t all, size;
    sigemptyset(&size);
    sigaddset(&size, SIGWINCH);
    a->stop = eventfd(0, EFD_CLOEXEC);
    a->resized = signalfd(-1, &size, SFD_CLOEXEC | SFD_NONBLOCK);
    if (a->stop < 0 || a->resized < 0)
        return errtext_set(err, errno, "standard input: %s", strerror(errno));
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &a->mask);
    sigset_t ours = a->mask;
    sigaddset(&ours, SIGWINCH);
    int rc = pthread_create(&a->thread, NULL, attach_thread, a);
    pthread_sigmask(SIG_SETMASK, rc == 0 ? &ours : &a->mask, NULL);
    a->runs = rc == 0;
    return rc == 0 ? 0 : errtext_set(err, rc, "a thread: %s", strerror(rc));
}

struct attach *attach_open(enum attach_as as, berth_error_t *err)
{
    struct attach *a = calloc(1, sizeof(*a));
    if (!a) {
        errtext_no_memory(err);
        return NULL;
    }
    a->as = as;
    a->listener = a->passed = a->to = a->stop = a->resized = -1;
    a->is_terminal = isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &a->saved) == 0;
    a->is_open = as != ATTACH_INPUT;
    if (listen_in_new_folder(a, err) == 0 && open_ends(a, err) == 0 && start_thread(a, err) == 0)
        return a;
    int saved = errno;
    attach_close(a);
    errno = saved;
    return NULL;
}

json_t *attach_request(const struct attach *a)
{
    static const char *const words[] = {
        [ATTACH_INPUT] = "input", [ATTACH_KEYBOARD] = "keyboard", [ATTACH_TERMINAL] = "terminal"};
    return json_pack("{s:s, s:s}", "socket", a->path, "as", words[a->as]);
}

void attach_close(struct attach *a)
{
    const uint64_t one = 1;
    if (!a)
        return;
    if (a->runs) {
        while (write(a->stop, &one, sizeof(one)) < 0 && errno == EINTR)
            ;
        pthread_join(a->thread, NULL);
        pthread_sigmask(SIG_SETMASK, &a->mask, NULL);
    }
    if (a->listener >= 0)
        unlink(a->path);
    if (a->folder[0])
        rmdir(a->folder);
    const int all[] = {a->listener, a->passed, a->to, a->stop, a->resized};
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        if (all[i] >= 0)
            close(all[i]);
    free(a);
}
