#include "cli/pilot_auto.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "cli/client/when.h"
#include "cli/pilot_slurm.h"
#include "report/explain.h"

#define MINUTE 60
#define SECOND 1000000.0 /* us */
#define WORDS  64

/* ---- In words ---- */

static void put_span(double seconds)
{
    struct strbuf text = {0};
    explain_span(&text, (int64_t)(seconds * SECOND));
    fputs(strbuf_text(&text), stdout);
    strbuf_clear(&text);
}

static void print_rule(const json_t *look)
{
    const json_t *rule = json_object_get(look, "rule"), *node = json_object_get(look, "node");
    double budget = answer_number(rule, "budget");
    printf("Pilots of up to ");
    put_span(answer_number(rule, "time"));
    printf(", %.0f nodes at most, of which %.0f are there or asked for",
           answer_number(rule, "max_nodes"), answer_number(look, "nodes"));
    if (budget > 0)
        printf("; %.1f of %.0f hours of nodes used", answer_number(look, "spent") / 3600, budget);
    printf(".\n");
    if (answer_number(node, "cores") > 0)
        printf("A node has %.0f cores, %.0f GPUs, %.1f GiB.\n", answer_number(node, "cores"),
               answer_number(node, "gpus"), answer_number(node, "memory") / 1073741824.0);
    else
        printf("What a node has is learnt from the first one.\n");
}

static void print_ask(const json_t *ask)
{
    char at[WHEN_SIZE];
    const char *when = answer_text(ask, "when");
    double nodes = answer_number(ask, "nodes"), members = answer_number(ask, "members");
    printf("%s: %.0f node%s for ",
           strcmp(when, "now") == 0 ? "To be asked for" : "To be asked for later", nodes,
           nodes > 1 ? "s" : "");
    put_span(answer_number(ask, "time"));
    printf(", for %.0f job%s that wait%s", members, members > 1 ? "s" : "", members > 1 ? "" : "s");
    if (strcmp(when, "backlog") == 0)
        printf(", as soon as a pilot that waits has started");
    else if (strcmp(when, "now") != 0)
        printf(", not before %s", when_put(answer_number(ask, "at"), at));
    printf(".\n");
}

static void print_release(const json_t *release)
{
    const char *why = answer_text(release, "why");
    printf("To be given back: pilot %.0f, ", answer_number(release, "pilot"));
    if (strcmp(why, "stuck") == 0)
        printf("which can never start: %s.\n", answer_text(release, "reason"));
    else
        printf("%s.\n",
               strcmp(why, "idle") == 0 ? "which is idle" : "for which nothing waits any more");
}

void auto_print(const json_t *look)
{
    const json_t *one;
    size_t i;
    if (!json_is_object(json_object_get(look, "rule"))) {
        printf("No pilots are asked for: there is no rule.\n");
        return;
    }
    print_rule(look);
    if (*answer_text(look, "refused"))
        printf("The last ask has failed, %.0f in a row: %s\n", answer_number(look, "failures"),
               answer_text(look, "refused"));
    json_array_foreach (json_object_get(look, "asks"), i, one)
        print_ask(one);
    json_array_foreach (json_object_get(look, "releases"), i, one)
        print_release(one);
    json_array_foreach (json_object_get(look, "jobs"), i, one) {
        double members = answer_number(one, "members");
        if (!*answer_text(one, "why") || strcmp(answer_text(one, "fate"), "lacking") == 0)
            continue;
        printf("Job %.0f", answer_number(one, "id"));
        if (members > 1)
            printf(", %.0f members", members);
        printf(": %s\n", answer_text(one, "why"));
    }
    if (json_array_size(json_object_get(look, "asks")) == 0)
        printf("Nothing is asked for now.\n");
}

/* ---- Done ---- */

static void tell_refused(struct connection *connection, const char *why)
{
    berth_error_t ignored;
    json_t *body = json_pack("{s:s}", "refused", *why ? why : "sbatch failed");
    connection_ask(connection, "PATCH", "/v1/pilots/auto", body, NULL, &ignored);
    json_decref(body);
}

static void ask_slurm_for_rule(struct connection *connection, const json_t *rule, const json_t *ask)
{
    char *words[WORDS] = {NULL}, *rest = NULL;
    berth_error_t err = {""};
    size_t n = 0;
    char *options = strdup(answer_text(rule, "options"));
    const char *partition = answer_text(rule, "partition");
    for (char *word = options ? strtok_r(options, " ", &rest) : NULL; word && n + 1 < WORDS;
         word = strtok_r(NULL, " ", &rest))
        words[n++] = word;
    struct pilot_new p = {.nodes = (int64_t)answer_number(ask, "nodes"),
                          .minutes = (int64_t)answer_number(ask, "time") / MINUTE,
                          .partition = *partition ? partition : NULL,
                          .more = words,
                          .is_auto = true};
    if (options && pilot_make(connection, &p, &err) < 0)
        tell_refused(connection, err.text);
    free(options);
}

/* Nothing runs there, and nothing is started any more once the server has agreed. */
static void give_back(struct connection *connection, const json_t *release)
{
    char path[80];
    berth_error_t err = {""};
    bool stuck = strcmp(answer_text(release, "why"), "stuck") == 0;
    const char *job = answer_text(release, "job");
    snprintf(path, sizeof(path), "/v1/pilots/%.0f?idle=1", answer_number(release, "pilot"));
    if (connection_ask(connection, "DELETE", path, NULL, NULL, &err) < 0)
        return;
    if (*job)
        slurm_cancel(job, &err);
    if (stuck)
        tell_refused(connection, answer_text(release, "reason"));
}

int auto_follow(struct connection *connection)
{
    json_t *look = NULL;
    const json_t *one;
    size_t i;
    berth_error_t err;
    if (connection_ask(connection, "GET", "/v1/pilots/auto", NULL, &look, &err) < 0)
        return -1;
    const json_t *rule = json_object_get(look, "rule");
    bool is = json_is_object(rule);
    json_array_foreach (json_object_get(look, "releases"), i, one)
        give_back(connection, one);
    one = json_array_get(json_object_get(look, "asks"), 0);
    if (one && strcmp(answer_text(one, "when"), "now") == 0)
        ask_slurm_for_rule(connection, rule, one);
    json_decref(look);
    return is;
}
