/* Any bytes are a jobspec that keeps its promises, or an error of one line.
 *
 * The first byte says which resource types are known: its lowest bit asks for a machine that knows
 * only those of up to four letters.
 *
 * What the quick reader of documents makes of them, libyaml's makes too, in every node. A jobspec's
 * canonical text is one with the same resources and constraints, and its own. Any bytes may also be
 * constraints alone.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "berth/jobspec.h"
#include "fuzz.h"
#include "jobspec/canonical.h"
#include "jobspec/constraint_text.h"
#include "jobspec/doc.h"
#include "jobspec/quick.h"

static bool short_types(const void *arg, const char *type)
{
    (void)arg;
    return strlen(type) <= 4;
}

static bool some_properties(const void *arg, const char *property)
{
    (void)arg;
    return property[0] % 2;
}

static void check_count(const struct jobspec_count *c)
{
    uint32_t most = jobspec_count_max(c);
    FUZZ_CHECK(c->min <= most && most <= c->max);
    FUZZ_CHECK(jobspec_calc_count(c, c->min) == c->min);
    FUZZ_CHECK(c->min == 0 || jobspec_calc_count(c, c->min - 1) == 0);
    FUZZ_CHECK(jobspec_calc_count(c, most) == most);
    FUZZ_CHECK((c->op == JOBSPEC_LIST) == (c->nruns >= 2));
    for (uint32_t i = 0; i < c->nruns; i++)
        FUZZ_CHECK(c->runs[i].first <= c->runs[i].last &&
                   (i == 0 || c->runs[i - 1].last + 1 < c->runs[i].first));
}

static void check_resources(const jobspec_t *spec, bool only_short)
{
    const struct jobspec_resource *r = spec->resources;
    FUZZ_CHECK(spec->nresources >= 1);
    FUZZ_CHECK(spec->ntypes >= 1 && spec->ntypes <= JOBSPEC_TYPES_MAX);
    for (uint32_t i = 0; i < spec->nresources; i++) {
        FUZZ_CHECK(r[i].type == spec->types[r[i].type_index]);
        FUZZ_CHECK(r[i].kind != JOBSPEC_RESOURCE || !only_short || strlen(r[i].type) <= 4);
        FUZZ_CHECK(r[i].kind != JOBSPEC_SLOT || r[i].label);
        FUZZ_CHECK(r[i].end > i && r[i].end <= spec->nresources);
        FUZZ_CHECK(r[i].next == JOBSPEC_NONE || r[i].next == r[i].end);
        FUZZ_CHECK((r[i].parent == JOBSPEC_NONE) == (r[i].depth == 0));
        if (r[i].depth > 0) {
            const struct jobspec_resource *parent = &r[r[i].parent];
            FUZZ_CHECK(r[i].parent < i && r[i].end <= parent->end);
            FUZZ_CHECK(r[i].depth == parent->depth + 1);
            FUZZ_CHECK(r[i].in_slot == (parent->in_slot || parent->kind != JOBSPEC_RESOURCE));
        }
        check_count(&r[i].count);
    }
}

static void check_rest(const jobspec_t *spec)
{
    FUZZ_CHECK(spec->version >= 1 && spec->version <= 9999);
    FUZZ_CHECK(spec->ntasks >= 1);
    for (uint32_t i = 0; i < spec->ntasks; i++) {
        const struct jobspec_task *t = &spec->tasks[i];
        FUZZ_CHECK(t->ncommand >= 1 && t->count >= 1 && t->slot);
        for (uint32_t c = 0; c < t->ncommand; c++)
            FUZZ_CHECK(t->command[c]);
        FUZZ_CHECK(!t->command[t->ncommand]);
        FUZZ_CHECK((t->per == JOBSPEC_PER_RESOURCE) == (t->per_type != NULL));
    }
    for (uint32_t i = 0; i < spec->nenvironment; i++)
        FUZZ_CHECK(spec->environment[i].name);
    struct jobspec_target target = {.name = "node7", .rank = 7, .has_property = some_properties};
    bool match = jobspec_constraint_match(spec->constraints, &target);
    FUZZ_CHECK(match || spec->constraints);
    FUZZ_CHECK(spec->preemptible_after >= 0 || spec->preemptible_after == -1);
    for (uint32_t i = 0; i < spec->ndependencies; i++)
        FUZZ_CHECK(spec->dependencies[i].scheme && spec->dependencies[i].value);
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static void check_same_count(const struct jobspec_count *a, const struct jobspec_count *b)
{
    FUZZ_CHECK(a->min == b->min && a->max == b->max && a->nruns == b->nruns);
    FUZZ_CHECK(a->min == a->max || (a->op == b->op && a->operand == b->operand));
    for (uint32_t i = 0; i < a->nruns; i++)
        FUZZ_CHECK(a->runs[i].first == b->runs[i].first && a->runs[i].last == b->runs[i].last);
}

static void check_same_requests(const jobspec_t *a, const jobspec_t *b)
{
    FUZZ_CHECK(a->nresources == b->nresources && a->ntypes == b->ntypes);
    for (uint32_t i = 0; i < a->nresources; i++) {
        const struct jobspec_resource *x = &a->resources[i], *y = &b->resources[i];
        FUZZ_CHECK(strcmp(x->type, y->type) == 0 && x->kind == y->kind && x->next == y->next);
        FUZZ_CHECK(x->parent == y->parent && x->end == y->end && x->exclusive == y->exclusive);
        FUZZ_CHECK(same_text(x->unit, y->unit) && same_text(x->id, y->id));
        check_same_count(&x->count, &y->count);
    }
    FUZZ_CHECK(!a->constraints == !b->constraints);
    for (int64_t rank = -1; rank < 8; rank++) {
        char name[] = {'n', 'o', 'd', 'e', (char)('0' + (rank & 7)), '\0'};
        struct jobspec_target target = {
            .name = name, .rank = rank, .has_property = rank & 1 ? some_properties : NULL};
        FUZZ_CHECK(jobspec_constraint_match(a->constraints, &target) ==
                   jobspec_constraint_match(b->constraints, &target));
    }
}

static void check_canonical(const jobspec_t *spec)
{
    berth_error_t err = {""};
    char *text = jobspec_canonical(spec);
    FUZZ_CHECK(text && !strchr(text, '\n'));
    jobspec_t *read = jobspec_parse(text, strlen(text), NULL, &err);
    FUZZ_CHECK(read);
    check_same_requests(spec, read);
    char *again = jobspec_canonical(read);
    FUZZ_CHECK(again && strcmp(text, again) == 0);
    free(again);
    jobspec_destroy(read);
    free(text);
}

static void check_constraint(const char *text, size_t length)
{
    struct jobspec_target target = {.name = "node7", .rank = 7, .has_property = some_properties};
    berth_error_t err = {""};
    errno = 0;
    struct jobspec_constraint *c = jobspec_constraint_parse(text, length, &err);
    FUZZ_CHECK(c || ((errno == EINVAL || errno == ENOMEM) && err.text[0]));
    if (c)
        jobspec_constraint_match(c, &target);
    jobspec_constraint_destroy(c);
}

static void check_same(const struct doc *a, const struct doc *b)
{
    FUZZ_CHECK(a->n == b->n && a->used == b->used);
    FUZZ_CHECK(memcmp(a->text, b->text, a->used) == 0);
    for (uint32_t i = 0; i < a->n; i++) {
        const struct doc_node *x = &a->node[i];
        const struct doc_node *y = &b->node[i];
        FUZZ_CHECK(x->kind == y->kind && x->plain == y->plain);
        FUZZ_CHECK(x->text == y->text && x->length == y->length);
        FUZZ_CHECK(x->end == y->end && x->count == y->count);
        FUZZ_CHECK(x->line == y->line && x->column == y->column);
    }
}

/* doc_read is quick_read where that knows enough: then its tree is the same, else there is nothing
 * to see.
 */
