/* berth pilot watch: asks Slurm how the pilots are, and tells the server, until there is none. */
#ifndef CLI_PILOT_WATCH_H
#define CLI_PILOT_WATCH_H

/* Returns an exit status. One watches at a time: another returns at once. */
int pilot_watch(void);

#endif
