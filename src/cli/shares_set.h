/* berth shares set NODE USAGE. */
#ifndef CLI_SHARES_SET_H
#define CLI_SHARES_SET_H

/* Of the words behind "set". Returns the exit status. */
int shares_set(int argc, char **words);

#endif
