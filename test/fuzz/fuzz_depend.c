/* Any text is an expression that can be said again and is met in the end or never, or an error of one line;
 * and an id, or not.
 */
#include "fuzz.h"

#include <errno.h>
#include <string.h>

#include "sched/controllers/depend.h"

#define ARRAY 3
#define FIRST 20
#define AGAIN 21

static void submit(struct depend *d, uint32_t slot, const char *id)
{
    FUZZ_CHECK(depend_job(d, slot, id, 0, 1, "u", "n", NULL, NULL) == 0);
}

/* a and the array b wait; c and d have ended. */
static struct depend *some_jobs(void)
{
    struct depend *d = depend_create();
    FUZZ_CHECK(d);
    submit(d, 0, "a");
    for (uint32_t i = 0; i < ARRAY; i++)
        FUZZ_CHECK(depend_job(d, 1 + i, "b", i, ARRAY, "u", NULL, NULL, NULL) == 0);
    FUZZ_CHECK(depend_outcome(d, "c", true) == 0 && depend_outcome(d, "d", false) == 0);
    return d;
}

static bool enter(struct depend *d, uint32_t slot, const char *id, const char *expression)
{
    berth_error_t err = {""};
    errno = 0;
    if (depend_job(d, slot, id, 0, 1, "u", "n", expression, &err) == 0) {
        FUZZ_CHECK(depend_check(d) && err.text[0] == '\0');
        return true;
    }
    FUZZ_CHECK(errno == EINVAL && depend_check(d));
    FUZZ_CHECK(err.text[0] != '\0' && !strpbrk(err.text, "\n\r\033"));
    return false;
}

/* The same, from what it says of itself. */
static void say_again(struct depend *d)
{
    struct strbuf said = {0};
    struct strbuf again = {0};
    struct sched_reason reason, other;
    char text[SCHED_REASON_TEXT], other_text[SCHED_REASON_TEXT];
    depend_expression(d, FIRST, &said);
    FUZZ_CHECK(!said.failed && (said.len > 0) == depend_waits(d, FIRST));
    FUZZ_CHECK(enter(d, AGAIN, "again", strbuf_text(&said)));
    depend_expression(d, AGAIN, &again);
    FUZZ_CHECK(strcmp(strbuf_text(&said), strbuf_text(&again)) == 0);
    depend_reason(d, FIRST, &reason);
    depend_reason(d, AGAIN, &other);
    FUZZ_CHECK(strcmp(sched_reason_text(&reason, text), sched_reason_text(&other, other_text)) ==
               0);
    strbuf_clear(&said);
    strbuf_clear(&again);
}

/* Everything ends; then all know whether they may start. */
static void end_all(struct depend *d, bool ok)
{
    uint32_t slot;
    bool never;
    for (uint32_t i = 0; i <= ARRAY; i++)
        depend_ended(d, i, ok);
    bool said_never = false;
    while (depend_next_ready(d, &slot, &never))
        if (slot == FIRST)
            said_never = never;
    FUZZ_CHECK(depend_check(d) && depend_waits(d, FIRST) == said_never);
    depend_ended(d, FIRST, true);
    depend_next_ready(d, &slot, &never);
    depend_forget(d, FIRST);
    FUZZ_CHECK(depend_check(d));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    FUZZ_CHECK(text);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    for (int ok = 0; ok < 2; ok++) {
        struct depend *d = some_jobs();
        if (enter(d, FIRST, "me", text)) {
            say_again(d);
            end_all(d, ok > 0);
        }
        if (enter(d, FIRST, text, NULL)) {
            FUZZ_CHECK(depend_find(d, text, 0) == FIRST);
            FUZZ_CHECK(strcmp(depend_id(d, FIRST), text) == 0);
        }
        depend_destroy(d);
    }
    free(text);
    return 0;
}
