/* The thread of an attachment: it passes descriptors to tasks, and copies between our streams and theirs. */
#include <errno.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/client/attach_priv.h"
#include "cli/client/output.h"
#include "engine/local/attach.h"

#define LOOK_MS                                                                                    \
    300 /* how often to look whether we are in the foreground by now, and to say the end again */
#define REST_MS    2000 /* how long to wait for more of what a terminal shows */
#define END_OF_ALL 4    /* what a terminal is typed at the end of all input: ^D */

static bool is_foreground(const struct attach *a)
{
    return !a->is_terminal || tcgetpgrp(STDIN_FILENO) == getpgrp();
}

/* Whoever connects gets the descriptor, if it is our own user. */
static void meet(struct attach *a)
{
    struct ucred peer;
    socklen_t length = sizeof(peer);
    int fd = accept4(a->listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == geteuid()) {
        attach_pass(fd, a->passed);
        a->is_met = true;
    }
    close(fd);
}

/* Every key goes to the job, which has the terminal's usual ways itself. */
static void make_raw(struct attach *a)
{
    struct termios raw = a->saved;
    cfmakeraw(&raw);
    a->is_raw = tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0;
}

/* A terminal has no end: whatever reads it next, and so on, is told that there is no more. A program that
 * changes the terminal's ways loses what it was told before, so it is told again.
 */
static void type_end(struct attach *a)
{
    a->typed[0] = END_OF_ALL;
    a->at_typed = 0;
    a->n_typed = 1;
}

static void close_input(struct attach *a)
{
    a->is_open = false;
    if (a->as == ATTACH_TERMINAL) {
        type_end(a);
    } else {
        close(a->to);
        a->to = -1;
    }
}

/* Take what is typed. A read fails with EIO if we have just left the foreground. */
static void take_typed(struct attach *a)
{
    ssize_t n = read(STDIN_FILENO, a->typed, sizeof(a->typed));
    if (n > 0) {
        a->n_typed = (size_t)n;
        a->at_typed = 0;
    } else if (n == 0 ||
               (errno != EINTR && errno != EAGAIN && (errno != EIO || is_foreground(a)))) {
        close_input(a);
    }
}

static void put_typed(struct attach *a)
{
    ssize_t n = write(a->to, a->typed + a->at_typed, a->n_typed - a->at_typed);
    if (n > 0)
        a->at_typed += (size_t)n;
    else if (errno != EAGAIN && errno != EINTR)
        a->at_typed = a->n_typed; /* nobody reads it any more */
    if (a->at_typed == a->n_typed)
        a->at_typed = a->n_typed = 0;
}

/* Show what the terminal has. Returns false when there is no more for now. */
static bool show_terminal_output(const struct attach *a)
{
    char block[4096];
    ssize_t n = read(a->to, block, sizeof(block));
    if (n > 0)
        tail_write(STDOUT_FILENO, block, (size_t)n);
    return n > 0 || (n < 0 && errno == EINTR);
}

static void take_resized(const struct attach *a)
{
    struct signalfd_siginfo info;
    while (read(a->resized, &info, sizeof(info)) == (ssize_t)sizeof(info))
        ;
    if (a->as == ATTACH_TERMINAL)
        attach_size(a);
}

/* One round: wait, and do what there is. Returns false at the end. */
static bool serve_attach_round(struct attach *a)
{
    bool terminal = a->as == ATTACH_TERMINAL, front = is_foreground(a);
    if (terminal && a->is_met && a->is_terminal && front && !a->is_raw)
        make_raw(a);
    bool reads = a->is_met && a->is_open && a->n_typed == 0 && front;
    short to = (short)((terminal ? POLLIN : 0) | (a->n_typed > 0 ? POLLOUT : 0));
    struct pollfd at[] = {{.fd = a->stop, .events = POLLIN},
                          {.fd = a->listener, .events = POLLIN},
                          {.fd = a->resized, .events = POLLIN},
                          {.fd = reads ? STDIN_FILENO : -1, .events = POLLIN},
                          {.fd = to ? a->to : -1, .events = to}};
    bool ended = terminal && !a->is_open;
    int n = poll(at, 5, a->is_met && (ended || (a->is_open && !front)) ? LOOK_MS : -1);
    if (n < 0)
        return errno == EINTR;
    if (n == 0 && ended && a->n_typed == 0)
        type_end(a);
    if (at[1].revents)
        meet(a);
    if (at[2].revents)
        take_resized(a);
    if (at[4].revents & POLLIN)
        show_terminal_output(a);
    if (at[4].revents & (POLLOUT | POLLERR))
        put_typed(a);
    if (at[3].revents)
        take_typed(a);
    return !at[0].revents;
}

/* What the job's processes have written last may still be on its way from another host: the end of it is that the
 * terminal is closed by all others.
 */
static void show_rest(struct attach *a)
{
    struct pollfd at = {.fd = a->to, .events = POLLIN};
    if (a->as != ATTACH_TERMINAL)
        return;
    close(a->passed);
    a->passed = -1;
    while (a->is_met && poll(&at, 1, REST_MS) > 0 && show_terminal_output(a))
        ;
}

void *attach_thread(void *attach)
{
    struct attach *a = attach;
    while (serve_attach_round(a))
        ;
    show_rest(a);
    if (a->is_raw)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &a->saved);
    return NULL;
}
