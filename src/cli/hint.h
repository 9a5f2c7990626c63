/* What somebody may have meant who typed a word that Berth does not know. */
#ifndef CLI_HINT_H
#define CLI_HINT_H

/* Verbs as other schedulers and other tools call them: "ls" is "jobs". NULL: none is known by that name. */
const char *hint_other_name(const char *word);

/* Options of submit as other schedulers call them: a sentence about "-p", "--partition" or "--partition=long". NULL:
 * none is known by that name.
 */
const char *hint_other_option(const char *word);

/* How many letters have to be inserted, removed, replaced or exchanged with the next one to make one word of
 * the other (optimal string alignment: Boytsov 2011, doi:10.1145/1963190.1963191). Words of more than 31 bytes
 * differ in 32. O(product of the lengths).
 */
unsigned hint_distance(const char *a, const char *b);

#endif
