/* A machine as bytes: the numbers of objects and texts, the texts, each after its length, and the objects. */
#include <errno.h>
#include <string.h>

#include "base/errtext.h"
#include "resource/readers/machine.h"

struct head {
    uint32_t objects, texts;
};

/* One as it is sent: no bytes between its members. */
struct packed {
    int64_t id, size;
    uint32_t in, type, basename, name, unit, property_key, property_value;
    uint32_t divisible; /* 0 or 1 */
};

/* The bytes that are left. */
struct rest {
    const char *at;
    size_t n;
};

void machine_pack(const struct machine *m, struct strbuf *out)
{
    struct head head = {m->n, m->texts.n};

    strbuf_put(out, (const char *)&head, sizeof(head));
    for (uint32_t i = 0; i < m->texts.n; i++) {
        uint32_t length = (uint32_t)intern_length(&m->texts, i);
        strbuf_put(out, (const char *)&length, sizeof(length));
        strbuf_put(out, intern_text(&m->texts, i), length);
    }
    for (uint32_t i = 0; i < m->n; i++) {
        const struct machine_object *t = &m->object[i];
        struct packed packed = {t->id,   t->size, t->in,           t->type,           t->basename,
                                t->name, t->unit, t->property_key, t->property_value, t->divisible};
        strbuf_put(out, (const char *)&packed, sizeof(packed));
    }
}

static int report_malformed(berth_error_t *err, const char *what, size_t number)
{
    return errtext_set(err, EINVAL, "%s %zu of the machine is malformed", what, number);
}

static bool copy_bytes(struct rest *rest, void *to, size_t n)
{
    if (n > rest->n)
        return false;
    memcpy(to, rest->at, n);
    rest->at += n;
    rest->n -= n;
    return true;
}

static int take_texts(struct machine *m, struct rest *rest, uint32_t n, berth_error_t *err)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t length, number;
        if (!copy_bytes(rest, &length, sizeof(length)) || length > rest->n ||
            memchr(rest->at, '\0', length))
            return report_malformed(err, "text", i);
        if (intern_put(&m->texts, rest->at, length, &number) < 0)
            return errtext_no_memory(err);
        if (number != i)
            return report_malformed(err, "text", i);
        rest->at += length;
        rest->n -= length;
    }
    return 0;
}

/* True if a text exists, and is not empty unless it `may_be_empty`. */
static bool is_text(const struct machine *m, uint32_t number, bool may_be_empty)
{
    return number < m->texts.n && (may_be_empty || intern_length(&m->texts, number) > 0);
}

static bool is_text_or_none(const struct machine *m, uint32_t number)
{
    return number == MACHINE_NONE || is_text(m, number, false);
}

static bool is_sound(const struct machine *m, const struct packed *p)
{
    bool has_key = p->property_key != MACHINE_NONE;

    return (p->in == MACHINE_NONE || p->in < m->n) && is_text(m, p->type, false) &&
           is_text(m, p->basename, false) && is_text_or_none(m, p->name) &&
           is_text_or_none(m, p->unit) && is_text_or_none(m, p->property_key) &&
           (has_key ? is_text(m, p->property_value, true) : p->property_value == MACHINE_NONE) &&
           p->id >= -1 && p->size >= 0 && p->divisible <= 1;
}

static int take_objects(struct machine *m, struct rest *rest, uint32_t n, berth_error_t *err)
{
    struct packed p;

    for (uint32_t i = 0; i < n; i++) {
        if (!copy_bytes(rest, &p, sizeof(p)) || !is_sound(m, &p))
            return report_malformed(err, "object", i);
        struct machine_object object = {.in = p.in,
                                        .type = p.type,
                                        .basename = p.basename,
                                        .name = p.name,
                                        .unit = p.unit,
                                        .property_key = p.property_key,
                                        .property_value = p.property_value,
                                        .id = p.id,
                                        .size = p.size,
                                        .divisible = p.divisible == 1};
        if (machine_add(m, &object) < 0)
            return errtext_no_memory(err);
    }
    return rest->n == 0 ? 0 : report_malformed(err, "what follows object", n);
}

int machine_unpack(struct machine *m, const char *bytes, size_t length, berth_error_t *err)
{
    struct rest rest = {bytes, length};
    struct head head;

    if (!copy_bytes(&rest, &head, sizeof(head)) || head.objects > MACHINE_OBJECTS_MAX)
        return errtext_set(err, EINVAL, "the header of the machine is malformed");
    if (take_texts(m, &rest, head.texts, err) == 0 &&
        take_objects(m, &rest, head.objects, err) == 0)
        return 0;
    machine_clear(m);
    return -1;
}
