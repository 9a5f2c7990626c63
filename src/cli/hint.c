#include "cli/hint.h"

#include <stddef.h>
#include <string.h>

enum { LETTERS_MAX = 31 };

const char *hint_other_name(const char *word)
{
    static const char *const names[][2] = {
        {"alloc", "run"},         {"attach", "log"},     {"batch", "submit"},
        {"bulksubmit", "submit"}, {"cat", "log"},        {"daemon", "server"},
        {"delete", "cancel"},     {"down", "drain"},     {"info", "show"},
        {"kill", "cancel"},       {"list", "jobs"},      {"ls", "jobs"},
        {"nodes", "resources"},   {"output", "log"},     {"ps", "jobs"},
        {"qdel", "cancel"},       {"qstat", "jobs"},     {"qsub", "submit"},
        {"queue", "queues"},      {"reload", "server"},  {"remove", "cancel"},
        {"rm", "cancel"},         {"sacct", "history"},  {"sbatch", "submit"},
        {"scancel", "cancel"},    {"scontrol", "show"},  {"simulate", "sim"},
        {"sinfo", "resources"},   {"squeue", "jobs"},    {"srun", "run"},
        {"start", "server"},      {"stat", "jobs"},      {"status", "server"},
        {"stop", "cancel"},       {"suspend", "hold"},   {"tail", "log"},
        {"top", "jobs"},          {"undrain", "resume"}, {"why", "explain"},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(word, names[i][0]) == 0)
            return names[i][1];
    return NULL;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

unsigned hint_distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    unsigned d[LETTERS_MAX + 1][LETTERS_MAX + 1];
    if (n > LETTERS_MAX || m > LETTERS_MAX)
        return LETTERS_MAX + 1;
    for (size_t i = 0; i <= n; i++)
        d[i][0] = (unsigned)i;
    for (size_t k = 0; k <= m; k++)
        d[0][k] = (unsigned)k;
    for (size_t i = 1; i <= n; i++) {
        for (size_t k = 1; k <= m; k++) {
            unsigned replaced = d[i - 1][k - 1] + (a[i - 1] != b[k - 1]);
            d[i][k] = least(replaced, least(d[i - 1][k], d[i][k - 1]) + 1);
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
                d[i][k] = least(d[i][k], d[i - 2][k - 2] + 1);
        }
    }
    return d[n][m];
}
