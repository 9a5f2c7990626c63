/* A descriptor that another process of the same user passes to a task as it starts: its input or terminal. */
#ifndef ENGINE_LOCAL_ATTACH_H
#define ENGINE_LOCAL_ATTACH_H

#include <stdbool.h>

#define ATTACH_TEXT_MAX 200

/* Connect to a socket and receive the descriptor, which is closed by exec; takes a minute at most. Returns it,
 * or -1 with a line that says why; *gone: nobody is there. Only a listener of this process's user is
 * believed: a folder may have become someone else's since.
 */
int attach_receive(const char *path, bool *gone, char text[ATTACH_TEXT_MAX]);

/* The same where the socket is on the server's host: the agent of this node is asked, which listens at ATTACH_STREAMS in the
 * keeper's folder, whose descriptor is `folder`. It is told, up to the end of what is sent: a byte for what the
 * descriptor is to be (attach_as), and the path.
 */
#define ATTACH_STREAMS "streams"
int attach_receive_far(int folder, const char *path, int as, bool *gone,
                       char text[ATTACH_TEXT_MAX]);

/* Pass a descriptor to whoever has connected. */
void attach_pass(int fd, int passed);

#endif