static void check_readers(const char *text, size_t length)
{
    struct doc slow, quick = {.capacity = 4, .size = 64};
    quick.node = malloc(quick.capacity * sizeof(*quick.node));
    quick.text = malloc(quick.size);
    FUZZ_CHECK(quick.node && quick.text);
    if (quick_read(&quick, text, length)) {
        FUZZ_CHECK(doc_read_yaml(&slow, text, length, NULL, NULL) == 0);
        check_same(&quick, &slow);
        doc_clear(&slow);
    }
    doc_clear(&quick);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool only_short = size > 0 && data[0] & 1;
    const char *text = size > 0 ? (const char *)data + 1 : "";
    size_t length = size > 0 ? size - 1 : 0;
    struct jobspec_options options = {.name = "fuzz",
                                      .knows_type = only_short ? short_types : NULL};
    berth_error_t err = {""};
    check_readers(text, length);
    check_constraint(text, length);
    errno = 0;
    jobspec_t *spec = jobspec_parse(text, length, &options, &err);
    if (!spec) {
        FUZZ_CHECK(errno == EINVAL || errno == ENOMEM);
        FUZZ_CHECK(strncmp(err.text, "fuzz:", 5) == 0 || errno == ENOMEM);
        FUZZ_CHECK(!strchr(err.text, '\n'));
        return 0;
    }
    FUZZ_CHECK(err.text[0] == '\0');
    check_resources(spec, only_short);
    check_rest(spec);
    check_canonical(spec);
    jobspec_destroy(spec);
    return 0;
}
