/* Any lines are specifications of pruning filters: those that are right say together what a table of truth
 * says, and those that aren't change nothing.
 */
#include "fuzz.h"

#include <errno.h>
#include <string.h>

#include "match/machine/filter_spec.h"

enum { TYPES = 64 };

struct model {
    bool all[TYPES], own[TYPES][TYPES];
};

/* The number of the type that is the bytes without their blanks. */
static uint32_t type_of(struct graph *g, const char *text, const char *end)
{
    char name[256];
    size_t n = 0;
    for (; text < end; text++)
        if (!strchr(" \t\n\v\f\r", *text))
            name[n++] = *text;
    name[n] = '\0';
    return strcmp(name, "ALL") == 0 ? TYPE_ALL : graph_type(g, name);
}

/* A line that is known to be right. */
static void model_line(struct model *m, struct graph *g, const char *line)
{
    for (bool more = true; more;) {
        const char *colon = strchr(line, ':');
        const char *end = colon + strcspn(colon, ",");
        uint32_t high = type_of(g, line, colon);
        uint32_t low = type_of(g, colon + 1, end);
        if (low == TYPE_ALL && memchr(colon, 'A', (size_t)(end - colon)))
            low = graph_type(g, "ALL");
        if (high == TYPE_ALL)
            m->all[low] = true;
        else if (!m->all[low])
            m->own[high][low] = true;
        for (int h = 0; high == TYPE_ALL && h < TYPES; h++)
            m->own[h][low] = false;
        more = *end == ',';
        line = end + 1;
    }
}

static void check(const struct filter_spec *s, const struct model *m, uint32_t types)
{
    uint16_t counted[TYPES * TYPES];
    FUZZ_CHECK(filter_spec_check(s) && s->n <= TYPES * TYPES);
    for (uint32_t low = 0; low < types; low++) {
        bool any = m->all[low];
        for (uint32_t h = 0; h < types; h++)
            any = any || m->own[h][low];
        FUZZ_CHECK(filter_spec_is_pruning(s, (uint16_t)low) == any);
    }
    for (uint32_t h = 0; h < types; h++) {
        size_t n = filter_spec_types(s, (uint16_t)h, counted), i = 0;
        for (uint32_t low = 0; low < types; low++)
            if (h == TYPE_ALL ? m->all[low] : m->own[h][low])
                FUZZ_CHECK(i < n && counted[i++] == low);
        for (uint32_t low = 0; low < types; low++)
            if (h != TYPE_ALL && m->all[low] && low != h)
                FUZZ_CHECK(i < n && counted[i++] == low);
        FUZZ_CHECK(i == n);
    }
}

static void try_line(struct filter_spec *s, struct model *m, struct graph *g, const char *line)
{
    berth_error_t err = {""};
    uint32_t types = g->types.n;
    size_t pairs = s->n;
    errno = 0;
    if (filter_spec_parse(s, g, line, &err) == 0) {
        model_line(m, g, line);
        return;
    }
    FUZZ_CHECK(errno == EINVAL && err.text[0] != '\0' && !strchr(err.text, '\n'));
    FUZZ_CHECK(s->n == pairs && g->types.n == types);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct model m;
    struct filter_spec s = {0};
    struct graph *g = graph_create();
    char *text = strndup((const char *)data, size < 255 ? size : 255);
    FUZZ_CHECK(text && g);
    memset(&m, 0, sizeof(m));
    for (char *line = text; line && g->types.n < TYPES / 2;) {
        char *end = strchr(line, '\n');
        if (end)
            *end++ = '\0';
        if (strlen(line) < TYPES) /* at most TYPES / 2 new types */
            try_line(&s, &m, g, line);
        line = end;
        check(&s, &m, g->types.n);
    }
    filter_spec_clear(&s);
    graph_destroy(g);
    free(text);
    return 0;
}
