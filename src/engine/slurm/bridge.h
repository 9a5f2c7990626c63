/* What berth-slurm and berth-bridge say to each other: messages of a socket that keeps them apart, in the form of
 * engine/local/wire.h.
 *
 * berth-bridge submits jobs by libslurm, for which it stays there, and in a process of its own since libslurm ends the one it
 * is in when something is wrong, and waits while nobody answers. First it says BRIDGE_READY. Then it is sent the words of an
 * sbatch: a number, the script, how many words, and these; one after the other it says of each: the number, what has become
 * of it, and a text.
 */
#ifndef ENGINE_SLURM_BRIDGE_H
#define ENGINE_SLURM_BRIDGE_H

#include <stddef.h>

#define BRIDGE_FD    3                   /* the descriptor of berth-bridge */
#define BRIDGE_MOST  ((size_t)128 << 10) /* bytes of a message */
#define BRIDGE_WORDS 64                  /* of a submission, at most */

enum bridge_said {
    BRIDGE_READY = 1, /* of number 0 */
    BRIDGE_SUBMITTED, /* the text is the job's number */
    BRIDGE_FAILED,    /* the text is what sbatch says then */
    BRIDGE_LACKS,     /* a word that it does not know: nothing was done, sbatch may be asked */
};

#endif
