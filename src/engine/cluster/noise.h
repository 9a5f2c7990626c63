/* The handshake between an agent and a server, and the boxes that follow it.
 *
 * Noise_NNpsk0_25519_ChaChaPoly_BLAKE2b of the Noise Protocol Framework (revision 34,
 * https://noiseprotocol.org/noise.html), on libsodium. Both sides know a key of 32 bytes and nothing else of
 * each other. The agent writes the first message and the server the second; each carries an ephemeral public
 * key, a payload and a tag. Then each direction has a cipher with a counter for a nonce, so a box that is
 * changed, left out, said twice or in another order is refused, and so is everything after it.
 *
 * libsodium must have been initialised (sodium_init). Nothing here reads or writes a descriptor.
 */
#ifndef ENGINE_CLUSTER_NOISE_H
#define ENGINE_CLUSTER_NOISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NOISE_KEY  32
#define NOISE_HASH 64
#define NOISE_TAG  16
#define NOISE_OVER                                                                                 \
    (NOISE_KEY + NOISE_TAG) /* bytes of a message of the handshake beside its payload */

/* One direction. */
struct noise_cipher {
    uint8_t key[NOISE_KEY];
    uint64_t next;  /* the nonce of the next box */
    uint64_t bytes; /* sealed or opened under this key */
    bool failed;    /* a box was refused: nothing more is opened */
};

struct noise_hand {
    uint8_t chain[NOISE_HASH], hash[NOISE_HASH], psk[NOISE_KEY];
    uint8_t secret[NOISE_KEY]; /* ephemeral */
    uint8_t theirs[NOISE_KEY]; /* the other side's public key, once it is known */
    struct noise_cipher cipher;
    int messages; /* written and read so far */
    bool has_secret, failed;
};

/* Begin a handshake; both sides have to give the same prologue. */
void noise_begin(struct noise_hand *hand, const uint8_t psk[NOISE_KEY], const void *prologue,
                 size_t length);

/* For tests: this ephemeral secret instead of a random one. */
void noise_set_secret(struct noise_hand *hand, const uint8_t secret[NOISE_KEY]);

/* Write the next message, with a payload: n + NOISE_OVER bytes. 0, or -1 with EPROTO. */
int noise_write(struct noise_hand *hand, const void *payload, size_t n, uint8_t *message);

/* Read the next message of n bytes; its payload takes n - NOISE_OVER. 0, or -1 with EPROTO: it is not of one
 * who knows the key, and the handshake is over.
 */
int noise_read(struct noise_hand *hand, const uint8_t *message, size_t n, uint8_t *payload);

/* After two messages: the ciphers from agent to server, and back. Forgets the handshake. */
void noise_split(struct noise_hand *hand, struct noise_cipher *to_server,
                 struct noise_cipher *to_agent);

/* Seal n bytes: n + NOISE_TAG bytes at `box`, which may be where they are. A new key follows after 1 GiB. 0, or -1
 * with EPROTO.
 */
int noise_seal(struct noise_cipher *cipher, const void *bytes, size_t n, uint8_t *box);

/* Open a box of n bytes: n - NOISE_TAG bytes, perhaps at its own place. 0, or -1 with EPROTO, now and for ever. */
int noise_open(struct noise_cipher *cipher, const uint8_t *box, size_t n, uint8_t *bytes);

#endif
