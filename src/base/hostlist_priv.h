/* What the files of the host list share. */
#ifndef BASE_HOSTLIST_PRIV_H
#define BASE_HOSTLIST_PRIV_H

#include "base/hostlist.h"

#define HOSTLIST_DIGITS_MAX 18 /* of a number without its padding */

/* How many digits a number has. */
size_t hostlist_digits(uint64_t number);

/* How many characters a number takes in the names of a range; 0 if the range has no numbers. */
size_t hostlist_written(const struct hostlist_range *r, uint64_t number);

/* How many hosts a range has. */
static inline uint64_t hostlist_size(const struct hostlist_range *r)
{
    return r->hi - r->lo + 1;
}

/* True if a host name may have this character. */
static inline bool hostlist_allows(char c)
{
    return c > ' ' && c <= '~' && c != '[' && c != ']' && c != ',';
}

/* Where the number of a name begins; length if it has none. */
size_t hostlist_number_at(const char *name, size_t length);

/* The value of n digits; at most HOSTLIST_DIGITS_MAX besides leading zeros. */
uint64_t hostlist_number(const char *digits, size_t n);

/* Write a number with at least width characters. Returns how many it took. */
size_t hostlist_write_number(char *to, uint64_t number, uint32_t width);

/* Write the name of the range's host at the offset, without a terminator. Returns its length. */
size_t hostlist_write_name(const struct hostlist *h, const struct hostlist_range *r,
                           uint64_t offset, char *to);

/* Give the id of a prefix or suffix. */
int hostlist_intern(struct hostlist *h, const char *text, size_t length, uint32_t *id);

/* Append a range, which may be joined with the last. Its width may be any that means the same. */
int hostlist_push(struct hostlist *h, struct hostlist_range r);

#endif
