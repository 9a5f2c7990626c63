/* Dates as people write them. */
#ifndef CONFIG_DATE_H
#define CONFIG_DATE_H

#include <stdint.h>
#include <time.h>

/* Seconds since 1970 of "2026-12-24", "2026-12-24T18:00" or "2026-12-24T18:00:30", also with a blank instead
 * of the T: in local time, or with a zone behind it, "2026-12-24T18:00Z", "2026-12-24T18:00+01:00". Returns 0,
 * or -1 with EINVAL for any other text, a day that there isn't, or one before 1970.
 */
int date_read(const char *text, int64_t *seconds);

/* Seconds since 1970 of a local time, which is normalised. Returns 0, or -1 with EINVAL. */
int date_local(struct tm *day, int64_t *seconds);

#endif
