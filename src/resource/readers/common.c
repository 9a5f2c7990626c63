#include "resource/readers/common.h"

#include <errno.h>
#include <string.h>

#include "base/errtext.h"
#include "base/strbuf.h"

int host_split(const char *name, size_t *base_length, int64_t *id)
{
    size_t length = strlen(name), base = length;
    int64_t number = 0;

    while (base > 0 && name[base - 1] >= '0' && name[base - 1] <= '9')
        base--;
    for (size_t i = base; i < length; i++)
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, name[i] - '0', &number)) {
            errno = EOVERFLOW;
            return -1;
        }
    *id = base < length ? number : -1;
    *base_length = base > 0 ? base : length;
    return 0;
}

bool name_follows(const char *name, const char *basename, size_t base_length, int64_t id)
{
    char digits[STRBUF_NUMBER_MAX + 1];
    size_t n = 0;

    if (strncmp(name, basename, base_length) != 0)
        return false;
    if (id != -1) {
        if (id < 0)
            digits[n++] = '-';
        n += strbuf_decimal(digits + n, id < 0 ? 0 - (uint64_t)id : (uint64_t)id);
    }
    return strlen(name) == base_length + n && memcmp(name + base_length, digits, n) == 0;
}

int reader_seal(struct graph *g, berth_error_t *err)
{
    if (graph_seal(g) == 0)
        return 0;
    if (errno == ELOOP)
        return errtext_set(err, EINVAL,
                           "containment is deeper than %d levels, or a vertex contains itself",
                           GRAPH_DEPTH_MAX);
    return reader_failed(err);
}

int reader_failed(berth_error_t *err)
{
    if (errno == EOVERFLOW)
        return errtext_set(err, EINVAL,
                           "more vertices, edges, types, units or subsystems than a graph takes");
    return errtext_no_memory(err);
}
