/* The module's configuration: what Flux's says of it, as input of the reader of config/config.h.
 *
 * Flux has its TOML as JSON. The table [sched-berth] has the keys of berth-config(5); the machine is Flux's, and so are
 * the names of queues, what they require and whose virtual queues they are ([queues], RFC 33).
 */
#ifndef FLUX_SETTINGS_H
#define FLUX_SETTINGS_H

#include <jansson.h>

#include "berth/error.h"
#include "config/config.h"

#define SETTINGS_TABLE "sched-berth"

/* Read and check Flux's configuration (an object), with so many ticks in a second. NULL with EINVAL and a text that begins
 * with the table's name, or ENOMEM. config_destroy frees it.
 */
struct config *settings_read(const json_t *conf, int64_t second, berth_error_t *err);

/* What the reader is given, with a machine of the caller's (a value that is copied): a text to free. NULL with EINVAL and a
 * text, or ENOMEM.
 */
char *settings_text(const json_t *conf, const json_t *machine, berth_error_t *err);

#endif
