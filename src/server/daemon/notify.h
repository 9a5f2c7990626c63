/* Starting what a user wants to be told by. */
#ifndef SERVER_DAEMON_NOTIFY_H
#define SERVER_DAEMON_NOTIFY_H

#include "server/server.h"

/* Start the command, or the program that sends to a URL or a mailbox, as the user, and do not wait for it. What fails is
 * not told: there is nobody to tell.
 */
void notify_start(const struct server_notification *n);

#endif
