#include "share/class_counts.h"

__extension__ typedef __int128 wide;

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* a * b / c, rounded down. */
static int64_t scale(int64_t a, int64_t b, int64_t c)
{
    return (int64_t)((wide)a * b / c);
}

void class_normalise(int64_t *percent, size_t n)
{
    int64_t sum = 0, others = 0;
    for (size_t i = 0; i < n; i++)
        sum += percent[i];
    if (sum == 100)
        return;
    for (size_t i = 1; i < n; i++) {
        percent[i] = scale(percent[i], 100, sum);
        others += percent[i];
    }
    percent[0] = 100 - others;
}

void class_set_targets(struct class_load *c, size_t n, int64_t workers)
{
    int64_t others = 0;
    for (size_t i = 1; i < n; i++) {
        c[i].target = scale(workers, c[i].percent, 100);
        others += c[i].target;
    }
    if (n > 0)
        c[0].target = workers - others;
}

int64_t class_spread(const struct class_load *c, size_t n, int64_t workers)
{
    int64_t below = 0, above = 0;
    if (n < 2 || workers <= 0)
        return 0;
    for (size_t i = 0; i < n; i++) {
        if (c[i].percent == 0)
            continue;
        int64_t lacks = c[i].percent - scale(c[i].running, 100, workers);
        if (lacks >= 0 && c[i].waiting == 0)
            continue;
        below = max64(below, lacks);
        above = max64(above, -lacks);
    }
    return below + above;
}

/* What a class had beyond its target before this decision, but for what it stops. What the rounds before
 * have given is not in it: the next round is a distribution of its own.
 */
static int64_t borrowed(const struct class_load *c)
{
    return c->percent > 0 ? max64(0, c->running - c->stop - c->target) : 0;
}

/* Begin to decide. */
static void begin_counts(struct class_load *c, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        c[i].start = c[i].stop = c[i].claim = c[i].part = 0;
        c[i].left = c[i].percent > 0 ? c[i].waiting : 0;
    }
}

static void give(struct class_load *c, int64_t units)
{
    int64_t spared = min64(units, c->stop);
    c->stop -= spared;
    c->start += units - spared;
    c->left -= units;
}

/* Of how many parts a round is: a hundred; but whole percents are too coarse to tell many classes apart. */
static int64_t parts_of(const struct class_load *c, size_t n)
{
    size_t claims = 0;
    for (size_t i = 0; i < n; i++)
        claims += c[i].claim > 0;
    return claims > CLASS_PERCENT_CLAIMS ? 1000000 : 100;
}

/* Give each class its part of so many units, rounded up, in their order. Returns how many were given. */
static int64_t give_parts(struct class_load *c, size_t n, int64_t units)
{
    int64_t given = 0, all = parts_of(c, n);
    for (size_t i = 0; i < n && given < units; i++) {
        int64_t part = (int64_t)(((wide)units * c[i].part + all - 1) / all);
        part = min64(min64(part, c[i].left), units - given);
        give(&c[i], part);
        given += part;
    }
    return given;
}

/* ---- What classes are entitled to ---- */

/* Claims are what waiting classes lack of their targets. Returns their sum. */
static int64_t claim_entitlements(struct class_load *c, size_t n)
{
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        c[i].claim = c[i].left > 0 ? max64(0, c[i].target - c[i].running - c[i].start) : 0;
        sum += c[i].claim;
    }
    return sum;
}

/* Parts are claims in proportion to their sum. The first class that claims something takes what rounding
 * leaves: one that has its target gets nothing.
 */
static void part_entitlements(struct class_load *c, size_t n, int64_t sum)
{
    int64_t parts = 0, all = parts_of(c, n);
    size_t first = n;
    for (size_t i = 0; i < n; i++) {
        c[i].part = scale(c[i].claim, all, sum);
        parts += c[i].part;
        if (first == n && c[i].claim > 0)
            first = i;
    }
    c[first].part += all - parts;
}

/* Each round gives all of its units, or all that a class waits for. Returns how many workers stay idle. */
static int64_t give_entitlements(struct class_load *c, size_t n, int64_t idle)
{
    int64_t sum;
    while (idle > 0 && (sum = claim_entitlements(c, n)) > 0) {
        part_entitlements(c, n, sum);
        idle -= give_parts(c, n, min64(idle, sum));
    }
    return idle;
}

/* ---- Loans ---- */

/* The percentages of all classes that still wait. */
static int64_t percent_waiting(const struct class_load *c, size_t n)
{
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += c[i].left > 0 ? c[i].percent : 0;
    return sum;
}

/* Claims are parts of all that is lent by the percentages of those that wait, less what a class has borrowed
 * already. Returns their sum.
 */
static int64_t claim_loans(struct class_load *c, size_t n, int64_t lent, int64_t percents)
{
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        c[i].claim =
            c[i].left > 0 ? max64(0, scale(lent, c[i].percent, percents) - borrowed(&c[i])) : 0;
        sum += c[i].claim;
    }
    int64_t all = parts_of(c, n);
    for (size_t i = 0; i < n; i++)
        c[i].part = sum > 0 ? scale(c[i].claim, all, sum) : 0;
    return sum;
}

