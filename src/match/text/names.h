/* Resources by name, and jobs as text.
 *
 * A text names resources in items with commas between them. An item is a path of names with "/" between
 * them, each of which may have ranges as host lists have (RFC 29): "node[0-3,7]", "gpu0",
 * "node[0-1]/core[0-3]". A resource's name is what graph_name prints. The first name of an item is looked
 * for everywhere, each further one at any depth below what the ones before it name: "node0/core3" is core
 * 3 of node 0, whatever is between. An item that begins with "/" says the whole path from the root, every
 * name of it: "/cluster0/rack1/node[4-5]". Behind an item may stand ":UNITS", which is read over:
 * "node0/memory0:16". A name has no blanks or control characters, and none of ,/[].
 *
 * Only what is there and is reached from the root of the matcher's dominant subsystem has a name here;
 * what can be reached in several ways is where it is reached first.
 */
#ifndef MATCH_NAMES_H
#define MATCH_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "berth/match.h"
#include "resource/hosts.h"

/* The vertices that a text names: *n of them, ascending, each once, in an array that the caller frees.
 * Every combination of names must be there. EINVAL with a text: it isn't such a text, or names more than
 * the machine has; ENOENT with a text: something is missing, which it names; ENOMEM.
 * O(names x vertices of that name, or vertices below); the first call after a change of the machine's
 * structure takes O(vertices) more.
 */
int match_select(struct match *m, const char *text, uint32_t **vertices, size_t *n,
                 berth_error_t *err);

/* Append what a job was given, as a text that match_select reads: what it holds for itself, without what
 * is below that, so that a node it has alone is "node0". What is in a node is named by that:
 * "node0/core[0-3]"; nodes with the same are joined: "node[0-1]/core[0-3],node[0-1]/gpu0"; of a divisible
 * pool the units are told: "node0/memory0:16". More of a path is told only where names repeat:
 * "node0/socket0/core[0-1]", "rack1/node0", or all of it, "/cluster0/rack1/node0". match_select gives
 * these same vertices, if no name has one of the characters above and none is repeated among the children
 * of a vertex. ENOENT: no such job; ENOMEM. O(n log n) in what it holds, and in what is below the nodes
 * that it holds in part.
 */
int match_summary(struct match *m, int64_t jobid, struct strbuf *out);

/* As match_write, of what a job holds now, for its times: right after the match that made it, the same
 * text. What was found last is then this. ENOENT: no such job, or as match_write.
 */
int match_write_job(struct match *m, int64_t jobid, const char *format, const char **text,
                    size_t *length);

/* What a job holds now, by host: what "rv1_nosched" would say, as structs. What was found last is then this.
 * ENOENT: no such job; EINVAL: a host has no rank; ENOMEM.
 */
int match_hosts(struct match *m, int64_t jobid, struct hosts *hosts);

#endif
