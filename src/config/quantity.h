/* Durations and sizes as people write them. */
#ifndef CONFIG_QUANTITY_H
#define CONFIG_QUANTITY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* A duration in microseconds: "90" and "90s" (decimals are fine: "0.5"), "5m", "1h30m", "1d", "2w", "MM:SS",
 * "HH:MM:SS", "D-HH:MM:SS". At most 4e9 seconds. Returns 0, or -1 with EINVAL for any other text.
 */
int quantity_duration(const char *text, int64_t *us);

/* A size in bytes: "4096", "4K", "4G", "1.5T", also "4GB" and "4GiB": each step is 1024. Returns 0, or -1
 * with EINVAL.
 */
int quantity_size(const char *text, int64_t *bytes);

/* The same from JSON: a number of seconds or of bytes, or such a text. Above 0, up to max ticks or 2^60
 * bytes. False for any other value, with the result unchanged.
 */
bool duration_read(const json_t *value, int64_t max, int64_t *us);
bool memory_read(const json_t *value, int64_t *bytes);

#endif
