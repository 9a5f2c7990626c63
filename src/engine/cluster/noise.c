/* The handshake, as the framework describes it in its chapters 4, 5 and 9. */
#include "engine/cluster/noise.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

#define BLOCK 128                 /* of BLAKE2b */
#define REKEY ((uint64_t)1 << 30) /* bytes under one key */
#define LAST  (UINT64_MAX - 1)    /* the greatest nonce of a box; the one above makes a new key */

static const char name[] = "Noise_NNpsk0_25519_ChaChaPoly_BLAKE2b";

static int refuse_handshake(void)
{
    errno = EPROTO;
    return -1;
}

/* HMAC (RFC 2104) of up to three pieces; the key is a hash, so it is shorter than a block. */
static void hmac(const uint8_t key[NOISE_HASH], const uint8_t *a, size_t n_a, const uint8_t *b,
                 size_t n_b, uint8_t to[NOISE_HASH])
{
    crypto_generichash_state state;
    uint8_t pad[BLOCK] = {0}, inner[NOISE_HASH];
    memcpy(pad, key, NOISE_HASH);
    for (size_t i = 0; i < BLOCK; i++)
        pad[i] ^= 0x36;
    crypto_generichash_init(&state, NULL, 0, NOISE_HASH);
    crypto_generichash_update(&state, pad, BLOCK);
    crypto_generichash_update(&state, a, n_a);
    crypto_generichash_update(&state, b, n_b);
    crypto_generichash_final(&state, inner, NOISE_HASH);
    for (size_t i = 0; i < BLOCK; i++)
        pad[i] ^= 0x36 ^ 0x5c;
    crypto_generichash_init(&state, NULL, 0, NOISE_HASH);
    crypto_generichash_update(&state, pad, BLOCK);
    crypto_generichash_update(&state, inner, NOISE_HASH);
    crypto_generichash_final(&state, to, NOISE_HASH);
    sodium_memzero(pad, sizeof(pad));
    sodium_memzero(inner, sizeof(inner));
    sodium_memzero(&state, sizeof(state));
}

/* Two or three hashes from a chaining key and some material. */
static void derive(const uint8_t chain[NOISE_HASH], const uint8_t *material, size_t length,
                   uint8_t to[][NOISE_HASH], uint8_t n)
{
    uint8_t key[NOISE_HASH];
    hmac(chain, material, length, NULL, 0, key);
    for (uint8_t i = 0; i < n; i++) {
        uint8_t number = (uint8_t)(i + 1);
        hmac(key, i > 0 ? to[i - 1] : NULL, i > 0 ? NOISE_HASH : 0, &number, 1, to[i]);
    }
    sodium_memzero(key, sizeof(key));
}

static void mix_hash(struct noise_hand *hand, const uint8_t *bytes, size_t n)
{
    crypto_generichash_state state;
    crypto_generichash_init(&state, NULL, 0, NOISE_HASH);
    crypto_generichash_update(&state, hand->hash, NOISE_HASH);
    crypto_generichash_update(&state, bytes, n);
    crypto_generichash_final(&state, hand->hash, NOISE_HASH);
}

static void set_key(struct noise_cipher *cipher, const uint8_t *key)
{
    *cipher = (struct noise_cipher){.next = 0};
    memcpy(cipher->key, key, NOISE_KEY);
}

static void mix_key(struct noise_hand *hand, const uint8_t *material)
{
    uint8_t to[2][NOISE_HASH];
    derive(hand->chain, material, NOISE_KEY, to, 2);
    memcpy(hand->chain, to[0], NOISE_HASH);
    set_key(&hand->cipher, to[1]);
    sodium_memzero(to, sizeof(to));
}

static void mix_psk(struct noise_hand *hand)
{
    uint8_t to[3][NOISE_HASH];
    derive(hand->chain, hand->psk, NOISE_KEY, to, 3);
    memcpy(hand->chain, to[0], NOISE_HASH);
    mix_hash(hand, to[1], NOISE_HASH);
    set_key(&hand->cipher, to[2]);
    sodium_memzero(to, sizeof(to));
}

void noise_begin(struct noise_hand *hand, const uint8_t psk[NOISE_KEY], const void *prologue,
                 size_t length)
{
    *hand = (struct noise_hand){.messages = 0};
    memcpy(hand->hash, name, sizeof(name) - 1);
    memcpy(hand->chain, hand->hash, NOISE_HASH);
    memcpy(hand->psk, psk, NOISE_KEY);
    mix_hash(hand, prologue, length);
}

void noise_set_secret(struct noise_hand *hand, const uint8_t secret[NOISE_KEY])
{
    memcpy(hand->secret, secret, NOISE_KEY);
    hand->has_secret = true;
}

static void nonce_of(uint64_t number, uint8_t nonce[crypto_aead_chacha20poly1305_ietf_NPUBBYTES])
{
    memset(nonce, 0, 4);
    for (int i = 0; i < 8; i++)
        nonce[4 + i] = (uint8_t)(number >> (8 * i));
}

