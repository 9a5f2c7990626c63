/* A picture of what happened: the Gantt chart of jobs that have ended, as `berth sim --plot` draws it. */
#ifndef CLI_CLIENT_PICTURE_H
#define CLI_CLIENT_PICTURE_H

#include "cli/client/talk.h"

/* Draw the jobs of a list, those of them that ran, to a file. Times are rounded to whole seconds. 0, or -1 with errno and a
 * text: EINVAL where none ran.
 */
int picture_draw(struct talk *talk, const char *list, const char *file, berth_error_t *err);

#endif
