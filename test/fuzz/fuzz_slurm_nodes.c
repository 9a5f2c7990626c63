/* Whatever Slurm says of a node or a partition is a line or is none, and what is read of it is within its bounds; and so is
 * what a pilot's nodes are taken to have.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/pilot_shape.h"
#include "engine/slurm/nodes.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slurm_node n;
    struct slurm_partition p;
    char *line = strndup((const char *)data, size), *again = strndup((const char *)data, size);
    FUZZ_CHECK(line && again);
    if (slurm_node_read(line, &n) == 0) {
        FUZZ_CHECK(*n.name && strlen(n.name) <= SLURM_NAME_MOST && !strpbrk(n.name, "/ ,="));
        FUZZ_CHECK(n.cores >= 1 && n.cores <= SLURM_CORES_MOST && n.cpus_per_core >= 1);
        FUZZ_CHECK(n.gpus >= 0 && n.gpus <= SLURM_GPUS_MOST && n.gpus_used >= 0);
        FUZZ_CHECK(n.memory >= 0 && n.cpus_used >= 0);
        FUZZ_CHECK(!strpbrk(n.partitions, " ") && !strpbrk(n.features, " "));
        FUZZ_CHECK(n.state <= SLURM_NODE_DOWN && strlen(n.reason) <= size);
    }
    if (slurm_partition_read(again, &p) == 0)
        FUZZ_CHECK(*p.name && !strchr(p.name, ' ') &&
                   slurm_list_has(p.name, p.name) == !strchr(p.name, ','));
    char *lines = strndup((const char *)data, size);
    FUZZ_CHECK(lines);
    struct pilot_shape shape = pilot_shape_read(lines, size % 2 == 0, size % 3 == 0 ? "ib" : NULL);
    FUZZ_CHECK(shape.cores >= 0 && shape.gpus >= 0 && shape.memory >= 0);
    FUZZ_CHECK(shape.cores > 0 || (shape.gpus == 0 && shape.memory == 0));
    free(lines);
    free(line);
    free(again);
    return 0;
}
