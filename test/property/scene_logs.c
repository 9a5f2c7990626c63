/* The logs of random scenes: what was decided, and told of who waits. For test/system/bounds.sh, which
 * compares those of two builds.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "queue_scene.h"

static struct scene scene;

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    int scenes = argc > 2 ? atoi(argv[2]) : 1;

    for (int i = 0; i < scenes; i++, seed++) {
        scene_play(&scene, &(struct scene_options){.seed = seed, .handles = true});
        printf("scene %" PRIu64 "\n%s", seed, strbuf_text(&scene.log));
        strbuf_clear(&scene.log);
    }
    return 0;
}
