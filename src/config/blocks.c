/* The section `blocks`. */
#include <errno.h>
#include <string.h>

#include "base/blocks.h"
#include "base/errtext.h"
#include "base/hostlist.h"
#include "berth/sched_config.h"
#include "config/read.h"

enum block_key { NAME, RESOURCES, START, END, DURATION, EVERY, FOR, BLOCK_KEYS };
static const char *const block_names[] = {"name",     "resources", "start", "end",
                                          "duration", "every",     "for"};
static const struct doc_keys block_keys = {"a block", block_names, BLOCK_KEYS, END};

enum for_key { USERS, QUEUES, JOBS, FOR_KEYS };
static const char *const for_names[] = {"users", "queues", "jobs"};
static const struct doc_keys for_keys = {"what a block is for", for_names, FOR_KEYS, 0};

static int read_for(struct reading *r, uint32_t i, struct sched_block *block)
{
    const struct doc *d = &r->doc;
    uint32_t value[FOR_KEYS], queue;

    if (i == DOC_NONE)
        return 0;
    if (doc_fields(d, i, &for_keys, value) < 0 ||
        value_names(r, value[USERS], "users", &block->users, &block->n_users) < 0 ||
        value_names(r, value[QUEUES], "queues", &block->queues, &block->n_queues) < 0 ||
        value_names(r, value[JOBS], "jobs", &block->jobs, &block->n_jobs) < 0)
        return -1;
    if (value[QUEUES] == DOC_NONE)
        return 0;
    for (uint32_t x = value[QUEUES] + 1; x < d->node[value[QUEUES]].end; x = d->node[x].end)
        if (value_queue(r, x, "queues", &queue) < 0)
            return -1;
    return 0;
}

/* Names or paths, with ranges. */
static int check_resources(const struct reading *r, uint32_t i)
{
    struct hostlist list = {0};
    int rc = -1;

    if (doc_is_text(&r->doc, i))
        rc = hostlist_decode(&list, doc_text(&r->doc, i), r->doc.node[i].length, NULL);
    bool nomem = rc < 0 && doc_is_text(&r->doc, i) && errno == ENOMEM;
    bool none = rc < 0 || hostlist_count(&list) == 0;
    hostlist_clear(&list);
    if (nomem)
        return errtext_no_memory(r->doc.err);
    if (none)
        return doc_expected(&r->doc, i, "resources",
                            "names or paths such as \"node[0-3],node7\" or \"/cluster0/rack1\", or "
                            "\"all\"");
    return 0;
}

/* Its start, and for how long it lasts, which an end says as well. */
static int read_span(struct reading *r, uint32_t i, const uint32_t *value,
                     struct sched_block *block)
{
    int64_t end = 0;

    if ((value[END] == DOC_NONE) == (value[DURATION] == DOC_NONE))
        return doc_fault(&r->doc, i, "key \"duration\": expected either a duration or an end");
    if (value_date(r, value[START], "start", &block->start) < 0 ||
        value_date(r, value[END], "end", &end) < 0 ||
        value_time(r, value[DURATION], "duration", TIME_POSITIVE, &block->duration) < 0)
        return -1;
    if (value[END] == DOC_NONE)
        return 0;
    if (end <= block->start)
        return doc_expected(&r->doc, value[END], "end", "a time after the start");
    block->duration = end - block->start;
    return 0;
}

static int read_one_block(struct reading *r, uint32_t i, struct sched_block *block)
{
    uint32_t value[BLOCK_KEYS];

    if (doc_fields(&r->doc, i, &block_keys, value) < 0 ||
        value_name(r, value[NAME], "name", &block->name) < 0 ||
        check_resources(r, value[RESOURCES]) < 0 ||
        value_text(r, value[RESOURCES], "resources", &block->resources) < 0 ||
        read_span(r, i, value, block) < 0 ||
        value_time(r, value[EVERY], "every", TIME_ZERO_TOO, &block->every) < 0)
        return -1;
    if (block->every > 0 && block->every <= block->duration)
        return doc_expected(&r->doc, value[EVERY], "every",
                            "0 for once, or more than the duration");
    return read_for(r, value[FOR], block);
}

int read_blocks(struct reading *r, uint32_t i)
{
    const struct doc *d = &r->doc;
    struct sched_block *blocks;
    size_t n = 0;

    if (i == DOC_NONE)
        return 0;
    if (d->node[i].kind != DOC_LIST || d->node[i].count > BLOCKS_MAX)
        return doc_fault(d, i, "key \"blocks\": expected a list of at most %d blocks", BLOCKS_MAX);
    blocks = reading_array(r, d->node[i].count, sizeof(*blocks));
    if (!blocks)
        return -1;
    for (uint32_t x = i + 1; x < d->node[i].end; x = d->node[x].end, n++) {
        if (read_one_block(r, x, &blocks[n]) < 0)
            return -1;
        for (size_t k = 0; k < n; k++)
            if (strcmp(blocks[k].name, blocks[n].name) == 0)
                return doc_fault(d, x, "key \"name\": expected each name once, got \"%.60s\"",
                                 blocks[n].name);
    }
    r->config->sched.blocks = blocks;
    r->config->sched.n_blocks = n;
    return 0;
}
