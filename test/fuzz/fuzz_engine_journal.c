/* Any bytes are a journal: each record in it that is whole is in order, and is read again as it was. */
#include "fuzz.h"

#include <string.h>

#include "engine/local/journal.h"
#include "engine/local/messages.h"

struct told {
    struct strbuf again; /* the records, written once more */
    size_t n;
};

static int on_head(void *context, const struct journal_head *head)
{
    struct told *told = context;
    FUZZ_CHECK(memchr(head->boot, '\0', sizeof(head->boot)) != NULL);
    journal_put_head(&told->again, head);
    told->n++;
    return 0;
}

static int on_task(void *context, const struct journal_task *task)
{
    struct told *told = context;
    FUZZ_CHECK(task->index < task->tasks && task->tasks <= MESSAGE_TASKS_MAX && task->pid > 0);
    journal_put_task(&told->again, task);
    told->n++;
    return 0;
}

static int on_end(void *context, const struct journal_end *end)
{
    struct told *told = context;
    FUZZ_CHECK(end->event.what > ENGINE_STARTED && end->event.what <= ENGINE_LOST);
    FUZZ_CHECK(!end->event.text || strlen(end->event.text) < 4096);
    journal_put_end(&told->again, end);
    told->n++;
    return 0;
}

static int on_acknowledged(void *context, uint64_t number)
{
    struct told *told = context;
    journal_put_acknowledged(&told->again, number);
    told->n++;
    return 0;
}

static int on_used(void *context, const struct used_range *range)
{
    struct told *told = context;
    FUZZ_CHECK(range->lo <= range->hi);
    journal_put_used(&told->again, range);
    told->n++;
    return 0;
}

static void read_all(struct told *told, const char *bytes, size_t n)
{
    const struct journal_reader reader = {told, on_head, on_task, on_end, on_acknowledged, on_used};
    FUZZ_CHECK(journal_read(bytes, n, &reader) == 0);
    FUZZ_CHECK(!told->again.failed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct told first = {.n = 0};
    struct told second = {.n = 0};
    read_all(&first, (const char *)data, size);
    read_all(&second, first.again.data, first.again.len);
    FUZZ_CHECK(second.n == first.n && second.again.len == first.again.len);
    FUZZ_CHECK(first.n == 0 || memcmp(first.again.data, second.again.data, first.again.len) == 0);
    strbuf_clear(&first.again);
    strbuf_clear(&second.again);
    return 0;
}
