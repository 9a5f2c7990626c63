/* What berth show says of the roles of a gang. */
#ifndef CLI_SHOW_ROLES_H
#define CLI_SHOW_ROLES_H

#include <jansson.h>

/* Print "role  worker: 17[1-8], min 6, 2 cores each; 6 running, 2 pending", a line for each role of a job. Where
 * nothing is known of members' states, it ends before the semicolon. The key has so many columns.
 */
void show_roles(const json_t *job, int width);

#endif
