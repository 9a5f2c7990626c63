/* Durations and sizes as people write them. */
#ifndef CONFIG_QUANTITY_H
#define CONFIG_QUANTITY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* A duration in microseconds: "90" and "90s" (decimals are fine: "0.5"), "5m", "1h30m", "1d", "MM:SS", "HH:MM:SS",
 * "D-HH:MM:SS". At most 4e9 seconds. 0, or -1 with EINVAL for what is none.
 */
int quantity_duration(const char *text, int64_t *us);

/* A size in bytes: "4096", "4K", "4G", "1.5T", also "4GB" and "4GiB": each step is 1024. 0, or -1 with EINVAL. */
int quantity_size(const char *text, int64_t *bytes);

/* The same as JSON: a number of seconds or of bytes, or such a text. Above 0, to max ticks or to 2^60
 * bytes. False, and what it is read into as it was, for what is none.
 */
bool duration_read(const json_t *value, int64_t max, int64_t *us);
bool memory_read(const json_t *value, int64_t *bytes);

#endif