/* Parts may be too small to count: give claims in proportion instead, rounded down. */
static int64_t give_claims(struct class_load *c, size_t n, int64_t units, int64_t sum)
{
    int64_t given = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t part = min64(c[i].left, scale(c[i].claim, min64(units, sum), sum));
        give(&c[i], part);
        given += part;
    }
    return given;
}

/* All claims are less than a unit: give one to the class that lacks most of its part of what is lent. There
 * are fewer such units than classes, and each counts for the next.
 */
static void give_one(struct class_load *c, size_t n, int64_t lent, int64_t percents)
{
    size_t best = n;
    wide most = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t has = max64(0, c[i].running + c[i].start - c[i].target);
        wide lacks = (wide)lent * c[i].percent - (wide)has * percents;
        if (c[i].left > 0 && (best == n || lacks > most)) {
            best = i;
            most = lacks;
        }
    }
    give(&c[best], 1);
}

static int64_t lent_units(const struct class_load *c, size_t n)
{
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += borrowed(&c[i]);
    return sum;
}

static void give_loans(struct class_load *c, size_t n, int64_t idle)
{
    int64_t percents;
    while (idle > 0 && (percents = percent_waiting(c, n)) > 0) {
        int64_t lent = idle + lent_units(c, n), given = 0;
        int64_t sum = claim_loans(c, n, lent, percents);
        if (sum > 0)
            given = give_parts(c, n, idle);
        if (sum > 0 && given == 0)
            given = give_claims(c, n, idle, sum);
        if (given == 0) {
            give_one(c, n, lent, percents);
            given = 1;
        }
        idle -= given;
    }
}

void class_count_starts(struct class_load *c, size_t n, int64_t idle)
{
    begin_counts(c, n);
    give_loans(c, n, give_entitlements(c, n, idle));
}

/* ---- Rebalancing ---- */

static void back_to_targets(struct class_load *c, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (c[i].percent == 0)
            continue;
        c[i].stop = max64(0, c[i].running - max64(c[i].target, c[i].fixed));
        give(&c[i], min64(c[i].left, max64(0, c[i].target - c[i].running)));
    }
}

/* Spare stops until no more than `most` are left, the largest classes first. */
static void spare_stops(struct class_load *c, size_t n, int64_t most)
{
    int64_t stops = 0;
    for (size_t i = 0; i < n; i++)
        stops += c[i].stop;
    for (size_t i = 0; i < n && stops > most; i++) {
        int64_t spared = min64(c[i].stop, stops - most);
        c[i].stop -= spared;
        stops -= spared;
    }
}

/* Starts that fill a target; the others are loans. */
static int64_t entitled(const struct class_load *c)
{
    return min64(c->start, max64(0, c->target - c->running));
}

static int64_t entitled_units(const struct class_load *c, size_t n)
{
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += entitled(&c[i]);
    return sum;
}

/* Keep starts to so many: those that fill targets before loans, and the largest classes first. They are not
 * enough for all targets where workers are held by nobody that counts.
 */
static void keep_starts(struct class_load *c, size_t n, int64_t most)
{
    int64_t fills = min64(most, entitled_units(c, n)), loans = most - fills;
    for (size_t i = 0; i < n; i++) {
        int64_t own = entitled(&c[i]), lent = min64(c[i].start - own, loans);
        own = min64(own, fills);
        c[i].start = own + lent;
        fills -= own;
        loans -= lent;
    }
}

void class_count_rebalance(struct class_load *c, size_t n, int64_t idle)
{
    int64_t waiting = 0, starts = 0, stops = 0, percents;
    begin_counts(c, n);
    for (size_t i = 0; i < n; i++)
        waiting += c[i].left;
    back_to_targets(c, n);
    for (size_t i = 0; i < n; i++) {
        starts += c[i].start;
        stops += c[i].stop;
    }
    int64_t units = idle + stops - starts;
    if (units > 0 && (percents = percent_waiting(c, n)) > 0) {
        claim_loans(c, n, units + lent_units(c, n), percents);
        give_parts(c, n, units);
    }
    spare_stops(c, n, min64(entitled_units(c, n), max64(0, waiting - idle)));
    stops = 0;
    for (size_t i = 0; i < n; i++)
        stops += c[i].stop;
    keep_starts(c, n, idle + stops);
}

void class_timer_note(struct class_timer *t, int64_t now, int64_t spread, int64_t threshold)
{
    if (threshold <= 0 || spread <= threshold)
        t->is_over = false;
    else if (!t->is_over || now < t->since)
        *t = (struct class_timer){true, now};
}

bool class_check(const struct class_load *c, size_t n, int64_t idle)
{
    int64_t starts = 0, stops = 0;
    for (size_t i = 0; i < n; i++) {
        bool is_closed = c[i].percent == 0;
        if (c[i].start < 0 || c[i].stop < 0 || (c[i].start > 0 && c[i].stop > 0))
            return false;
        if (c[i].start > (is_closed ? 0 : c[i].waiting))
            return false;
        if (c[i].stop > (is_closed ? 0 : max64(0, c[i].running - max64(c[i].target, c[i].fixed))))
            return false;
        starts += c[i].start;
        stops += c[i].stop;
    }
    return starts <= idle + stops && stops <= entitled_units(c, n);
}
