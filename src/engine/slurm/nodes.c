#include "engine/slurm/nodes.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define MIB_MOST (INT64_C(1) << 40)

/* The value of "KEY=": the first one, since what comes later may be somebody's free text. NULL: there is none. */
static char *find_value(char *line, const char *key)
{
    size_t n = strlen(key);
    for (char *at = line; at; at = strchr(at, ' ')) {
        at += strspn(at, " ");
        if (strncmp(at, key, n) == 0 && at[n] == '=')
            return at + n + 1;
    }
    return NULL;
}

/* End a value where the next one begins. */
static char *cut(char *value)
{
    if (value)
        value[strcspn(value, " ")] = '\0';
    return value;
}

/* A whole number at the beginning of a text, 0 to most; else `none`. */
static int64_t leading_number(const char *text, int64_t most, int64_t none)
{
    char *end;
    if (!text || *text < '0' || *text > '9')
        return none;
    long long n = strtoll(text, &end, 10);
    return n > most ? none : n;
}

int64_t slurm_count_gpus(const char *text)
{
    int64_t sum = 0;
    while (text && *text) {
        bool is_gpu = strncmp(text, "gpu", 3) == 0 && strchr(":,(", text[3]);
        const char *last = NULL;
        for (int depth = 0; *text && (*text != ',' || depth > 0); text++) {
            depth += (*text == '(') - (*text == ')');
            if (*text == ':' && depth == 0)
                last = text + 1;
        }
        if (is_gpu)
            sum += leading_number(last, SLURM_GPUS_MOST, 1);
        text += *text == ',';
    }
    return sum < SLURM_GPUS_MOST ? sum : SLURM_GPUS_MOST;
}

/* ---- States ---- */

static bool is_flag_in(const char *word, size_t n, const char *const *words)
{
    while (*words && (strlen(*words) != n || memcmp(*words, word, n) != 0))
        words++;
    return *words != NULL;
}

/* "MIXED+DRAIN", "DOWN*": the first word is the state, the others are flags; '*' says that it does not answer, other
 * marks that it is off, or will be.
 */
static enum slurm_node_state read_state(const char *text)
{
    static const char *const working[] = {"IDLE", "ALLOCATED", "MIXED", NULL};
    static const char *const harmless[] = {"COMPLETING",     "PLANNED", "CLOUD", "DYNAMIC_NORM",
                                           "DYNAMIC_FUTURE", "BLOCKED", NULL};
    static const char *const closed[] = {"DRAIN", "MAINTENANCE", "MAINT", "RESERVED", NULL};
    enum slurm_node_state state = SLURM_NODE_UP;
    for (bool first = true; *text; first = false) {
        size_t n = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
        bool known = first ? is_flag_in(text, n, working) : is_flag_in(text, n, harmless);
        if (!first && is_flag_in(text, n, closed))
            state = state == SLURM_NODE_UP ? SLURM_NODE_DRAINED : state;
        else if (!known || (text[n] && text[n] != '+'))
            return SLURM_NODE_DOWN;
        text += n;
        if (*text && *text != '+')
            return SLURM_NODE_DOWN;
        text += *text == '+';
    }
    return state;
}

static bool is_slurm_name(const char *text)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789-_.";
    size_t n = text ? strspn(text, letters) : 0;
    return n > 0 && n <= SLURM_NAME_MOST && !text[n] && strcmp(text, ".") != 0 &&
           strcmp(text, "..") != 0;
}

/* ---- Lines ---- */

/* Cores: the CPUs that jobs may have, as many to a core as there are in all. */
static bool put_cores(struct slurm_node *node, const char *sockets, const char *each,
                      const char *total, const char *usable)
{
    int64_t cpus = leading_number(total, INT32_MAX, 0),
            may = leading_number(usable, INT32_MAX, cpus);
    int64_t cores = leading_number(sockets, INT16_MAX, 0) * leading_number(each, INT16_MAX, 0);
    node->cpus_per_core = cores > 0 && cpus > cores && cpus % cores == 0 ? cpus / cores : 1;
    node->cores = (may < cpus ? may : cpus) / node->cpus_per_core;
    return node->cores >= 1 && node->cores <= SLURM_CORES_MOST;
}

static const char *or_nothing(const char *text)
{
    return text && strcmp(text, "(null)") != 0 ? text : "";
}

/* Up to who said it and when: "Not responding [slurm@2026-11-25T23:10:00]". */
static const char *cut_reason(char *text)
{
    if (!text)
        return "";
    char *end = strstr(text, " [");
    if (end)
        *end = '\0';
    return text;
}

int slurm_node_read(char *line, struct slurm_node *node)
{
    line[strcspn(line, "\n")] = '\0';
    char *name = find_value(line, "NodeName"), *state = find_value(line, "State"),
         *partitions = find_value(line, "Partitions"),
         *features = find_value(line, "ActiveFeatures"), *gres = find_value(line, "Gres"),
         *used = find_value(line, "GresUsed"), *reason = find_value(line, "Reason"),
         *address = find_value(line, "NodeAddr");
    const char *memory = find_value(line, "RealMemory"), *kept = find_value(line, "MemSpecLimit"),
               *used_memory = find_value(line, "AllocMem");
    int64_t mib = leading_number(memory, MIB_MOST, 0) - leading_number(kept, MIB_MOST, 0);
    bool has_cores =
        put_cores(node, find_value(line, "Sockets"), find_value(line, "CoresPerSocket"),
                  find_value(line, "CPUTot"), find_value(line, "CPUEfctv"));
    node->cpus_used = leading_number(find_value(line, "CPUAlloc"), INT32_MAX, 0);
    node->memory = (mib > 0 ? mib : 0) << 20;
    node->memory_used = leading_number(used_memory, MIB_MOST, 0) << 20;
    node->reason = cut_reason(reason);
    node->name = cut(name);
    node->address = cut(address);
    node->address = node->address ? node->address : node->name;
    node->partitions = or_nothing(cut(partitions));
    node->features = or_nothing(cut(features));
    node->gpus = slurm_count_gpus(cut(gres));
    node->gpus_used = slurm_count_gpus(cut(used));
    if (!is_slurm_name(name) || !cut(state) || !has_cores)
        return -1;
    node->state = read_state(state);
    return 0;
}

int slurm_partition_read(char *line, struct slurm_partition *partition)
{
    line[strcspn(line, "\n")] = '\0';
    char *name = find_value(line, "PartitionName"), *is_default = find_value(line, "Default"),
         *state = find_value(line, "State");
    partition->name = cut(name);
    partition->is_default = is_default && strcmp(cut(is_default), "YES") == 0;
    partition->is_up = state && strcmp(cut(state), "UP") == 0;
    return name && *name && strlen(name) < 256 ? 0 : -1;
}

bool slurm_list_has(const char *list, const char *name)
{
    size_t n = strlen(name);
    while (*list) {
        size_t length = strcspn(list, ",");
        if (length == n && memcmp(list, name, n) == 0)
            return true;
        list += length + (list[length] == ',');
    }
    return false;
}
