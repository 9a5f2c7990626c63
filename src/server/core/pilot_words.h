/* Which pilot a job waits for, and what becomes of it where pilots are asked for by themselves, in words. */
#ifndef SERVER_CORE_PILOT_WORDS_H
#define SERVER_CORE_PILOT_WORDS_H

#include "base/strbuf.h"
#include "server/core/pilots_auto.h"

/* "Pilot 3 is asked for; Slurm says PENDING, Priority, and expects it in 12m." Nothing where nodes that are up will do. */
void pilot_words(struct strbuf *out, const server_t *s, const struct auto_rule *rule,
                 const struct auto_look *look, const struct pilot_verdict *v);

/* "What it waits for may come with pilot 3, which Slurm has been asked for ...": the first that was asked for by hand and has
 * not come; else nothing.
 */
void pilot_words_asked(struct strbuf *out, const server_t *s);

#endif
