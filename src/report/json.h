/* The report as JSON for programs. */
#ifndef REPORT_JSON_H
#define REPORT_JSON_H

#include <jansson.h>
#include <stdio.h>

#include "report/report.h"
#include "report/sharing.h"

/* Print one object, as berth-sim(1) describes it, and a newline. Returns 0, or -1 with errno and a
 * text: ENOMEM, or the write error.
 */
int json_print(const struct report *report, FILE *out, berth_error_t *err);

/* What shares came to, as the key "shares" has it. NULL with ENOMEM. */
json_t *json_of_sharing(const struct sharing *sharing);

#endif
