#include "cli/pilot_shape.h"

#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "engine/slurm/command.h"
#include "engine/slurm/nodes.h"

enum { PARTITION, CPUS, MEMORY, GRES, FEATURES, FIELDS };

#define CPUS_MOST 10000 /* more are not believed */
#define MIB_MOST  (INT64_C(1) << 40)

/* Cut a line at its bars. False: it has another number of fields. */
static bool cut_fields(char *line, char *field[FIELDS])
{
    size_t n = 0;
    for (char *at = line; at; n++) {
        char *bar = strchr(at, '|');
        if (n < FIELDS)
            field[n] = at;
        if (bar)
            *bar++ = '\0';
        at = bar;
    }
    return n == FIELDS;
}

/* A number above 0, perhaps with '+' for "and more"; else 0. */
static int64_t number_of(const char *text, int64_t most)
{
    char *end;
    long long n = *text >= '0' && *text <= '9' ? strtoll(text, &end, 10) : 0;
    return n > 0 && n <= most && (!*end || strcmp(end, "+") == 0) ? n : 0;
}

static int64_t less(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

struct pilot_shape pilot_shape_read(char *lines, bool is_default, const char *feature)
{
    struct pilot_shape least = {0};
    char *rest = NULL, *field[FIELDS];
    for (char *line = strtok_r(lines, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (!cut_fields(line, field) || (is_default && !strchr(field[PARTITION], '*')) ||
            (feature && !slurm_list_has(field[FEATURES], feature)))
            continue;
        struct pilot_shape node = {number_of(field[CPUS], CPUS_MOST), slurm_count_gpus(field[GRES]),
                                   number_of(field[MEMORY], MIB_MOST) << 20};
        if (node.cores == 0)
            continue;
        bool first = least.cores == 0;
        least.cores = first ? node.cores : less(least.cores, node.cores);
        least.gpus = first ? node.gpus : less(least.gpus, node.gpus);
        least.memory = first ? node.memory : less(least.memory, node.memory);
    }
    return least;
}

/* The last value of an option of sbatch: "-CVALUE", "-C VALUE", "--constraint=VALUE", "--constraint VALUE", and the same with a
 * name that is cut off after `unique` letters or more. NULL: it is not given.
 */
static const char *value_of(char *const *words, char letter, const char *name, size_t unique)
{
    const char *found = NULL;
    for (; *words; words++) {
        const char *word = *words;
        size_t n = strcspn(word, "=");
        bool is_short = word[0] == '-' && word[1] == letter;
        if (!is_short && (n < unique || strncmp(word, name, n) != 0))
            continue;
        const char *value = is_short ? word + 2 : word[n] ? word + n + 1 : "";
        found = *value || !words[1] ? value : *++words;
    }
    return found;
}

struct pilot_shape pilot_shape_ask(const char *partition, char *const *more)
{
    struct strbuf said = {0};
    struct command c = {0};
    struct pilot_shape shape = {0};
    berth_error_t ignored;
    const char *other = value_of(more, 'p', "--partition", strlen("--part")),
               *feature = value_of(more, 'C', "--constraint", strlen("--cons"));
    partition = other ? other : partition;
    static const char *const fixed[] = {"sinfo", "-h", "-e", "-o", SINFO_FORMAT};
    for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++)
        command_add(&c, fixed[i]);
    if (partition)
        command_add(&c, "-p");
    if (partition)
        command_add(&c, partition);
    /* All nodes have at least what the least one has, so other constraints need not be understood. */
    if (feature && strpbrk(feature, "&|[]()*!,"))
        feature = NULL;
    int rc = command_run(&c, NULL, 0, -1, &said, &ignored);
    char *lines = strbuf_steal(&said);
    if (rc == 0 && lines)
        shape = pilot_shape_read(lines, !partition, feature);
    free(lines);
    return shape;
}
