/* Records: what a row of the store keeps of a job or a member and no query looks into, as bytes.
 *
 * One is read in a third of the time that as many columns take. It begins with its version; numbers are
 * zigzag and seven bits a byte, texts have their length before and a zero behind, so that they are used
 * where they lie. What is read is checked: a record that is cut, too long, or out of range is refused as
 * a whole.
 */
#ifndef SERVER_STORE_RECORD_H
#define SERVER_STORE_RECORD_H

#include "base/strbuf.h"
#include "server/store/store.h"

/* Of a job: gid, user, name, members, submitted, submitted_wall, nodes, cores, gpus. */
void store_job_encode(struct strbuf *out, const struct store_job *job);

/* 0, or -1 with EINVAL, and then *job is in no certain state. Its texts lie in data. */
int store_job_decode(const void *data, size_t length, struct store_job *job);

/* Of a member: all but job, member, state and end_wall. */
void store_member_encode(struct strbuf *out, const struct store_member *member);
int store_member_decode(const void *data, size_t length, struct store_member *member);

/* Whether all is in the ranges that decoding demands. */
bool store_job_is_valid(const struct store_job *job);
bool store_member_is_valid(const struct store_member *member);

#endif
