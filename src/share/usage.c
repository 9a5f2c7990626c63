/* Usage that fades. What is stored is an average over the past in which what has run counts by
 * 2^(-age / half-life). So with a constant rate it moves towards that rate, and the distance shrinks by
 * 2^(-dt / half-life): one multiplication, and no sum that could overflow.
 */
#include <errno.h>

#include "share/tree_inner.h"

/* 2^(-k / 16^(j + 1)) in units of 2^-64, rounded down; the first stands for 1. */
static const uint64_t powers[4][16] = {
    {0, 0xf5257d152486cc2c, 0xeac0c6e7dd24392e, 0xe0ccdeec2a94e111, 0xd744fccad69d6af4,
     0xce248c151f8480e3, 0xc5672a115506dadd, 0xbd08a39f580c36be, 0xb504f333f9de6484,
     0xad583eea42a14ac6, 0xa5fed6a9b15138ea, 0x9ef5326091a111ad, 0x9837f0518db8a96f,
     0x91c3d373ab11c336, 0x8b95c1e3ea8bd6e6, 0x85aac367cc487b14},
    {0, 0xff4ecb59511ec8a5, 0xfe9e115c7b8f884b, 0xfdedd1b496a89f34, 0xfd3e0c0cf486c174,
     0xfc8ec01121e447bb, 0xfbdfed6ce5f09c48, 0xfb3193cc4227c3f4, 0xfa83b2db722a033a,
     0xf9d64a46eb939f35, 0xf92959bb5dd4ba74, 0xf87ce0e5b2094d9b, 0xf7d0df730ad13bb8,
     0xf7255510c4288238, 0xf67a416c733f846d, 0xf5cfa433e6537290},
    {0, 0xfff4e91bff1b8c3d, 0xffe9d2b2f7db2755, 0xffdebcc4e4eb1841, 0xffd3a751c0f7e10b,
     0xffc8925986ae3ed0, 0xffbd7ddc30bb29b9, 0xffb269d9b9cbd4fa, 0xffa756521c8daed1,
     0xff9c434553ae6082, 0xff9130b359dbce53, 0xff861e9c29c4178c, 0xff7b0cffbe159675,
     0xff6ffbde117ee04e, 0xff64eb371eaec554, 0xff59db0ae05450ba},
    {0, 0xffff4e8e25879bfa, 0xfffe9d1cc60ddab1, 0xfffdebabe19266e4, 0xfffd3a3b7814eb53,
     0xfffc88cb899512be, 0xfffbd75c161287e4, 0xfffb25ed1d8cf586, 0xfffa747ea0040664,
     0xfff9c3109d77653e, 0xfff911a315e6bcd6, 0xfff860360951b7ec, 0xfff7aec977b80143,
     0xfff6fd5d6119439a, 0xfff64bf1c57529b5, 0xfff59a86a4cb5e55},
};

static const uint64_t ln2 = 0xb17217f7d1cf79ab; /* in units of 2^-64 */

__extension__ typedef unsigned __int128 uwide;

/* The product of two numbers in units of 2^-64, rounded down. */
static uwide times(uwide a, uint64_t b)
{
    return (a >> 64) * b + ((a & UINT64_MAX) * b >> 64);
}

uint64_t share_fading(uint64_t dt, int64_t half_life)
{
    uint64_t h = (uint64_t)half_life;
    if (dt / h >= 64)
        return 0;
    uint64_t x = (uint64_t)(((uwide)(dt % h) << 64) / h);
    uwide f = (uwide)1 << 64;
    for (int j = 0; j < 4; j++) {
        uint64_t k = x >> (60 - 4 * j) & 15;
        if (k > 0)
            f = times(f, powers[j][k]);
    }
    /* Of the rest, below 2^-16, four terms of the series: the fifth is below 2^-68. */
    uint64_t z = (uint64_t)times(x & (UINT64_MAX >> 16), ln2);
    uint64_t z2 = (uint64_t)times(z, z);
    uint64_t z3 = (uint64_t)times(z2, z);
    if (z > 0)
        f = times(f, 0 - (z - z2 / 2 + z3 / 6));
    f >>= dt / h;
    return f > UINT64_MAX ? UINT64_MAX : (uint64_t)f;
}

share_wide share_usage_at(const struct share_tree *t, const struct share_node *n, int64_t now)
{
    share_wide towards = n->rate * ((share_wide)1 << 32);
    if (now <= n->usage_at || t->half_life == 0 || n->usage == towards)
        return n->usage;
    uint64_t f = share_fading((uint64_t)now - (uint64_t)n->usage_at, t->half_life);
    bool above = n->usage > towards;
    share_wide distance = above ? n->usage - towards : towards - n->usage;
    distance = (share_wide)times((uwide)distance, f);
    return above ? towards + distance : towards - distance;
}

void share_usage_settle(const struct share_tree *t, struct share_node *n, int64_t now)
{
    n->usage = share_usage_at(t, n, now);
    n->usage_at = now;
}

static const share_wide usage_most = (share_wide)1 << 116;

static struct share_usage to_pair(share_wide usage)
{
    return (struct share_usage){(uint64_t)(usage >> 64), (uint64_t)usage};
}

static share_wide from_pair(struct share_usage u)
{
    return u.high > (uint64_t)(usage_most >> 64) ? -1 : (share_wide)u.high << 64 | u.low;
}

struct share_usage share_usage(const struct share_tree *t, uint32_t node, int64_t now)
{
    return to_pair(share_usage_at(t, &t->nodes[node], now));
}

struct share_usage share_usage_saved(const struct share_tree *t, uint32_t node, int64_t *at)
{
    *at = t->nodes[node].usage_at;
    return to_pair(t->nodes[node].usage);
}

static bool can_be_set(const struct share_tree *t, uint32_t node, struct share_usage usage)
{
    share_wide value = from_pair(usage);
    if (node < t->n && t->half_life > 0 && value >= 0 && value <= usage_most)
        return true;
    errno = EINVAL;
    return false;
}

int share_usage_restore(struct share_tree *t, uint32_t node, struct share_usage usage, int64_t at)
{
    if (!can_be_set(t, node, usage))
        return -1;
    t->nodes[node].usage = from_pair(usage);
    t->nodes[node].usage_at = at;
    t->epoch++;
    return 0;
}

int share_usage_set(struct share_tree *t, uint32_t node, struct share_usage usage, int64_t now)
{
    if (!can_be_set(t, node, usage))
        return -1;
    share_pass_time(t, now);
    share_wide more = from_pair(usage) - share_usage_at(t, &t->nodes[node], t->now);
    for (uint32_t i = node; i != SHARE_NO_NODE; i = t->nodes[i].parent) {
        struct share_node *n = &t->nodes[i];
        share_usage_settle(t, n, t->now);
        n->usage += more;
        n->usage = n->usage < 0 ? 0 : n->usage > usage_most ? usage_most : n->usage;
    }
    t->epoch++;
    return 0;
}
