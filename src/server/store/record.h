/* Records: the part of a row of a job or a member that no query looks into, as bytes.
 *
 * A record is read three times as fast as separate columns. It begins with its version; numbers are zigzag
 * varints; texts have their length before and a zero after them, so that they are used in place. Decoding
 * checks everything: a record that is truncated, too long or out of range is refused as a whole.
 */
#ifndef SERVER_STORE_RECORD_H
#define SERVER_STORE_RECORD_H

#include "base/strbuf.h"
#include "server/store/store.h"

/* Of a job: gid, user, name, members, submitted, submitted_wall, nodes, cores, gpus. */
void store_job_encode(struct strbuf *out, const struct store_job *job);

/* 0, or -1 with EINVAL and *job undefined. Its texts point into data. */
int store_job_decode(const void *data, size_t length, struct store_job *job);

/* Of a member: all but job, member, state and end_wall. */
void store_member_encode(struct strbuf *out, const struct store_member *member);
int store_member_decode(const void *data, size_t length, struct store_member *member);

/* Whether all fields are in the ranges that decoding accepts. */
bool store_job_is_valid(const struct store_job *job);
bool store_member_is_valid(const struct store_member *member);

#endif
