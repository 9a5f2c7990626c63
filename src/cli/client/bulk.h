/* Many jobs at once. */
#ifndef CLI_CLIENT_BULK_H
#define CLI_CLIENT_BULK_H

#include "cli/client/talk.h"

/* Hand in the jobs of a file ("-": standard input) with an array in JSON, and print their ids. 0, or -1 with errno. */
int bulk_submit(struct talk *s, const char *path, berth_error_t *err);

#endif
