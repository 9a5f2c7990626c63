/* What makes a program a daemon: its directory, its lock, its log, its place in the background. */
#ifndef SERVER_DAEMON_H
#define SERVER_DAEMON_H

#include <limits.h>
#include <stdbool.h>

#include "berth/error.h"

struct daemon {
    char directory[PATH_MAX];
    char socket[PATH_MAX];
    bool for_all;    /* run by root: it serves every user */
    bool foreground; /* it stays with who started it, and says there what it logs */
    int lock;        /* -1: none */
    int log;
    int ready; /* -1, or what the starter waits at */
};

/* Fill in directory and socket from the environment and make the directory if it isn't there. */
int daemon_find(struct daemon *d, berth_error_t *err);

/* Go into the background. Returns in the child; the parent ends when that is ready or has failed, with
 * status 0, or with 1 and its line on standard error. In the foreground nothing happens.
 */
int daemon_detach(struct daemon *d, berth_error_t *err);

/* Be the only one for the directory, and open the log. EBUSY: there is another. */
int daemon_lock(struct daemon *d, berth_error_t *err);

/* A line in the log: "2026-11-21T12:00:00.123Z started". */
void daemon_log(struct daemon *d, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Tell the starter, and systemd if that is who it is, that requests are answered from now on. */
void daemon_ready(struct daemon *d);

/* Tell the starter why not: one line. Returns the exit status. */
int daemon_failed(struct daemon *d, const berth_error_t *err);

/* Tell systemd what is going on: "STOPPING=1". Nothing if it isn't there. */
void daemon_notify(const char *state);

/* Give the lock back. */
void daemon_close(struct daemon *d);

#endif
