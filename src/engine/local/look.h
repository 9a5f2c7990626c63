/* Ask the same of many processes, each of which may keep whoever asks waiting for as long as it likes.
 *
 * The questions are asked by readers, which are processes of their own and take one after the other. When
 * none of them gets on there is another one, so that who hangs at a process holds up no other; when the
 * time is over they are killed, and what was not answered is known. Nobody waits for a reader's end.
 * Where several processes of one user hang, that user's others are left out, so that no user can use up
 * the readers.
 */
#ifndef ENGINE_LOCAL_LOOK_H
#define ENGINE_LOCAL_LOOK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define LOOK_READERS 128 /* at most */
#define LOOK_STUCK   16  /* processes of one user, after which its others are left out */

enum look_answer {
    LOOK_NO,
    LOOK_YES,
    LOOK_AGAIN, /* nothing can be said just now */
    LOOK_NONE,  /* there was no answer in time */
};

struct look {
    pid_t pid;
    enum look_answer answer;
    uint64_t value; /* with LOOK_YES */
};

/* Asks one, and may hang. It runs in a process that has no file open but the standard ones. */
typedef enum look_answer look_question(const void *context, pid_t pid, uint64_t *value);

/* Ask all: pids are given, answers are set. Takes as long as the answers do: it ends when none has come
 * for `ms`, and when five times as long is over. 0, or -1 with errno if nobody could be asked. O(n)
 * questions. To be called by a process with one thread, which has to reap its children later.
 */
int look_at_all(struct look *v, size_t n, look_question *question, const void *context, int ms);

#endif
