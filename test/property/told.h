/* Laws of what is told of a job (match/text/names.h), for tests that have made one in whatever way. */
#ifndef TOLD_H
#define TOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "berth/resource.h"

struct match;

/* True if the job's short text names what it was given: as paths, which are vertices where siblings differ
 * in name.
 */
bool told_in_short(struct match *m, int64_t jobid);

/* True if what a job holds is written as what was found last, in every format; what was found last is then
 * that.
 */
bool told_as_found(struct match *m, int64_t jobid);

/* Hosts as a text, and those of an R (rv1_nosched, or "") as the same text. The caller frees them. */
char *told_hosts(const struct resource_host *hosts, size_t n);
char *told_hosts_of_r(const char *text, size_t length);

/* True if what a job holds by host is what its R says of hosts, or neither can be told. */
bool told_by_host(struct match *m, int64_t jobid);

#endif
