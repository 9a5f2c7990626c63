/* Output that a node keeps until the server has it, where the file is on the server's host alone.
 *
 * A task that starts looks for the proof of the file's folder (engine_run.output_proof): the name of a file there and
 * its inode, "NAME:INODE", which the server has made. Found, the folder is the server's, and the file is opened as any.
 * Else the task writes to SPOOL_FOLDER/KEY.STREAM in the keeper's folder, and SPOOL_FOLDER/KEY.STREAM.to says where
 * that belongs: 'a' (append) or 't' (truncate), the mode of a file that is made in three octal digits, and the path. Once the server has opened it, that is renamed to
 * KEY.STREAM.at.
 */
#ifndef ENGINE_LOCAL_SPOOL_H
#define ENGINE_LOCAL_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPOOL_FOLDER  "spool"
#define SPOOL_STREAMS 2 /* 0: output, 1: errors */
#define SPOOL_NAME    40

struct spool_ask {
    uint64_t key;
    int stream;
    const char *directory; /* of the run: where a path begins that is not absolute */
    const char *path, *proof;
    unsigned mode; /* of a file that is made */
    bool append;
    bool first; /* of the run's tasks: it decides for all */
};

#define SPOOL_NONE (-2)

/* Open the file that a task writes to, in the keeper's folder: a descriptor; SPOOL_NONE: it writes to `path` itself; -1
 * with errno.
 */
int spool_open(int folder, const struct spool_ask *ask);

/* "spool/KEY.STREAM" and what follows: "", ".to" or ".at". */
void spool_name(char name[SPOOL_NAME], uint64_t key, int stream, const char *suffix);

/* The key and the stream of a name without its folder: "KEY.STREAM". False: it is none. */
bool spool_name_read(const char *name, uint64_t *key, int *stream);

#endif
