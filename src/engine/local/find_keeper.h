/* Finding the keeper of a directory, or starting one. */
#ifndef ENGINE_LOCAL_FIND_KEEPER_H
#define ENGINE_LOCAL_FIND_KEEPER_H

#include "berth/error.h"
#include "engine/local/messages.h"

struct find_keeper {
    const char *directory;
    int fd;              /* of the directory */
    const char *program; /* berth-keeper */
    const char *cgroup;  /* NULL: the system's */
};

/* Open the directory, made if need be: the caller's own, and written by nobody else. -1 with a text. */
int find_keeper_directory(const char *path, berth_error_t *err);

/* A socket to the keeper, which has said what there is. Takes a few ms where one has to be started, some seconds where
 * another one must come to its end first. -1 with a text.
 */
int find_keeper(const struct find_keeper *where, struct message_hello *hello, berth_error_t *err);

#endif
