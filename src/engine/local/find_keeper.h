/* Finding the keeper of a directory, or starting one. Nothing here waits. */
#ifndef ENGINE_LOCAL_FIND_KEEPER_H
#define ENGINE_LOCAL_FIND_KEEPER_H

#include <stddef.h>
#include <sys/types.h>

#include "base/strbuf.h"
#include "berth/error.h"
#include "engine/local/messages.h"

struct find_keeper {
    const char *directory;
    int fd;              /* of the directory */
    const char *program; /* berth-keeper */
    const char *cgroup;  /* NULL: the system's */
};

/* The program that starts a keeper. Its first process ends when the keeper can be reached, or says why it
 * can't be.
 */
struct keeper_starter {
    pid_t pid;
    int ended;  /* readable when it has ended; -1: there is none */
    int errors; /* the reading end of its standard error */
};

/* Open the directory, or make it: it must be the caller's own, and writable by no other user. -1 with a
 * text.
 */
int find_keeper_directory(const char *path, berth_error_t *err);

/* Connect to the keeper: returns a socket, and its pid. -1 with a text; ECONNREFUSED or ENOENT: there is
 * no keeper.
 */
int find_keeper_connect(const struct find_keeper *where, pid_t *pid, berth_error_t *err);

/* Read the keeper's greeting into a buffer and, once it is complete, decode it to *hello; bytes after it
 * stay in the buffer. 0, or -1 with EAGAIN (not yet), ECONNRESET (the keeper is gone), EPROTO or ENOMEM.
 */
int find_keeper_greeting(int fd, struct strbuf *in, struct message_hello *hello);

/* Start a keeper. 0, or -1 with a text. */
int find_keeper_start(const struct find_keeper *where, struct keeper_starter *to,
                      berth_error_t *err);

/* Whether the starter, which has ended, has started a keeper: 0, or -1 with a text and EIO. */
int find_keeper_started(struct keeper_starter *starter, berth_error_t *err);

/* Close the starter's descriptors, whether it has ended or not. */
void find_keeper_forget(struct keeper_starter *starter);

#endif
