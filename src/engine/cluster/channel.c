#include "engine/cluster/channel.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

#define MAGIC   "BERTHAG1"
#define MAGIC_N 8
#define HEAD    16 /* the magic text and the pilot */
#define LENGTH  4

static void put_little_endian(uint8_t *to, uint64_t number, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = (uint8_t)(number >> (8 * i));
}

static uint64_t get_number(const uint8_t *from, size_t n)
{
    uint64_t number = 0;
    for (size_t i = 0; i < n; i++)
        number |= (uint64_t)from[i] << (8 * i);
    return number;
}

static int break_off(struct channel *c, int errnum)
{
    c->stage = CHANNEL_BROKEN;
    sodium_memzero(&c->hand, sizeof(c->hand));
    sodium_memzero(&c->send, sizeof(c->send));
    sodium_memzero(&c->receive, sizeof(c->receive));
    strbuf_clear(&c->in);
    c->in_at = 0;
    errno = errnum;
    return -1;
}

/* Both sides say the same before they begin: whom the agent wants, and who is the agent. */
static void begin_hand(struct channel *c, const uint8_t *head, const uint8_t key[NOISE_KEY])
{
    uint8_t prologue[HEAD + 5];
    memcpy(prologue, head, HEAD);
    memcpy(prologue + HEAD, "agent", 5);
    noise_begin(&c->hand, key, prologue, sizeof(prologue));
}

void channel_begin_agent(struct channel *c, uint64_t pilot, const uint8_t key[NOISE_KEY])
{
    uint8_t first[CHANNEL_FIRST];
    *c = (struct channel){.is_agent = true, .pilot = pilot};
    memcpy(first, MAGIC, MAGIC_N);
    put_little_endian(first + MAGIC_N, pilot, 8);
    begin_hand(c, first, key);
    if (noise_write(&c->hand, "", 0, first + HEAD))
        break_off(c, EPROTO);
    else
        strbuf_put(&c->out, (const char *)first, sizeof(first));
}

void channel_begin_gate(struct channel *c, channel_key *key, void *context)
{
    *c = (struct channel){.key = key, .context = context};
}

/* What has been taken makes room for more. */
static void move_up(struct channel *c)
{
    if (c->in_at > 0)
        memmove(c->in.data, c->in.data + c->in_at, c->in.len - c->in_at);
    c->in.len -= c->in_at;
    c->in_at = 0;
}

static int answer(struct channel *c, const uint8_t *first)
{
    uint8_t key[NOISE_KEY], second[CHANNEL_SECOND], none[1];
    if (memcmp(first, MAGIC, MAGIC_N) != 0)
        return -1;
    c->pilot = get_number(first + MAGIC_N, 8);
    if (!c->key(c->context, c->pilot, key))
        return -1;
    begin_hand(c, first, key);
    sodium_memzero(key, sizeof(key));
    if (noise_read(&c->hand, first + HEAD, CHANNEL_FIRST - HEAD, none) ||
        noise_write(&c->hand, "", 0, second))
        return -1;
    strbuf_put(&c->out, (const char *)second, sizeof(second));
    noise_split(&c->hand, &c->receive, &c->send);
    return 0;
}

/* 1: the handshake is done; 0: not yet; -1. */
static int shake(struct channel *c)
{
    uint8_t none[1];
    size_t needs = c->is_agent ? CHANNEL_SECOND : CHANNEL_FIRST;
    const uint8_t *bytes = (const uint8_t *)c->in.data;
    /* Who begins with something else need not be listened to further. */
    size_t n = c->in.len < MAGIC_N ? c->in.len : MAGIC_N;
    if (!c->is_agent && n > 0 && memcmp(bytes, MAGIC, n) != 0)
        return break_off(c, EPROTO);
    if (c->in.len < needs)
        return 0;
    if (!c->is_agent) {
        if (answer(c, bytes))
            return break_off(c, EPROTO);
    } else {
        if (noise_read(&c->hand, bytes, CHANNEL_SECOND, none))
            return break_off(c, EPROTO);
        noise_split(&c->hand, &c->send, &c->receive);
    }
    c->in_at = needs;
    c->stage = CHANNEL_OPEN;
    return 1;
}

static int put_box(struct channel *c, enum channel_kind kind, const char *bytes, size_t n)
{
    size_t length = n + 1 + NOISE_TAG;
    if (!strbuf_room(&c->out, LENGTH + length))
        return break_off(c, ENOMEM);
    uint8_t *to = (uint8_t *)c->out.data + c->out.len;
    put_little_endian(to, length, LENGTH);
    to[LENGTH] = (uint8_t)kind;
    if (n > 0)
        memcpy(to + LENGTH + 1, bytes, n);
    if (noise_seal(&c->send, to + LENGTH, n + 1, to + LENGTH))
        return break_off(c, EPROTO);
    c->out.len += LENGTH + length;
    return 0;
}

int channel_put(struct channel *c, enum channel_kind kind, const void *bytes, size_t n)
{
    const char *at = n > 0 ? bytes : "";
    if (c->stage != CHANNEL_OPEN) {
        errno = ENOTCONN;
        return -1;
    }
    do {
        size_t some = n < CHANNEL_MOST ? n : CHANNEL_MOST;
        if (put_box(c, kind, at, some))
            return -1;
        at += some;
        n -= some;
    } while (n > 0);
    return 0;
}

/* The next box, once all of it is there: 1 and its length, 0, or -1. */
static int find_box(const struct channel *c, size_t *length)
{
    size_t left = c->in.len - c->in_at;
    if (left < LENGTH)
        return 0;
    *length = (size_t)get_number((const uint8_t *)c->in.data + c->in_at, LENGTH);
    if (*length < 1 + NOISE_TAG || *length > CHANNEL_MOST + 1 + NOISE_TAG)
        return -1;
    return left - LENGTH >= *length;
}

int channel_take(struct channel *c, enum channel_kind *kind, const uint8_t **bytes, size_t *n)
{
    size_t length;
    if (c->stage == CHANNEL_BROKEN || c->in.failed || c->out.failed)
        return break_off(c, c->in.failed || c->out.failed ? ENOMEM : EPROTO);
    int rc = c->stage == CHANNEL_WAITS ? shake(c) : 1;
    if (rc <= 0)
        return rc;
    rc = find_box(c, &length);
    if (rc == 0)
        move_up(c);
    if (rc == 0)
        return 0;
    uint8_t *box = (uint8_t *)c->in.data + c->in_at + LENGTH;
    if (rc < 0 || noise_open(&c->receive, box, length, box) || box[0] < CHANNEL_PING ||
        box[0] > CHANNEL_LAST)
        return break_off(c, EPROTO);
    c->in_at += LENGTH + length;
    c->known = true;
    *kind = (enum channel_kind)box[0];
    *bytes = box + 1;
    *n = length - 1 - NOISE_TAG;
    return 1;
}

void channel_clear(struct channel *c)
{
    strbuf_clear(&c->in);
    strbuf_clear(&c->out);
    sodium_memzero(c, sizeof(*c));
    c->stage = CHANNEL_BROKEN;
}
