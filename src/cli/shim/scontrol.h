/* The parts of scontrol. */
#ifndef CLI_SHIM_SCONTROL_H
#define CLI_SHIM_SCONTROL_H

#include <stdbool.h>

#include "base/strbuf.h"

/* Print a record of "NAME=VALUE" words, in lines or in one. */
void scontrol_print(struct strbuf *record, bool one_line);

/* ---- scontrol_nodes.c ---- */

/* show node [LIST]: of all nodes, or of these. Returns the exit status, as the next ones do. */
int scontrol_show_nodes(const char *list, bool one_line);

/* show partition [NAME] */
int scontrol_show_partitions(const char *name, bool one_line);

/* update NodeName=LIST State=STATE [Reason=TEXT]: words from NodeName on */
int scontrol_update_nodes(char **words, int n);

#endif
