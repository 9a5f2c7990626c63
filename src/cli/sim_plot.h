/* The picture of a scenario. */
#ifndef CLI_SIM_PLOT_H
#define CLI_SIM_PLOT_H

#include "berth/error.h"
#include "berth/match.h"
#include "report/outfile.h"
#include "report/sharing.h"
#include "sim/play.h"

/* Draw the jobs that have run, and those that are promised a start, on the rows of the machine (report/timeline.h), with
 * what shares came to (NULL: there are none), and close out. Returns 0, or -1 with errno and a text, and no file.
 * O(jobs log jobs).
 */
int sim_plot(struct play *play, const match_t *machine, const struct sharing *sharing,
             const char *title, struct outfile *out, berth_error_t *err);

#endif
