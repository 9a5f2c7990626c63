/* A channel, and whoever else may be on the network: no key, another key, what was overheard, bytes of any
 * kind, a server that is none.
 */
#include <errno.h>
#include <setjmp.h>
#include <sodium.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/cluster/channel.h"

static const uint8_t key_of_7[NOISE_KEY] = "the key of pilot 7, 32 bytes lo";
static const uint8_t key_of_8[NOISE_KEY] = "the key of pilot 8, 32 bytes lo";

static bool find_key(void *context, uint64_t pilot, uint8_t key[NOISE_KEY])
{
    (void)context;
    if (pilot == 7)
        memcpy(key, key_of_7, NOISE_KEY);
    if (pilot == 8)
        memcpy(key, key_of_8, NOISE_KEY);
    return pilot == 7 || pilot == 8;
}

static struct channel agent, gate, other;

static int setup(void **state)
{
    (void)state;
    channel_begin_agent(&agent, 7, key_of_7);
    channel_begin_gate(&gate, find_key, NULL);
    channel_begin_gate(&other, find_key, NULL);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    channel_clear(&agent);
    channel_clear(&gate);
    channel_clear(&other);
    return 0;
}

static void carry(struct channel *from, struct channel *to)
{
    strbuf_put(&to->in, from->out.data, from->out.len);
    strbuf_reset(&from->out);
}

static int take(struct channel *c)
{
    enum channel_kind kind;
    const uint8_t *bytes;
    size_t n;
    return channel_take(c, &kind, &bytes, &n);
}

static void take_text(struct channel *c, enum channel_kind kind, const char *text)
{
    enum channel_kind got;
    const uint8_t *bytes;
    size_t n;
    assert_int_equal(channel_take(c, &got, &bytes, &n), 1);
    assert_int_equal(got, kind);
    assert_int_equal(n, strlen(text));
    assert_memory_equal(bytes, text, n);
}

static void shake_hands(void)
{
    carry(&agent, &gate);
    assert_int_equal(take(&gate), 0);
    carry(&gate, &agent);
    assert_int_equal(take(&agent), 0);
    assert_int_equal(agent.stage, CHANNEL_OPEN);
    assert_int_equal(gate.stage, CHANNEL_OPEN);
}

static void test_both_ways(void **state)
{
    (void)state;
    assert_int_equal(channel_put(&agent, CHANNEL_DATA, "early", 5), -1);
    assert_int_equal(errno, ENOTCONN);
    shake_hands();
    assert_int_equal(gate.pilot, 7);
    assert_false(gate.known);
    assert_int_equal(channel_put(&agent, CHANNEL_NODE, "n1", 2), 0);
    assert_int_equal(channel_put(&agent, CHANNEL_PING, NULL, 0), 0);
    carry(&agent, &gate);
    take_text(&gate, CHANNEL_NODE, "n1");
    assert_true(gate.known);
    take_text(&gate, CHANNEL_PING, "");
    assert_int_equal(take(&gate), 0);
    assert_int_equal(channel_put(&gate, CHANNEL_DATA, "start", 5), 0);
    carry(&gate, &agent);
    take_text(&agent, CHANNEL_DATA, "start");
}

/* Any number of bytes, in pieces of any size. */
static void test_pieces(void **state)
{
    enum { MOST = 5 * CHANNEL_MOST };
    static char sent[MOST], got[MOST];
    (void)state;
    shake_hands();
    srand(1);
    for (size_t round = 0; round < 20; round++) {
        size_t n = round == 0 ? CHANNEL_MOST : (size_t)rand() % MOST, at = 0, used = 0;
        for (size_t i = 0; i < n; i++)
            sent[i] = (char)rand();
        assert_int_equal(channel_put(&agent, CHANNEL_DATA, sent, n), 0);
        while (used < agent.out.len) {
            size_t some = 1 + (size_t)rand() % (1 << rand() % 18);
            enum channel_kind kind;
            const uint8_t *bytes;
            size_t length;
            some = some < agent.out.len - used ? some : agent.out.len - used;
            strbuf_put(&gate.in, agent.out.data + used, some);
            used += some;
            while (channel_take(&gate, &kind, &bytes, &length) > 0) {
                memcpy(got + at, bytes, length);
                at += length;
            }
        }
        strbuf_reset(&agent.out);
        assert_int_equal(at, n);
        assert_memory_equal(got, sent, n);
    }
}

static void test_wrong_key(void **state)
{
    (void)state;
    channel_clear(&agent);
    channel_begin_agent(&agent, 7, key_of_8);
    carry(&agent, &gate);
    assert_int_equal(take(&gate), -1);
    assert_int_equal(gate.out.len, 0); /* and it is told nothing */
    assert_int_equal(take(&gate), -1);
}

