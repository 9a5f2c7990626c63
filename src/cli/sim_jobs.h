/* The jobs of a scenario, printed. */
#ifndef CLI_SIM_JOBS_H
#define CLI_SIM_JOBS_H

#include "report/sharing.h"
#include "sim/play.h"

/* Print the jobs as they are, as a table, or as JSON with what shares came to (NULL: there are none). Returns 0, or -1 with
 * ENOMEM and a text.
 */
int sim_jobs_print(struct play *p, const char *name, const struct sharing *sharing, bool json,
                   berth_error_t *err);

/* Print what a text has so far, and empty it. Returns 0, or -1 if memory had run out. */
int sim_print_text(struct strbuf *text);

#endif
