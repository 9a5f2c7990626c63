/* What `berth top` shows, as lines: a summary, and one of four tables. */
#ifndef CLI_TOP_VIEW_H
#define CLI_TOP_VIEW_H

#include <stddef.h>
#include <stdint.h>

#include "cli/client/connection.h"

enum view_kind { VIEW_JOBS, VIEW_NODES, VIEW_QUEUES, VIEW_SHARES, VIEWS };
extern const char *const view_names[VIEWS];

struct view {
    char *text;      /* of the table, as lines */
    char **line;     /* in it; the first has the heads */
    int64_t *id;     /* of jobs: that of each line but the first */
    size_t n, n_ids; /* lines, ids */
    size_t cap_ids;
    char summary[200];
};

/* Ask the server, for a table as wide as so many columns. 0, or -1 with errno and a text; the view is then as it was. */
int view_read(struct view *v, struct connection *s, enum view_kind kind, size_t columns,
              berth_error_t *err);

void view_clear(struct view *v);

#endif
