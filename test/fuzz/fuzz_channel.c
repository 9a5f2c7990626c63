/* What comes in from the network: to a gate, to an agent, and behind a handshake.
 *
 * The first byte chooses the reader: 0 the gate's, 1 the agent's, 2 the gate's after an agent has shaken hands,
 * 3 the same, and the bytes are what a known agent's boxes hold, sealed; 4 that of a node's description, which is
 * written again and must be the same; 5 that of the file with addresses. Then a byte says in pieces of what size
 * the rest comes in.
 */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cluster/channel.h"
#include "engine/cluster/node.h"
#include "engine/cluster/secret.h"
#include "fuzz.h"

static const uint8_t key[NOISE_KEY] = "a key that is no secret 32 byte";

static bool find_key(void *context, uint64_t pilot, uint8_t to[NOISE_KEY])
{
    (void)context;
    memcpy(to, key, NOISE_KEY);
    return pilot < 2;
}

static void take_all(struct channel *c)
{
    enum channel_kind kind;
    const uint8_t *bytes;
    size_t n;
    int rc;
    while ((rc = channel_take(c, &kind, &bytes, &n)) > 0)
        FUZZ_CHECK(n <= CHANNEL_MOST && c->known && kind >= CHANNEL_PING && kind <= CHANNEL_LAST);
    FUZZ_CHECK(rc == 0 || c->stage == CHANNEL_BROKEN);
}

static void shake_hands(struct channel *agent, struct channel *gate)
{
    strbuf_put(&gate->in, agent->out.data, agent->out.len);
    take_all(gate);
    strbuf_put(&agent->in, gate->out.data, gate->out.len);
    take_all(agent);
    strbuf_reset(&agent->out);
    FUZZ_CHECK(agent->stage == CHANNEL_OPEN && gate->stage == CHANNEL_OPEN);
}

static void read_node(const uint8_t *data, size_t size)
{
    struct node node;
    struct strbuf again = {0};
    if (node_read(&node, data, size))
        return;
    FUZZ_CHECK(node.n_cores > 0 && node.n_cores <= NODE_CORES_MOST &&
               node.n_gpus <= NODE_GPUS_MOST);
    node_put(&again, &node);
    FUZZ_CHECK(again.len == size && memcmp(again.data, data, size) == 0);
    strbuf_clear(&again);
    node_clear(&node);
}

static void read_addresses(const uint8_t *data, size_t size)
{
    static struct addresses to;
    if (addresses_decode((const char *)data, size, &to, NULL) == 0)
        FUZZ_CHECK(to.n <= ADDRESSES_MOST);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct channel agent, gate;
    if (size < 2 || sodium_init() < 0)
        return 0;
    int mode = data[0] & 7;
    if (mode == 4)
        read_node(data + 2, size - 2);
    if (mode == 5)
        read_addresses(data + 2, size - 2);
    if (mode > 3)
        return 0;
    size_t piece = data[1] ? data[1] : 256;
    channel_begin_agent(&agent, 1, key);
    channel_begin_gate(&gate, find_key, NULL);
    struct channel *to = mode == 1 ? &agent : &gate;
    if (mode >= 2)
        shake_hands(&agent, &gate);
    for (size_t at = 2; at < size; at += piece) {
        size_t n = size - at < piece ? size - at : piece;
        if (mode < 3) {
            strbuf_put(&to->in, (const char *)data + at, n);
        } else {
            channel_put(&agent, (enum channel_kind)data[at], data + at + 1, n - 1);
            strbuf_put(&to->in, agent.out.data, agent.out.len);
            strbuf_reset(&agent.out);
        }
        take_all(to);
    }
    channel_clear(&agent);
    channel_clear(&gate);
    return 0;
}
