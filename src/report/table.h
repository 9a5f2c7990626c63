/* The report as a table for people. */
#ifndef REPORT_TABLE_H
#define REPORT_TABLE_H

#include <stdio.h>

#include "report/report.h"

/* Print the workload, the settings and a column for each policy. Write errors stay in the stream. */
void table_print(const struct report *report, FILE *out);

#endif
