/* Lists of host names, and their text as in Flux RFC 29: "node[001-003,7],login2".
 *
 * A list keeps its order and its duplicates. Neighbours that differ only in a number that counts up by
 * one are kept as one range, so "node[0-99999999999]" costs no more than "node7". With r ranges, a
 * question about one host is O(r), however many hosts there are. Memory is 32 bytes for each range, and
 * each different prefix or suffix once; the memory of a prefix is freed only when the list is cleared or
 * sorted.
 *
 * A text is a list of expressions with commas between them; empty ones are ignored. An expression is a
 * host name, or a name with a list of numbers and ranges in brackets, which stands for the names with
 * each of these numbers, in the order of the list. Leading zeros count: "[08-11]" is 08, 09, 10, 11.
 * Those of the first number apply to all in the brackets: "[005,4]" is 005, 004; a later number may add
 * its own. Beyond the RFC an expression may have more than one pair of brackets, "rack[0-1]node[0-3]";
 * the last number counts fastest.
 *
 * A name is 1 to HOSTLIST_NAME_MAX printable ASCII characters other than blanks, brackets and commas. If
 * it ends in digits, the last of them, at most 18, are its number.
 *
 * The number of names that can't be kept as ranges is bounded: see HOSTLIST_SPELLED_MAX. Calls that
 * return int return 0, or -1 with errno and the list as it was: ENOMEM, ERANGE for more than a bound, or
 * what the call says.
 */
#ifndef BASE_HOSTLIST_H
#define BASE_HOSTLIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"
#include "base/strbuf.h"
#include "berth/error.h"

#define HOSTLIST_NAME_MAX     255                     /* bytes of a name */
#define HOSTLIST_NAME_SIZE    (HOSTLIST_NAME_MAX + 1) /* and a terminator */
#define HOSTLIST_NUMBER_MAX   999999999999999999      /* 18 digits */
#define HOSTLIST_SPELLED_MAX  262144                  /* ranges or names that a call spells out */
#define HOSTLIST_BRACKETS_MAX 8                       /* lists of numbers in one expression */

struct hostlist_range {
    uint64_t lo; /* the first and the last number */
    uint64_t hi;
    uint32_t prefix; /* what comes before the number, in names */
    uint32_t suffix; /* what comes after it, in names; 0 is "" */
    uint32_t width;  /* digits that lo is padded to with zeros; 1: it is not; 0: no number */
};

struct hostlist {
    struct hostlist_range *v;
    size_t n;
    size_t cap;
    int64_t count; /* the number of hosts, at most INT64_MAX */
    struct intern names;
};

/* Make a list empty, which is all zeroes, and free its memory. Keeps errno. */
void hostlist_clear(struct hostlist *h);

/* Make the list empty, but keep its memory and the prefixes it has seen. */
void hostlist_reset(struct hostlist *h);

/* Make a list equal to another. O(r). */
int hostlist_copy(struct hostlist *h, const struct hostlist *from);

/* Decode length bytes of text into h, or append the hosts of the text to h. EINVAL: it is not such a
 * text; ERANGE: a number is above HOSTLIST_NUMBER_MAX, or there is more than a bound. The error text has
 * the offset from 0, what is there, and what was expected. O(length), plus the spelling out if an
 * expression has more than one pair of brackets.
 */
int hostlist_decode(struct hostlist *h, const char *text, size_t length, berth_error_t *err);
int hostlist_append(struct hostlist *h, const char *text, size_t length, berth_error_t *err);

/* Append one host. EINVAL: it is not a name. O(length), on average unless the last host has the same
 * prefix.
 */
int hostlist_append_host(struct hostlist *h, const char *name, size_t length);

/* Append the hosts of another list. O(r). */
int hostlist_append_list(struct hostlist *h, const struct hostlist *from);

/* The number of hosts, including duplicates. O(1). */
int64_t hostlist_count(const struct hostlist *h);

/* Write the name of the host at position n, from 0. -1 with ENOENT if there is none. */
int hostlist_nth(const struct hostlist *h, int64_t n, char name[HOSTLIST_NAME_SIZE]);

/* The position of the first host of that name, or -1 with ENOENT. */
int64_t hostlist_find(const struct hostlist *h, const char *name, size_t length);

/* Remove the first host of that name. -1 with ENOENT if there is none. */
int hostlist_delete(struct hostlist *h, const char *name, size_t length);

/* The position of a walk over a list; all zeroes before its first host. */
struct hostlist_cursor {
    size_t range;
    uint64_t offset;
};

/* Write the name of the next host of a walk; false at the end. The list must not change meanwhile.
 * O(length of the name).
 */
bool hostlist_next(const struct hostlist *h, struct hostlist_cursor *c,
                   char name[HOSTLIST_NAME_SIZE]);

/* Sort the list: by what comes before the number at the end of a name, as bytes; names without a number
 * first; then by the number's length; then by number. hostlist_uniq also drops duplicates. ERANGE: there
 * are too many duplicates to keep, or too many names with a suffix, to spell them out. O(r log r), plus
 * the spelling out.
 */
int hostlist_sort(struct hostlist *h);
int hostlist_uniq(struct hostlist *h);

/* Compare two names in that order: less than, equal to or greater than 0. O(length). */
int hostlist_compare(const char *a, const char *b);

/* Append the text of a list, as Flux writes it: neighbours with the same prefix share one pair of
 * brackets, with numbers that count up as ranges, "node[4,3-4]"; names with a suffix are written one by
 * one, "a1-x,a2-x". There are two exceptions: neighbours are kept apart if the padding of the first would
 * apply to the others, "n005,n4"; and if more than HOSTLIST_SPELLED_MAX names have a suffix they are in
 * brackets too, "a[1-2]-x". Decoding the text gives the same hosts. O(r), plus the spelling out.
 */
void hostlist_encode(const struct hostlist *h, struct strbuf *out);

/* True if ranges and count are in order, and no two neighbours could be joined. For tests. O(r). */
bool hostlist_check(const struct hostlist *h);

#endif
