/* Resources by name, and jobs as text.
 *
 * A text is a list of items with commas between them. An item is a path of names with "/" between them,
 * and each name may have ranges as in host lists (RFC 29): "node[0-3,7]", "gpu0", "node[0-1]/core[0-3]".
 * A resource's name is what graph_name prints. The first name of an item is looked up everywhere, each
 * further one at any depth below what the names before it mean: "node0/core3" is core 3 of node 0,
 * whatever is between. An item that begins with "/" is the whole path from the root, with every name:
 * "/cluster0/rack1/node[4-5]". An item may end in ":UNITS", which is ignored: "node0/memory0:16". A name
 * has no blanks or control characters, and none of ,/[].
 *
 * An item "rank:[0-3,7]" is what Flux knows by these ranks (RFC 22): of each, the topmost vertex that has it. Hosts
 * may have one name, ranks don't.
 *
 * Only resources that are reached from the root of the matcher's dominant subsystem have a name here. One
 * that can be reached in several ways is where it is reached first.
 */
#ifndef MATCH_NAMES_H
#define MATCH_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "berth/match.h"
#include "resource/hosts.h"

/* Find the vertices that a text names: *n of them, ascending, each once, in an array that the caller
 * frees. Every combination of names must exist. Errors: EINVAL with a text, it is not such a text or
 * names more vertices than the machine has; ENOENT with a text that names what is missing; ENOMEM.
 * O(names x vertices of that name, or vertices below); the first call after a change of the machine's
 * structure takes O(vertices) more.
 */
int match_select(struct match *m, const char *text, uint32_t **vertices, size_t *n,
                 berth_error_t *err);

/* Append a summary of what a job was given, as a text that match_select reads. It names what the job has
 * to itself, and nothing below that, so a node that it has to itself is "node0". What is in a node is
 * named with its node: "node0/core[0-3]". Nodes of which it has the same are joined:
 * "node[0-1]/core[0-3],node[0-1]/gpu0". Units of a divisible pool are given: "node0/memory0:16". More of
 * a path is written only where names are ambiguous: "node0/socket0/core[0-1]", "rack1/node0", or all of
 * it, "/cluster0/rack1/node0".
 *
 * match_select finds the same vertices, if no name has one of the characters above and no name is
 * repeated among the children of a vertex. Errors: ENOENT, no such job; ENOMEM. O(n log n) in what the
 * job holds and in what is below the nodes that it holds in part.
 */
int match_summary(struct match *m, int64_t jobid, struct strbuf *out);

/* As match_write, but of what a job holds now, with its times; right after the match that made the job,
 * the text is the same. What was found last is then this. Errors: ENOENT, no such job; or as match_write.
 */
int match_write_job(struct match *m, int64_t jobid, const char *format, const char **text,
                    size_t *length);

/* What a job holds now, by host: what "rv1_nosched" would say, as structs. What was found last is then this.
 * Errors: ENOENT, no such job; EINVAL, a host has no rank; ENOMEM.
 */
int match_hosts(struct match *m, int64_t jobid, struct hosts *hosts);

#endif
