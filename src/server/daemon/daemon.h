/* Being a daemon: directory, lock, log, running in the background. */
#ifndef SERVER_DAEMON_H
#define SERVER_DAEMON_H

#include <limits.h>
#include <stdbool.h>

#include "berth/error.h"

struct daemon {
    char directory[PATH_MAX];
    char socket[PATH_MAX];
    bool for_all;    /* run by root: it serves every user */
    bool foreground; /* stay with the starter, and also log to standard error */
    int lock;        /* -1: none */
    int log;
    int ready; /* pipe to the waiting starter; -1: none */
};

/* Set directory and socket from the environment, and create the directory if need be. */
int daemon_find(struct daemon *d, berth_error_t *err);

/* Go into the background. Returns in the child; the parent exits when the child is ready (status 0) or has
 * failed (1, with its line on standard error). Does nothing in the foreground.
 */
int daemon_detach(struct daemon *d, berth_error_t *err);

/* Lock the directory and open the log. EBUSY: another daemon holds it. */
int daemon_lock(struct daemon *d, berth_error_t *err);

/* Open the log again, whose file may have been moved aside: what follows goes into a new one. If that can't be
 * opened, a line in the old one says so, which is kept.
 */
void daemon_reopen_log(struct daemon *d);

/* Write a line to the log: "2026-11-21T12:00:00.123Z started". */
void daemon_log(struct daemon *d, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Tell the starter, and systemd, that requests are served. */
void daemon_ready(struct daemon *d);

/* Tell the starter why the daemon failed, in one line. Returns the exit status. */
int daemon_failed(struct daemon *d, const berth_error_t *err);

/* Notify systemd, if present: "STOPPING=1". */
void daemon_notify(const char *state);

/* Release the lock and close the log. */
void daemon_close(struct daemon *d);

#endif
