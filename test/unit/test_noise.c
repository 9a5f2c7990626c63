/* The handshake and its boxes, by the vector of cacophony (a Haskell implementation of the Noise Protocol
 * Framework), which the framework's authors refer to for tests.
 */
#include <errno.h>
#include <setjmp.h>
#include <sodium.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/cluster/noise.h"

static size_t unhex(const char *text, uint8_t *to)
{
    size_t n;
    assert_int_equal(sodium_hex2bin(to, 256, text, strlen(text), NULL, &n, NULL), 0);
    return n;
}

static const char *const said[][2] = {
    {"4c756477696720766f6e204d69736573",
     "ca35def5ae56cec33dc2036731ab14896bc4c75dbb07a61f879f8e3afa4c7944ed63df2f5a12aee1185ee9c50305"
     "f2ecf12421dcb53c047a63b784cf7c54a105"},
    {"4d757272617920526f746862617264",
     "95ebc60d2b1fa672c1f46a8aa265ef51bfe38e7ccb39ec5be34069f1448088430e0fe7d5c0c9b92f7478716c8852"
     "f1b4f389edb75e3ebe546fafafd5b6f0f7"},
    {"462e20412e20486179656b", "0fe04b26dcfbb69f8a6a94c61f1a26ef88769218d32f5d17c068a6"},
    {"4361726c204d656e676572", "2239e0c540c01f09eb1f4cc5258fd5acfefff18a5a3773f21b7bfe"},
    {"4a65616e2d426170746973746520536179",
     "f216cb03d30fb8af1e561fe02a07552d09b416e27a75e62c77d193718b0bdaae9f"},
    {"457567656e2042f6686d20766f6e2042617765726b",
     "6e8baf98b944184dd7dc5ef14d8108cbeca626de118a5460f3308e294d61e17238bce29bd9"},
};

static void begin(struct noise_hand *hand, const char *psk, const char *secret)
{
    uint8_t key[256], prologue[256];
    size_t n = unhex("4a6f686e2047616c74", prologue);
    unhex(psk, key);
    noise_begin(hand, key, prologue, n);
    unhex(secret, key);
    noise_set_secret(hand, key);
}

static const char psk[] = "54686973206973206d7920417573747269616e20706572737065637469766521";
static const char agent_secret[] =
    "893e28b9dc6ca8d611ab664754b8ceb7bac5117349a4439a6b0569da977c464a";
static const char server_secret[] =
    "bbdb4cdbd309f1a1f2e1456967fe288cadd6f712d65dc7b7793d5e63da6b375b";

static void say(struct noise_hand *from, struct noise_hand *to, size_t i)
{
    uint8_t payload[256], expected[256], message[256], got[256];
    size_t n = unhex(said[i][0], payload), length = unhex(said[i][1], expected);
    assert_int_equal(length, n + NOISE_OVER);
    assert_int_equal(noise_write(from, payload, n, message), 0);
    assert_memory_equal(message, expected, length);
    assert_int_equal(noise_read(to, message, length, got), 0);
    assert_memory_equal(got, payload, n);
}

static void send(struct noise_cipher *from, struct noise_cipher *to, size_t i)
{
    uint8_t plain[256], expected[256], box[256], got[256];
    size_t n = unhex(said[i][0], plain), length = unhex(said[i][1], expected);
    assert_int_equal(length, n + NOISE_TAG);
    assert_int_equal(noise_seal(from, plain, n, box), 0);
    assert_memory_equal(box, expected, length);
    assert_int_equal(noise_open(to, box, length, got), 0);
    assert_memory_equal(got, plain, n);
}

static void test_vector(void **state)
{
    struct noise_hand agent, server;
    struct noise_cipher a_out, a_in, s_out, s_in;
    (void)state;
    begin(&agent, psk, agent_secret);
    begin(&server, psk, server_secret);
    say(&agent, &server, 0);
    say(&server, &agent, 1);
    noise_split(&agent, &a_out, &a_in);
    noise_split(&server, &s_in, &s_out);
    send(&a_out, &s_in, 2);
    send(&s_out, &a_in, 3);
    send(&a_out, &s_in, 4);
    send(&s_out, &a_in, 5);
}

