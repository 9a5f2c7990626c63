/* What tests of the reader of configurations write them with. */
#ifndef CONFIG_TEXTS_H
#define CONFIG_TEXTS_H

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define SECOND       1000000 /* ticks */

#define NODES    "resources: {nodes: 2}\n"
#define QUEUE(q) NODES "queues:\n  a: " q "\n" /* line 3, its value in column 6 */
#define BLOCK    "name: m, resources: n, start: 0, duration: 1"

#endif
