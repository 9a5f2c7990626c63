/* What somebody may have meant who typed a word that Berth does not know. */
#ifndef CLI_HINT_H
#define CLI_HINT_H

/* Verbs as other schedulers and other tools call them: "ls" is "jobs". NULL: none is known by that name. */
const char *hint_other_name(const char *word);

/* Options of submit as other schedulers call them: a sentence about "-p", "--partition" or "--partition=long". NULL:
 * none is known by that name.
 */
const char *hint_other_option(const char *word);

/* Options of submit that one may expect of update. The same. */
const char *hint_change(const char *word);

#endif
