/* Error text for people.
 * Calls of libberth return 0 or -1 (or a pointer or NULL) and set errno. Where a person will read the
 * reason, the last argument takes an error text. It is written only on failure, and may be NULL.
 */
#ifndef BERTH_ERROR_H
#define BERTH_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    char text[320]; /* one line without a newline, always terminated, cut if it does not fit */
} berth_error_t;

#ifdef __cplusplus
}
#endif

#endif
