/* Whatever the bytes are of what is asked of Slurm for a run, and of what is said of nodes: they are read or refused, and what is
 * read is within its bounds.
 */
#include <stdbool.h>
#include <string.h>

#include "engine/slurm/directed.h"
#include "engine/slurm/talk.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct strbuf bytes = {0};
    struct directed d;
    struct talk_node node;
    struct wire w = {.at = (const char *)data, .left = size};
    strbuf_put(&bytes, (const char *)data, size);
    FUZZ_CHECK(!bytes.failed);
    if (directed_read(&d, &bytes) == 0) {
        FUZZ_CHECK(d.n_places >= 1 && d.n_places <= DIRECTED_PLACES_MOST && d.label);
        FUZZ_CHECK(d.tasks >= 1 && d.cores >= 1 && d.memory >= 0 && d.limit >= 0);
        for (size_t i = 0; i < d.n_places; i++)
            FUZZ_CHECK(*d.places[i].node && !strpbrk(d.places[i].node, "/,' \n"));
    }
    FUZZ_CHECK(!bytes.data);
    directed_clear(&d);
    while (talk_node(&w, &node))
        FUZZ_CHECK(strlen(node.name) + strlen(node.reason) <= size);
    return 0;
}
