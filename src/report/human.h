/* Numbers as people read them: thousands separators and durations.
 *
 * Each writes into a buffer of HUMAN_SIZE bytes and returns it. The result never depends on the
 * locale.
 */
#ifndef REPORT_HUMAN_H
#define REPORT_HUMAN_H

#include <stdint.h>

#define HUMAN_SIZE 48

/* 1234567 -> "1,234,567" */
char *human_count(int64_t value, char buf[HUMAN_SIZE]);

/* 6836.872 with 2 decimals (0 to 6) -> "6,836.87"; rounded half away from zero */
char *human_real(double value, int decimals, char buf[HUMAN_SIZE]);

/* 6836 -> "1h 54m": the two largest units that matter, rounded to the smaller of them; years have
 * 365 days. Below a minute "12s", and "0s" for nothing.
 */
char *human_duration(int64_t seconds, char buf[HUMAN_SIZE]);

#endif
