/* What becomes of a job that waits for pilots, in brief. */
#ifndef PILOT_WORDS_H
#define PILOT_WORDS_H

#include "base/strbuf.h"
#include "pilot/plan.h"

/* "pilot 3", "no pilot: its time"; nothing of what nodes that are up will do for. */
void pilot_put_fate(struct strbuf *out, const struct pilot_verdict *v);

#endif
