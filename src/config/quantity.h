/* Durations and sizes as people write them. */
#ifndef CONFIG_QUANTITY_H
#define CONFIG_QUANTITY_H

#include <stdint.h>

/* A duration in microseconds: "90" and "90s" (decimals are fine: "0.5"), "5m", "1h30m", "1d", "MM:SS", "HH:MM:SS",
 * "D-HH:MM:SS". At most 4e9 seconds. 0, or -1 with EINVAL for what is none.
 */
int quantity_duration(const char *text, int64_t *us);

/* A size in bytes: "4096", "4K", "4G", "1.5T", also "4GB" and "4GiB": each step is 1024. 0, or -1 with EINVAL. */
int quantity_size(const char *text, int64_t *bytes);

#endif
