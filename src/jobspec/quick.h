/* A reader of the YAML that jobspecs are mostly written in, several times as fast as libyaml. */
#ifndef JOBSPEC_QUICK_H
#define JOBSPEC_QUICK_H

#include <stdbool.h>
#include <stddef.h>

#include "jobspec/doc.h"

/* Read a document into d, which is empty. True: the tree is the one that libyaml's reader makes.
 * False: the text is wrong, or holds something that is left to libyaml, or there is no memory; d
 * then holds anything.
 */
bool quick_read(struct doc *d, const char *text, size_t length);

#endif
