/* Slots as alternatives, for the flexible traverser.
 *
 * Sibling xor_slots are alternatives for the whole job. A jobspec with xor_slots becomes several variants
 * without: each has everything that is required and, of each list of siblings, one of the xor_slots, as a
 * slot, put last.
 *
 * Sibling slots are alternatives for each slot by itself: one bin takes what all of them give, and their
 * shapes are looked for together.
 */
#include <errno.h>
#include <string.h>

#include "match/walk/request.h"

struct vary {
    struct requests *r;
    uint32_t *options; /* by request of the jobspec: the number of variants of its children */
    uint32_t end;      /* capacity of r->v */
};

/* Count the variants of siblings, and the requests in them; counting stops at one more than is allowed. */
static uint32_t count_variants(const struct vary *y, uint32_t first, uint32_t *chosen)
{
    const uint32_t over = VARIANTS_MAX + 1;
    uint32_t all = 1, xors = 0;

    for (uint32_t i = first; i != REQUEST_NONE; i = y->r->v[i].next) {
        if (y->r->v[i].kind == JOBSPEC_XOR_SLOT)
            xors += y->options[i];
        else
            all *= y->options[i];
        xors = xors < over ? xors : over;
        all = all < over ? all : over;
    }
    *chosen = xors;
    return all;
}

static uint32_t count_options(const struct vary *y, uint32_t first)
{
    uint32_t xors, n = count_variants(y, first, &xors);

    n *= xors > 0 ? xors : 1;
    return n <= VARIANTS_MAX ? n : VARIANTS_MAX + 1;
}

/* Append a copy of a request, and link it after its sibling. */
static uint32_t append_request(struct vary *y, const struct request *q, uint32_t *link)
{
    uint32_t i = y->end++;
    struct request *copy = &y->r->v[i];

    *copy = *q;
    copy->next = REQUEST_NONE;
    copy->bin = i;
    copy->first = i;
    copy->other = REQUEST_NONE;
    if (*link != REQUEST_NONE)
        y->r->v[*link].next = i;
    *link = i;
    return i;
}

/* Make variant k of siblings; the first varies slowest, the choice of an xor_slot fastest. Returns the
 * first of them, or REQUEST_NONE. No deeper than the jobspec.
 */
static uint32_t make_variant(struct vary *y, uint32_t first, uint32_t k)
{
    uint32_t xors, rest = count_variants(y, first, &xors), begin = REQUEST_NONE;
    uint32_t last = REQUEST_NONE, chosen = xors > 0 ? k % xors : 0;
    const struct request *v = y->r->v;

    k = xors > 0 ? k / xors : k;
    for (uint32_t i = first; i != REQUEST_NONE; i = v[i].next) {
        if (v[i].kind == JOBSPEC_XOR_SLOT)
            continue;
        rest /= y->options[i];
        uint32_t copy = append_request(y, &v[i], &last);
        begin = begin == REQUEST_NONE ? copy : begin;
        y->r->v[copy].with = make_variant(y, v[i].with, k / rest);
        k %= rest;
    }
    for (uint32_t i = first; i != REQUEST_NONE && xors > 0; i = v[i].next) {
        if (v[i].kind != JOBSPEC_XOR_SLOT)
            continue;
        if (chosen >= y->options[i]) {
            chosen -= y->options[i];
            continue;
        }
        uint32_t copy = append_request(y, &v[i], &last);
        y->r->v[copy].kind = JOBSPEC_SLOT;
        y->r->v[copy].type = TYPE_SLOT;
        y->r->v[copy].with = make_variant(y, v[i].with, chosen);
        return begin == REQUEST_NONE ? copy : begin;
    }
    return begin;
}

/* The joint shape of alternatives: every type once, as the alternative with the largest minimum wants it. */
static uint32_t unite_shapes(struct vary *y, uint32_t first)
{
    uint32_t begin = REQUEST_NONE, last = REQUEST_NONE;
    struct request *v = y->r->v;

    for (uint32_t slot = first; slot != REQUEST_NONE; slot = v[slot].other) {
        for (uint32_t i = v[slot].with; i != REQUEST_NONE; i = v[i].next) {
            uint32_t same = begin;
            while (same != REQUEST_NONE && v[same].type != v[i].type)
                same = v[same].next;
            if (same == REQUEST_NONE) {
                uint32_t copy = append_request(y, &v[i], &last);
                begin = begin == REQUEST_NONE ? copy : begin;
            } else if (v[same].min < v[i].min) {
                uint32_t next = v[same].next;
                v[same] = v[i];
                v[same].next = next;
                v[same].bin = v[same].first = same;
                v[same].other = REQUEST_NONE;
            }
        }
    }
    return begin;
}

/* Join the slots among siblings, and below them. */
static void join_slots(struct vary *y, uint32_t first)
{
    struct request *v = y->r->v;
    uint32_t head = REQUEST_NONE, last = REQUEST_NONE;

    for (uint32_t i = first; i != REQUEST_NONE; i = v[i].next) {
        join_slots(y, v[i].with);
        if (!v[i].is_slot)
            continue;
        if (head == REQUEST_NONE)
            head = i;
        else
            v[last].other = i;
        last = i;
    }
    if (last == REQUEST_NONE)
        return;
    for (uint32_t i = head; i != REQUEST_NONE; i = v[i].other)
        v[i].bin = last;
    v[last].first = head;
    v[last].shape = unite_shapes(y, head);
}

int requests_vary(struct requests *r, struct arena *arena)
{
    struct vary y = {.r = r, .options = arena_alloc(arena, r->n * sizeof(*y.options)), .end = r->n};
    bool xors = false;

    if (!y.options)
        return -1;
    for (uint32_t i = r->n; i-- > 0;) {
        y.options[i] = count_options(&y, r->v[i].with);
        xors |= r->v[i].kind == JOBSPEC_XOR_SLOT;
    }
    r->n_variants = count_options(&y, 0);
    if (r->n_variants > VARIANTS_MAX ||
        (xors && (uint64_t)r->n_variants * r->n > VARIANT_REQUESTS_MAX)) {
        errno = EOVERFLOW;
        return -1;
    }
    /* How many copies of requests all variants and shapes need. */
    size_t room = (size_t)r->n * (xors ? 2 * (size_t)r->n_variants + 1 : 2);
    struct request *v = arena_alloc(arena, room * sizeof(*v));
    r->variant = arena_alloc(arena, r->n_variants * sizeof(*r->variant));
    if (!v || !r->variant)
        return -1;
    memcpy(v, r->v, r->n * sizeof(*v));
    r->v = v;
    for (uint32_t k = 0; k < r->n_variants; k++) {
        r->variant[k] = xors ? make_variant(&y, 0, k) : 0;
        join_slots(&y, r->variant[k]);
    }
    return 0;
}
