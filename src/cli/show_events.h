/* What berth show says of the events of a job. */
#ifndef CLI_SHOW_EVENTS_H
#define CLI_SHOW_EVENTS_H

#include <jansson.h>
#include <stdbool.h>

/* Print "  2026-11-22 08:30:15  [3] done, exit 0", a line for each event: its time, its member if it has one and is not
 * the member shown, what happened and the data that say something. A true one is its name alone.
 */
void show_events(const json_t *events, bool of_member);

#endif
