#include "cli/show_roles.h"

#include <stdio.h>
#include <string.h>

#include "base/idset.h"
#include "cli/client/connection.h"
#include "cli/client/listing.h"
#include "cli/client/terminal.h"

static long long whole_of_key(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

/* How many of some members are in a state. */
static unsigned long long count_in(const json_t *ranges, const char *state, uint32_t first,
                                   uint32_t count)
{
    const char *text = json_string_value(json_object_get(ranges, state));
    struct idset set = {0};
    unsigned long long n = 0;
    if (text && idset_decode_steps(&set, text, strlen(text), NULL) == 0)
        n = idset_count_in(&set, first, count);
    idset_clear(&set);
    return n;
}

static void put_amount(long long n, const char *one)
{
    if (n > 0)
        printf(", %lld %s%s", n, one, n == 1 ? "" : "s");
}

static void print_role(const json_t *job, const json_t *role, uint32_t first, int width)
{
    const json_t *ranges = json_object_get(job, "ranges");
    long long count = whole_of_key(role, "count");
    const char *before = "; ";
    printf("%-*s ", width, "role");
    terminal_print(stdout, answer_text(role, "role"));
    printf(": %lld[%lu", whole_of_key(job, "id"), (unsigned long)first);
    if (count > 1)
        printf("-%lld", (long long)first + count - 1);
    printf("], min %lld", whole_of_key(role, "min"));
    put_amount(whole_of_key(role, "nodes"), "node");
    put_amount(whole_of_key(role, "cores"), "core");
    put_amount(whole_of_key(role, "gpus"), "gpu");
    fputs(count > 1 ? " each" : "", stdout);
    for (int i = 0; i < LISTING_STATES; i++) {
        unsigned long long n = count_in(ranges, listing_states[i], first, (uint32_t)count);
        if (n == 0)
            continue;
        printf("%s%llu %s", before, n, listing_states[i]);
        before = ", ";
    }
    putchar('\n');
}

void show_roles(const json_t *job, int width)
{
    const json_t *role;
    uint32_t first = 0;
    size_t i;
    json_array_foreach (json_object_get(job, "roles"), i, role) {
        print_role(job, role, first, width);
        first += (uint32_t)whole_of_key(role, "count");
    }
}
