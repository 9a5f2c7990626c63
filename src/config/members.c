#include "config/members.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/errtext.h"

#define INDEX_MAX (MEMBERS_MAX - 1)

/* A text that is being read. Items in ascending order are a set as they are. Of others all indices are marked in a table
 * first, as each one that is put between others in a set moves what is behind it.
 */
struct reader {
    const char *text, *at, *end;
    struct idset_range *item;
    size_t n_items, cap_items;
    bool ascends;
    unsigned char *has;       /* a bit for each index */
    uint32_t lowest, highest; /* of those marked */
    berth_error_t *err;
};

/* What stands there is not what was expected. */
static int wrong_members(const struct reader *r, const char *at, const char *expected)
{
    return errtext_expected(r->err, r->text, (size_t)(r->end - r->text), (size_t)(at - r->text),
                            expected);
}

/* Read a number of at most `most`. */
static int take_bounded_number(struct reader *r, uint32_t least, uint32_t most,
                               const char *expected, uint32_t *number)
{
    const char *begin = r->at;
    uint64_t value = 0;
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9') {
        value = 10 * value + (uint64_t)(*r->at++ - '0');
        if (value > most)
            return wrong_members(r, begin, expected);
    }
    if (r->at == begin || value < least)
        return wrong_members(r, begin, expected);
    *number = (uint32_t)value;
    return 0;
}

static bool take_char(struct reader *r, char c)
{
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

static int take_index(struct reader *r, uint32_t *index)
{
    return take_bounded_number(r, 0, INDEX_MAX, "an index from 0 to 999999", index);
}

static bool is_marked(const struct reader *r, uint32_t index)
{
    return r->has[index / 8] >> index % 8 & 1;
}

static int add_item(struct reader *r, uint32_t low, uint32_t high, uint32_t step)
{
    struct idset_range item = {low, high - (high - low) % step, step - 1};
    if (item.lo == item.hi)
        item.gap = 0;
    if (array_grow((void **)&r->item, &r->cap_items, r->n_items + 1, sizeof(*r->item)) < 0)
        return errtext_no_memory(r->err);
    r->ascends = r->ascends && (r->n_items == 0 || r->item[r->n_items - 1].hi < low);
    r->item[r->n_items++] = item;
    return 0;
}

static int mark_item(struct reader *r, struct idset_range item)
{
    for (uint32_t i = item.lo; i <= item.hi; i += item.gap + 1) {
        if (is_marked(r, i))
            return errtext_set(r->err, EINVAL, "index %u is given twice", i);
        r->has[i / 8] |= (unsigned char)(1u << i % 8);
        r->lowest = i < r->lowest ? i : r->lowest;
        r->highest = i > r->highest ? i : r->highest;
    }
    return 0;
}

/* "3", "0-8" or "0-8:2". */
static int read_item(struct reader *r)
{
    uint32_t low, high, step = 1;
    const char *begin = r->at;
    if (take_index(r, &low) < 0)
        return -1;
    high = low;
    if (take_char(r, '-')) {
        if (take_index(r, &high) < 0)
            return -1;
        if (high < low)
            return wrong_members(r, begin, "a range from a lower to a higher index");
        if (take_char(r, ':') &&
            take_bounded_number(r, 1, INDEX_MAX, "a step of 1 or more", &step) < 0)
            return -1;
    }
    return add_item(r, low, high, step);
}

static int read_indices(struct reader *r)
{
    do {
        if (read_item(r) < 0)
            return -1;
    } while (take_char(r, ','));
    return 0;
}

static int put_ascending(const struct reader *r, struct idset *to)
{
    struct idset_builder b = {0};
    int rc = 0;
    for (size_t i = 0; i < r->n_items && rc == 0; i++)
        rc = idset_build(&b, r->item[i]);
    if (rc == 0)
        rc = idset_finish(&b);
    *to = b.set;
    return rc < 0 ? errtext_no_memory(r->err) : 0;
}

static int put_marked(struct reader *r, struct idset *to)
{
    struct idset_builder b = {0};
    int rc = 0;
    r->lowest = INDEX_MAX;
    r->has = calloc(MEMBERS_MAX / 8, 1);
    if (!r->has)
        return errtext_no_memory(r->err);
    for (size_t i = 0; i < r->n_items; i++)
        if (mark_item(r, r->item[i]) < 0)
            return -1;
    for (uint32_t i = r->lowest; i <= r->highest && rc == 0; i++)
        if (is_marked(r, i))
            rc = idset_build(&b, (struct idset_range){i, i, 0});
    if (rc == 0)
        rc = idset_finish(&b);
    *to = b.set;
    return rc < 0 ? errtext_no_memory(r->err) : 0;
}

/* The number of members, or their indices. */
static int read_which(struct reader *r, struct members *members)
{
    size_t digits = 0;
    while (r->at + digits < r->end && r->at[digits] >= '0' && r->at[digits] <= '9')
        digits++;
    if (r->at == r->end || *r->at == '%')
        return wrong_members(r, r->at, MEMBERS_EXPECTED);
    if (digits > 0 && (r->at + digits == r->end || r->at[digits] == '%')) {
        uint32_t n;
        if (take_bounded_number(r, 1, MEMBERS_MAX, "from 1 to 1000000 members", &n) < 0)
            return -1;
        return idset_add_range(&members->indices, 0, n - 1) < 0 ? errtext_no_memory(r->err) : 0;
    }
    if (read_indices(r) < 0)
        return -1;
    return r->ascends ? put_ascending(r, &members->indices) : put_marked(r, &members->indices);
}

int members_read(struct members *members, const char *text, size_t length, berth_error_t *err)
{
    struct reader r = {.text = text, .at = text, .end = text + length, .ascends = true, .err = err};
    *members = (struct members){0};
    int rc = read_which(&r, members);
    if (rc == 0 && take_char(&r, '%'))
        rc = take_bounded_number(&r, 1, MEMBERS_MAX, "how many members at once, from 1 to 1000000",
                                 &members->most);
    if (rc == 0 && r.at < r.end)
        rc = wrong_members(&r, r.at, "',', '%' or the end");
    int saved = errno;
    free(r.item);
    free(r.has);
    if (rc < 0)
        members_clear(members);
    errno = saved;
    return rc;
}

int members_count(struct members *members, uint32_t n)
{
    *members = (struct members){0};
    return idset_add_range(&members->indices, 0, n - 1);
}

void members_clear(struct members *members)
{
    idset_clear(&members->indices);
    members->most = 0;
}
