/* The top of a jobspec, and the one allocation that it is. */
#include "berth/jobspec.h"

#include <errno.h>
#include <stdlib.h>

#include "base/errtext.h"
#include "jobspec/build.h"
#include "jobspec/number.h"

enum top_key { VERSION, RESOURCES, TASKS, ATTRIBUTES, TOP_KEYS };
static const char *const top_names[] = {"version", "resources", "tasks", "attributes"};
static const struct doc_keys top_keys = {"a jobspec", top_names, TOP_KEYS, TOP_KEYS};

enum { VERSION_MAX = 9999 };

static int build_version(struct build *b, uint32_t i)
{
    if (!doc_is_text(b->doc, i) || !number_u32(doc_text(b->doc, i), &b->spec->version) ||
        b->spec->version < 1 || b->spec->version > VERSION_MAX)
        return doc_expected(b->doc, i, "version", "a number from 1 to 9999");
    return 0;
}

static int build_parts(struct build *b, const uint32_t *value)
{
    if (build_version(b, value[VERSION]) < 0 || resources_build(b, value[RESOURCES]) < 0 ||
        tasks_build(b, value[TASKS]) < 0 || attributes_build(b, value[ATTRIBUTES]) < 0)
        return -1;
    return 0;
}

static jobspec_t *from_doc(const struct doc *d, const struct jobspec_options *options)
{
    uint32_t value[TOP_KEYS];
    if (doc_fields(d, 0, &top_keys, value) < 0)
        return NULL;
    struct need need = {0, 0};
    need_array(&need, 1, sizeof(jobspec_t));
    resources_need(&need, d, value[RESOURCES]);
    tasks_need(&need, d, value[TASKS]);
    attributes_need(&need, d, value[ATTRIBUTES]);
    struct build b = {.doc = d, .options = options, .front = malloc(need.arrays + need.text)};
    if (!b.front) {
        errtext_no_memory(d->err);
        return NULL;
    }
    b.back = b.front + need.arrays + need.text;
    b.spec = build_array(&b, 1, sizeof(*b.spec));
    b.spec->preemptible_after = b.spec->sla_waiting_time = -1;
    if (build_parts(&b, value) == 0)
        return b.spec;
    jobspec_destroy(b.spec);
    return NULL;
}

jobspec_t *jobspec_parse(const char *text, size_t length, const struct jobspec_options *options,
                         berth_error_t *err)
{
    static const struct jobspec_options none;
    struct doc doc;
    if (!options)
        options = &none;
    if (doc_read(&doc, text, length, options->name, err) < 0)
        return NULL;
    jobspec_t *spec = from_doc(&doc, options);
    doc_clear(&doc);
    return spec;
}

void jobspec_destroy(jobspec_t *spec)
{
    if (!spec)
        return;
    int saved = errno;
    constraints_clear(spec->constraints);
    free(spec);
    errno = saved;
}