static void test_wrong_key(void **state)
{
    struct noise_hand agent, server;
    struct noise_cipher out, in;
    uint8_t message[NOISE_OVER], none[1];
    (void)state;
    begin(&agent, psk, agent_secret);
    begin(&server, "00686973206973206d7920417573747269616e20706572737065637469766521",
          server_secret);
    assert_int_equal(noise_write(&agent, "", 0, message), 0);
    assert_int_equal(noise_read(&server, message, sizeof(message), none), -1);
    assert_int_equal(errno, EPROTO);
    assert_int_equal(noise_write(&server, "", 0, message), -1);
    noise_split(&server, &in, &out);
    assert_int_equal(noise_seal(&out, "x", 1, message), -1);
}

/* A public key for which every secret gives the same is refused (RFC 7748, section 6.1). */
static void test_low_order(void **state)
{
    struct noise_hand agent, server;
    uint8_t message[NOISE_OVER] = {0}, none[1];
    (void)state;
    begin(&agent, psk, agent_secret);
    begin(&server, psk, server_secret);
    assert_int_equal(noise_write(&agent, "", 0, message), 0);
    memset(message, 0, sizeof(message));
    assert_int_equal(noise_read(&agent, message, sizeof(message), none), -1);
}

static void join(struct noise_cipher *out, struct noise_cipher *in)
{
    struct noise_hand agent, server;
    struct noise_cipher other;
    uint8_t message[NOISE_OVER], none[1];
    begin(&agent, psk, agent_secret);
    begin(&server, psk, server_secret);
    assert_int_equal(noise_write(&agent, "", 0, message), 0);
    assert_int_equal(noise_read(&server, message, sizeof(message), none), 0);
    assert_int_equal(noise_write(&server, "", 0, message), 0);
    assert_int_equal(noise_read(&agent, message, sizeof(message), none), 0);
    noise_split(&agent, out, &other);
    noise_split(&server, in, &other);
}

/* Said twice, left out, in another order, changed: each breaks the stream for good. */
static void test_order(void **state)
{
    struct noise_cipher out, in, fresh;
    uint8_t box[3][1 + NOISE_TAG], got[1];
    (void)state;
    join(&out, &fresh);
    for (int i = 0; i < 3; i++)
        assert_int_equal(noise_seal(&out, &"abc"[i], 1, box[i]), 0);
    in = fresh;
    assert_int_equal(noise_open(&in, box[0], sizeof(box[0]), got), 0);
    assert_int_equal(noise_open(&in, box[0], sizeof(box[0]), got), -1);
    assert_int_equal(noise_open(&in, box[1], sizeof(box[1]), got), -1);
    in = fresh;
    assert_int_equal(noise_open(&in, box[1], sizeof(box[1]), got), -1);
    assert_int_equal(noise_open(&in, box[0], sizeof(box[0]), got), -1);
    for (size_t i = 0; i < sizeof(box[0]); i++) {
        in = fresh;
        box[0][i] ^= 1;
        assert_int_equal(noise_open(&in, box[0], sizeof(box[0]), got), -1);
        box[0][i] ^= 1;
    }
    in = fresh;
    assert_int_equal(noise_open(&in, box[0], NOISE_TAG - 1, got), -1);
}

/* Both sides change their key at the same byte. */
static void test_rekey(void **state)
{
    enum { LARGE = 1 << 20 };
    static uint8_t plain[LARGE], box[LARGE + NOISE_TAG];
    struct noise_cipher out, in;
    uint8_t before[NOISE_KEY];
    (void)state;
    join(&out, &in);
    memcpy(before, out.key, sizeof(before));
    out.bytes = in.bytes = ((uint64_t)1 << 30) - LARGE;
    assert_int_equal(noise_seal(&out, plain, sizeof(plain), box), 0);
    assert_int_equal(noise_open(&in, box, sizeof(box), plain), 0);
    assert_memory_not_equal(out.key, before, sizeof(before));
    assert_memory_equal(out.key, in.key, sizeof(before));
    assert_int_equal(noise_seal(&out, "x", 1, box), 0);
    assert_int_equal(noise_open(&in, box, 1 + NOISE_TAG, plain), 0);
    assert_int_equal(plain[0], 'x');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vector),    cmocka_unit_test(test_wrong_key),
        cmocka_unit_test(test_low_order), cmocka_unit_test(test_order),
        cmocka_unit_test(test_rekey),
    };
    if (sodium_init() < 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
