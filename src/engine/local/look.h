/* Asking the same question about many processes, each of which may block whoever asks for as long as it
 * likes.
 *
 * Readers ask the questions. They are child processes and take one question after the other. When none of
 * them makes progress another one is started, so that a reader that hangs at a process delays no other
 * question. When the time is over the readers are killed, and the remaining questions have no answer.
 * Nobody waits for a reader to end. If several processes of a user hang, that user's other processes are
 * left out, so that no user can use up the readers.
 */
#ifndef ENGINE_LOCAL_LOOK_H
#define ENGINE_LOCAL_LOOK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define LOOK_READERS 128 /* at most */
#define LOOK_STUCK   16 /* this many processes of a user hang before the user's others are left out */

enum look_answer {
    LOOK_NO,
    LOOK_YES,
    LOOK_AGAIN, /* there is no answer just now */
    LOOK_NONE,  /* there was no answer in time */
};

struct look {
    pid_t pid;
    enum look_answer answer;
    uint64_t value; /* with LOOK_YES */
};

/* Asks about one process, and may hang. It runs in a process that has only the standard files open. */
typedef enum look_answer look_question(const void *context, pid_t pid, uint64_t *value);

/* Ask about all processes of v, whose pids are given, and set the answers. The call ends with the last
 * answer, or when none has come for `ms`, or after five times `ms`. 0, or -1 with errno if no reader
 * could be started. O(n) questions. Only for a process with one thread, which has to reap its children
 * later.
 */
int look_at_all(struct look *v, size_t n, look_question *question, const void *context, int ms);

#endif
