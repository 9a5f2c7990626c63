/* berth explain: why does it wait? */
#include <stdio.h>

#include "cli/client/one.h"
#include "cli/client/when.h"
#include "cli/client/words.h"
#include "cli/verb.h"

static const char help[] =
    "usage: berth explain [--json] JOB\n"
    "Say why a job waits: what blocks it, who holds that, when it will start, and what shorter\n"
    "limit or smaller request would let it start now.\n"
    "      --json  the same as an object\n"
    "  -h, --help  print this\n"
    "Exit status: 0 explained, 1 there is no such job, 2 wrong command line.\n"
    "Example: berth explain 17\n"
    "Manual: man berth-explain\n";

/* Who has what it waits for: "held by 17 of ann until 2026-11-22 12:00:00: node0/core[0-3]". */
static void put_holders(const json_t *holders)
{
    char until[WHEN_SIZE];
    const json_t *holder;
    size_t i;

    json_array_foreach(holders, i, holder)
    {
        const char *what = words_text(holder, "resources"), *user = words_text(holder, "user");
        const char *id = words_text(holder, "id");
        if (*id)
            printf("  held by %s", id);
        else
            printf("  held by %.0f", words_number(holder, "id"));
        printf("%s%s until %s%s%s\n", *user ? " of " : "", user,
               when_put(words_number(holder, "until"), until), *what ? ": " : "", what);
    }
}

static int explain(struct talk *talk, int64_t id, int64_t member, bool json, berth_error_t *err)
{
    struct strbuf path = {0};
    json_t *answer = NULL;

    words_path(&path, id, member, "/explain");
    int rc = talk_ask(talk, "GET", strbuf_text(&path), NULL, &answer, err);
    strbuf_clear(&path);
    if (rc == 0 && json) {
        json_dumpf(answer, stdout, JSON_INDENT(2));
        putchar('\n');
    } else if (rc == 0) {
        puts(words_text(answer, "text"));
        put_holders(json_object_get(answer, "holders"));
    }
    json_decref(answer);
    return rc;
}

int cli_explain(int argc, char **argv)
{
    return one_job("explain", help, argc, argv, explain);
}
