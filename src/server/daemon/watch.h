/* `berth pilot watch` beside the server, while there are pilots. */
#ifndef SERVER_DAEMON_WATCH_H
#define SERVER_DAEMON_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct watch {
    const char *directory, *socket; /* the server's */
    pid_t pid;                      /* 0: it does not run */
    int64_t next;                   /* not before: s, of CLOCK_MONOTONIC */
};

/* Start it if it is wanted and does not run. It ends by itself once there is no pilot or no server. */
void watch_want(struct watch *w, bool wanted);

#endif
