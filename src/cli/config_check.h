/* Whether a configuration fits its machine. */
#ifndef CLI_CONFIG_CHECK_H
#define CLI_CONFIG_CHECK_H

#include <stdint.h>

#include "berth/error.h"
#include "berth/match.h"
#include "config/config.h"

/* How much there is. */
struct config_found {
    int64_t queues, blocks, nodes, cores, gpus;
};

/* Check that the machine has the types that limits and shares name and the resources of blocks, and count. Returns 0, or
 * -1 with EINVAL or ENOMEM and a text. O(vertices + names in blocks).
 */
int config_check(const struct config *config, const match_t *machine, struct config_found *found,
                 berth_error_t *err);

/* Print the counts as a line: "2 queues, 1 block; 10 nodes, 320 cores". */
void config_found_print(const struct config_found *found);

/* Print them as a JSON object. */
void config_found_print_json(const struct config_found *found);

#endif
