/* Lists of host names, and their text as in Flux RFC 29: "node[001-003,7],login2".
 *
 * A list keeps its order and its duplicates. Hosts that follow each other in it and differ only in a
 * number that counts up by one are kept as one range, so that "node[0-99999999999]" costs no more than
 * "node7". With r ranges a question about one host is O(r), whatever they hold. Memory is 32 bytes a
 * range and each different prefix or suffix once; what a prefix took comes back only when the list is
 * cleared or sorted.
 *
 * Text is expressions with commas between them; empty ones stand for nothing. An expression is a host
 * name, or has a list of numbers and ranges of numbers in brackets: it stands for the names with each
 * number in its place, in the order of the list. Leading zeros count: "[08-11]" is 08, 09, 10, 11. Those
 * of the first number go for the whole brackets, "[005,4]" is 005, 004; a later one may add its own.
 * Beyond the RFC there may be more brackets in an expression, "rack[0-1]node[0-3]": the last number
 * counts fastest.
 *
 * A name is 1 to HOSTLIST_NAME_MAX printable ASCII characters other than blanks, brackets and commas.
 * Where it ends in digits, the last 18 of them at most are its number.
 *
 * What can't be kept as ranges is bounded: see HOSTLIST_SPELLED_MAX. Calls that return int return 0, or
 * -1 with errno and the list as it was: ENOMEM, ERANGE where a bound is passed, or what the call says.
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
    uint64_t lo; /* numbers, both in the list */
    uint64_t hi;
    uint32_t prefix; /* what stands before the number, in names */
    uint32_t suffix; /* what stands behind it, in names; 0 is "" */
    uint32_t width;  /* digits that lo is padded to with zeros; 1: it is not; 0: no number */
};

struct hostlist {
    struct hostlist_range *v;
    size_t n;
    size_t cap;
    int64_t count; /* hosts in all, at most INT64_MAX */
    struct intern names;
};

/* An empty list is all zeroes. Clearing gives its memory back and keeps errno. */
void hostlist_clear(struct hostlist *h);

/* Make the list empty, but keep its memory and the prefixes it has seen. */
void hostlist_reset(struct hostlist *h);

/* Make a list equal to another. O(r). */
int hostlist_copy(struct hostlist *h, const struct hostlist *from);

/* Make h the list that the length bytes of text say, or append those hosts to it. EINVAL: they say none;
 * ERANGE: a number is above HOSTLIST_NUMBER_MAX, or a bound is passed. The error text has the offset of
 * what was read there, from 0, and what was expected. O(length), and the spelling out where there are
 * more brackets than one.
 */
int hostlist_decode(struct hostlist *h, const char *text, size_t length, berth_error_t *err);
int hostlist_append(struct hostlist *h, const char *text, size_t length, berth_error_t *err);

/* Append one host. EINVAL if that is no name. O(length) where the prefix is the last host's, else on
 * average.
 */
int hostlist_append_host(struct hostlist *h, const char *name, size_t length);

/* Append the hosts of another list. O(r). */
int hostlist_append_list(struct hostlist *h, const struct hostlist *from);

/* How many hosts the list has, duplicates counted. O(1). */
int64_t hostlist_count(const struct hostlist *h);

/* Write the name of the host at position n, from 0. -1 with ENOENT if there is none. */
int hostlist_nth(const struct hostlist *h, int64_t n, char name[HOSTLIST_NAME_SIZE]);

/* The position of the first host of that name, or -1 with ENOENT. */
int64_t hostlist_find(const struct hostlist *h, const char *name, size_t length);

/* Take the first host of that name out. -1 with ENOENT if there is none. */
int hostlist_delete(struct hostlist *h, const char *name, size_t length);

/* Where a walk over a list stands; all zeroes before its first host. */
struct hostlist_cursor {
    size_t range;
    uint64_t offset;
};

/* Write the name of the next host of a walk; false at the end. O(length of the name). The list must not
 * change.
 */
bool hostlist_next(const struct hostlist *h, struct hostlist_cursor *c,
                   char name[HOSTLIST_NAME_SIZE]);

/* Sort the list: by what stands before the number a name ends in, as bytes, then those without a number
 * first, then by the number's length, then by number. hostlist_uniq drops duplicates as well. ERANGE
 * where duplicates that are to stay, or names with a suffix, are too many to be spelled out. O(r log r)
 * and the spelling out.
 */
int hostlist_sort(struct hostlist *h);
int hostlist_uniq(struct hostlist *h);

/* Append the text of a list, as Flux writes it: one pair of brackets for neighbours with the same prefix,
 * numbers that count up as ranges, "node[4,3-4]", and names with a suffix one by one, "a1-x,a2-x". Two
 * exceptions: neighbours are kept apart where the padding of the first would spread to the others,
 * "n005,n4"; and if more than HOSTLIST_SPELLED_MAX names have a suffix these are in brackets too,
 * "a[1-2]-x". Decoded, the text gives the same hosts. O(r) and the spelling out.
 */
void hostlist_encode(const struct hostlist *h, struct strbuf *out);

/* True if ranges and count are in order and no two neighbours should be one. O(r). */
bool hostlist_check(const struct hostlist *h);

#endif
