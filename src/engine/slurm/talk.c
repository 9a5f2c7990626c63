#include "engine/slurm/talk.h"

void talk_put_key(struct strbuf *to, enum talk_kind kind, uint64_t key)
{
    size_t begun = wire_begin(to);
    wire_put_u8(to, (uint8_t)kind);
    wire_put_u64(to, key);
    wire_end(to, begun);
}

void talk_put_signal(struct strbuf *to, uint64_t key, int signal)
{
    size_t begun = wire_begin(to);
    wire_put_u8(to, TALK_SIGNAL);
    wire_put_u64(to, key);
    wire_put_u8(to, (uint8_t)signal);
    wire_end(to, begun);
}

void talk_put_text(struct strbuf *to, enum talk_kind kind, const char *text)
{
    size_t begun = wire_begin(to);
    wire_put_u8(to, (uint8_t)kind);
    wire_put_string(to, text);
    wire_end(to, begun);
}

void talk_put_nodes(struct strbuf *to, const struct talk_node *nodes, size_t n)
{
    size_t begun = wire_begin(to);
    wire_put_u8(to, TALK_NODES);
    wire_put_u32(to, (uint32_t)n);
    for (size_t i = 0; i < n; i++) {
        const struct talk_node *node = &nodes[i];
        wire_put_string(to, node->name);
        wire_put_string(to, node->address);
        wire_put_string(to, node->properties);
        wire_put_string(to, node->reason);
        wire_put_u8(to, (uint8_t)(node->up | node->drained << 1));
        wire_put_u32(to, node->cores);
        wire_put_u32(to, node->gpus);
        wire_put_u32(to, node->cores_taken);
        wire_put_u32(to, node->gpus_taken);
        wire_put_u64(to, (uint64_t)node->memory);
        wire_put_u64(to, (uint64_t)node->memory_taken);
    }
    wire_end(to, begun);
}

bool talk_node(struct wire *w, struct talk_node *node)
{
    *node = (struct talk_node){0};
    node->name = wire_string(w);
    node->address = wire_string(w);
    node->properties = wire_string(w);
    node->reason = wire_string(w);
    uint8_t flags = wire_u8(w);
    node->up = flags & 1;
    node->drained = flags & 2;
    node->cores = wire_u32(w);
    node->gpus = wire_u32(w);
    node->cores_taken = wire_u32(w);
    node->gpus_taken = wire_u32(w);
    node->memory = (int64_t)wire_u64(w);
    node->memory_taken = (int64_t)wire_u64(w);
    return !w->bad && node->name && node->address && node->properties && node->reason;
}
