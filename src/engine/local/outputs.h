/* Files that the server writes for runs on nodes that do not have them (spool.h).
 *
 * The keeper there sends what a run writes, and sends it again when it does not know whether it was heard. How much is
 * in the file is noted in FOLDER/KEY.STREAM, before and after each write. So each byte is
 * written once, whenever the server, the keeper or what is between is killed. What is written is as durable as what a
 * task of this machine writes: it is not synced.
 */
#ifndef ENGINE_LOCAL_OUTPUTS_H
#define ENGINE_LOCAL_OUTPUTS_H

#include <stdbool.h>

#include "engine/local/messages.h"

struct outputs;

/* The folder is made when it is needed, with the one it is in. NULL with errno. O(notes that there are). */
struct outputs *outputs_open(const char *folder);
void outputs_close(struct outputs *o);

/* Do what a message says, and say what is in the file then. The trouble's text is valid until the next call. Waits for
 * the disk.
 */
void outputs_take(struct outputs *o, const struct message_output *m, struct message_written *to);

/* Whether something of a run has come in and its end is not acknowledged. O(1). */
bool outputs_has(const struct outputs *o, uint64_t key);

/* The run's end is acknowledged. O(1). */
void outputs_forget(struct outputs *o, uint64_t key);

#endif
