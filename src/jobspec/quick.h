/* A reader for the subset of YAML that most jobspecs use, several times as fast as libyaml. */
#ifndef JOBSPEC_QUICK_H
#define JOBSPEC_QUICK_H

#include <stdbool.h>
#include <stddef.h>

#include "jobspec/doc.h"

/* Read a document into d, which is empty. True: the tree is the same that libyaml's reader makes. False:
 * the text is wrong or needs libyaml, or memory ran out; the content of d is then undefined.
 */
bool quick_read(struct doc *d, const char *text, size_t length);

#endif