static void test_no_such_pilot(void **state)
{
    (void)state;
    channel_clear(&agent);
    channel_begin_agent(&agent, 9, key_of_7);
    carry(&agent, &gate);
    assert_int_equal(take(&gate), -1);
    assert_int_equal(gate.out.len, 0);
}

/* The number of the pilot is in clear, but changing it is noticed even by one who has both keys. */
static void test_other_number(void **state)
{
    (void)state;
    channel_clear(&agent);
    channel_begin_agent(&agent, 7, key_of_8);
    agent.out.data[8] = 8;
    carry(&agent, &gate);
    assert_int_equal(take(&gate), -1);
}

/* All that an agent once said, said again: the gate answers the first message, since it can't know, but no box
 * of it opens, so that nobody becomes known.
 */
static void test_replay(void **state)
{
    struct strbuf heard = {0};
    (void)state;
    strbuf_put(&heard, agent.out.data, agent.out.len);
    shake_hands();
    assert_int_equal(channel_put(&agent, CHANNEL_NODE, "n1", 2), 0);
    strbuf_put(&heard, agent.out.data, agent.out.len);
    carry(&agent, &gate);
    take_text(&gate, CHANNEL_NODE, "n1");
    strbuf_put(&other.in, heard.data, heard.len);
    assert_int_equal(take(&other), -1);
    assert_false(other.known);
    strbuf_clear(&heard);
}

/* A server that does not know the key can only say again what another once answered. */
static void test_false_server(void **state)
{
    struct strbuf heard = {0};
    (void)state;
    carry(&agent, &gate);
    assert_int_equal(take(&gate), 0);
    strbuf_put(&heard, gate.out.data, gate.out.len);
    channel_clear(&agent);
    channel_begin_agent(&agent, 7, key_of_7);
    strbuf_put(&agent.in, heard.data, heard.len);
    assert_int_equal(take(&agent), -1);
    strbuf_clear(&heard);
    channel_clear(&agent);
    channel_begin_agent(&agent, 7, key_of_7);
    strbuf_fill(&agent.in, 'x', CHANNEL_SECOND);
    assert_int_equal(take(&agent), -1);
}

/* What one side has said is not taken as said by the other. */
static void test_reflection(void **state)
{
    (void)state;
    shake_hands();
    assert_int_equal(channel_put(&agent, CHANNEL_NODE, "n1", 2), 0);
    strbuf_put(&agent.in, agent.out.data, agent.out.len);
    assert_int_equal(take(&agent), -1);
}

static void test_boxes_changed(void **state)
{
    (void)state;
    shake_hands();
    for (size_t i = 0; i < 4 + 1 + 2 + NOISE_TAG; i++) {
        channel_clear(&agent);
        channel_clear(&gate);
        channel_begin_agent(&agent, 7, key_of_7);
        channel_begin_gate(&gate, find_key, NULL);
        shake_hands();
        assert_int_equal(channel_put(&agent, CHANNEL_DATA, "n1", 2), 0);
        assert_int_equal(agent.out.len, 4 + 1 + 2 + NOISE_TAG);
        agent.out.data[i] = (char)(agent.out.data[i] ^ 1);
        carry(&agent, &gate);
        strbuf_fill(&gate.in, 0, 1000);
        assert_int_equal(take(&gate), -1);
        assert_false(gate.known);
    }
}

/* Whoever begins otherwise, such as a browser, is sent away at its first byte. */
static void test_other_protocols(void **state)
{
    (void)state;
    strbuf_puts(&gate.in, "G");
    assert_int_equal(take(&gate), -1);
    strbuf_puts(&other.in, "BERTHAG2");
    assert_int_equal(take(&other), -1);
}

/* Lengths that no box has: none is waited for. */
static void test_lengths(void **state)
{
    (void)state;
    shake_hands();
    strbuf_put(&gate.in, "\x10\0\0\0", 4); /* no room for a kind */
    assert_int_equal(take(&gate), -1);
    strbuf_put(&agent.in, "\xff\xff\xff\xff", 4);
    assert_int_equal(take(&agent), -1);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_both_ways),       TEST(test_pieces),       TEST(test_wrong_key),
        TEST(test_no_such_pilot),   TEST(test_other_number), TEST(test_replay),
        TEST(test_false_server),    TEST(test_reflection),   TEST(test_boxes_changed),
        TEST(test_other_protocols), TEST(test_lengths),
    };
    if (sodium_init() < 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
