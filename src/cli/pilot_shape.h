/* What nodes have that Slurm may give a pilot, as sinfo says. */
#ifndef CLI_PILOT_SHAPE_H
#define CLI_PILOT_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

/* What sinfo is asked for of each kind of node: partition, CPUs, MiB, generic resources, features. */
#define SINFO_FORMAT "%P|%c|%m|%G|%f"

struct pilot_shape {
    int64_t cores, gpus, memory; /* CPUs, as Slurm calls them; bytes; cores 0: unknown */
};

/* The least of each that nodes have in such lines, which are cut up: in a partition (NULL: the default one; the lines
 * have no other if it is named), with a feature (NULL: with any). Lines that are malformed are passed over. O(length).
 */
struct pilot_shape pilot_shape_read(char *lines, bool is_default, const char *feature);

/* Ask sinfo what a whole node has at least that a pilot may get, with sbatch's further options, ended by NULL. Unknown, too,
 * where sinfo does not answer. Waits for up to 20 s.
 */
struct pilot_shape pilot_shape_ask(const char *partition, char *const *more);

#endif
