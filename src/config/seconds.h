/* Times as people read them: seconds with up to six decimals. Ticks are microseconds. */
#ifndef CONFIG_SECONDS_H
#define CONFIG_SECONDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/json_out.h"

#define SECONDS_TICKS INT64_C(1000000) /* ticks in a second */
#define SECONDS_MAX                                                                                \
    INT64_C(4000000000) /* the largest time: up to it, a double tells microseconds apart */

/* Read a number from 0 to SECONDS_MAX into ticks, exactly. False for anything else, or more than six
 * decimals.
 */
bool seconds_read(const json_t *value, int64_t *ticks);

/* Append ticks as seconds, without trailing zeros: 1800, 0.5, 4.709164. */
void seconds_put(struct strbuf *out, int64_t ticks);

/* Put ticks as seconds into JSON; negative ticks are null. */
void json_put_seconds(struct json_out *out, const char *key, int64_t ticks);

#endif