static void seal(const struct noise_cipher *cipher, uint64_t number, const uint8_t *more,
                 size_t n_more, const void *bytes, size_t n, uint8_t *box)
{
    uint8_t nonce[crypto_aead_chacha20poly1305_ietf_NPUBBYTES];
    nonce_of(number, nonce);
    crypto_aead_chacha20poly1305_ietf_encrypt(box, NULL, bytes, n, more, n_more, NULL, nonce,
                                              cipher->key);
}

static int unseal(const struct noise_cipher *cipher, const uint8_t *more, size_t n_more,
                  const uint8_t *box, size_t n, uint8_t *bytes)
{
    uint8_t nonce[crypto_aead_chacha20poly1305_ietf_NPUBBYTES];
    nonce_of(cipher->next, nonce);
    return n < NOISE_TAG || crypto_aead_chacha20poly1305_ietf_decrypt(
                                bytes, NULL, NULL, box, n, more, n_more, nonce, cipher->key)
               ? refuse_handshake()
               : 0;
}

/* The public keys have been said: what both make of them. A public key of low order is refused. */
static int mix_shared(struct noise_hand *hand, const uint8_t *theirs)
{
    uint8_t shared[NOISE_KEY];
    if (crypto_scalarmult(shared, hand->secret, theirs))
        return refuse_handshake();
    mix_key(hand, shared);
    sodium_memzero(shared, sizeof(shared));
    return 0;
}

static void take_public(struct noise_hand *hand, const uint8_t *key)
{
    mix_hash(hand, key, NOISE_KEY);
    mix_key(hand, key);
}

int noise_write(struct noise_hand *hand, const void *payload, size_t n, uint8_t *message)
{
    if (hand->messages > 1)
        return refuse_handshake();
    if (hand->messages == 0)
        mix_psk(hand);
    if (!hand->has_secret)
        randombytes_buf(hand->secret, NOISE_KEY);
    hand->has_secret = true;
    crypto_scalarmult_base(message, hand->secret);
    take_public(hand, message);
    if (hand->messages == 1 && mix_shared(hand, hand->theirs))
        return -1;
    seal(&hand->cipher, 0, hand->hash, NOISE_HASH, payload, n, message + NOISE_KEY);
    mix_hash(hand, message + NOISE_KEY, n + NOISE_TAG);
    hand->messages++;
    return 0;
}

int noise_read(struct noise_hand *hand, const uint8_t *message, size_t n, uint8_t *payload)
{
    if (hand->messages > 1 || n < NOISE_OVER)
        return refuse_handshake();
    if (hand->messages == 0)
        mix_psk(hand);
    memcpy(hand->theirs, message, NOISE_KEY);
    take_public(hand, message);
    if ((hand->messages == 1 && mix_shared(hand, hand->theirs)) ||
        unseal(&hand->cipher, hand->hash, NOISE_HASH, message + NOISE_KEY, n - NOISE_KEY,
               payload)) {
        hand->messages = 2;
        hand->failed = true;
        return refuse_handshake();
    }
    mix_hash(hand, message + NOISE_KEY, n - NOISE_KEY);
    hand->messages++;
    return 0;
}

void noise_split(struct noise_hand *hand, struct noise_cipher *to_server,
                 struct noise_cipher *to_agent)
{
    uint8_t to[2][NOISE_HASH];
    derive(hand->chain, NULL, 0, to, 2);
    set_key(to_server, to[0]);
    set_key(to_agent, to[1]);
    to_server->failed = to_agent->failed = hand->failed || hand->messages < 2;
    sodium_memzero(to, sizeof(to));
    sodium_memzero(hand, sizeof(*hand));
}

/* The framework's REKEY: what zeroes become under the nonce that no box has. */
static void count_bytes(struct noise_cipher *cipher, size_t n)
{
    static const uint8_t zeroes[NOISE_KEY];
    uint8_t box[NOISE_KEY + NOISE_TAG];
    cipher->next++;
    cipher->bytes += n;
    if (cipher->bytes < REKEY)
        return;
    seal(cipher, UINT64_MAX, NULL, 0, zeroes, sizeof(zeroes), box);
    memcpy(cipher->key, box, NOISE_KEY);
    cipher->bytes = 0;
    sodium_memzero(box, sizeof(box));
}

int noise_seal(struct noise_cipher *cipher, const void *bytes, size_t n, uint8_t *box)
{
    if (cipher->failed || cipher->next > LAST)
        return refuse_handshake();
    seal(cipher, cipher->next, NULL, 0, bytes, n, box);
    count_bytes(cipher, n);
    return 0;
}

int noise_open(struct noise_cipher *cipher, const uint8_t *box, size_t n, uint8_t *bytes)
{
    if (cipher->failed || cipher->next > LAST || unseal(cipher, NULL, 0, box, n, bytes)) {
        cipher->failed = true;
        return refuse_handshake();
    }
    count_bytes(cipher, n - NOISE_TAG);
    return 0;
}
