/* Any bytes are a configuration that keeps its promises, or an error of one line. What is shown of one is
 * read as one of which the same is shown.
 *
 * The first byte is the number of ticks in a second, 0 for a million.
 */
#include <errno.h>
#include <string.h>

#include "berth/sched_config.h"
#include "config/config.h"
#include "fuzz.h"

#define NODES_MADE 1000 /* a larger machine is not made here */

static void check_limits(const struct sched_limit *limits, size_t n)
{
    for (size_t i = 0; i < n; i++)
        FUZZ_CHECK(limits[i].what[0] && limits[i].most >= 0);
}

static void check_names(const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        FUZZ_CHECK(names[i][0] && !strpbrk(names[i], " ,\n\t"));
}

static void check_queue(const struct config *c, const struct sched_queue_config *q)
{
    FUZZ_CHECK(q->name[0]);
    FUZZ_CHECK(!q->policy == !!q->parent);
    FUZZ_CHECK(q->queue_depth >= 0 && q->max_queue_depth >= 0);
    FUZZ_CHECK(q->max_queue_depth == 0 || q->queue_depth <= q->max_queue_depth);
    FUZZ_CHECK(q->reservation_depth >= 0 && q->max_reservation_depth >= 0);
    FUZZ_CHECK(q->max_reservation_depth == 0 || q->reservation_depth <= q->max_reservation_depth);
    FUZZ_CHECK((q->policy && strcmp(q->policy, "hybrid") == 0) == (q->reservation_depth > 0));
    FUZZ_CHECK(q->default_duration >= 1 && q->default_limit >= 1);
    FUZZ_CHECK(q->starvation_threshold >= 1 && q->sla_waiting_time >= 1 && q->claims >= 1);
    check_names(q->users, q->n_users);
    check_names(q->groups, q->n_groups);
    check_limits(q->limits.job, q->limits.n_job);
    check_limits(q->limits.user, q->limits.n_user);
    check_limits(q->limits.queue, q->limits.n_queue);
    for (size_t i = 0; i < q->n_exceptions; i++) {
        FUZZ_CHECK(q->exceptions[i].n_users + q->exceptions[i].n_groups > 0);
        check_limits(q->exceptions[i].limits.job, q->exceptions[i].limits.n_job);
        check_limits(q->exceptions[i].limits.user, q->exceptions[i].limits.n_user);
    }
    size_t parents = 0;
    for (size_t i = 0; q->parent && i < c->sched.n_queues; i++)
        parents += strcmp(c->sched.queues[i].name, q->parent) == 0 && !c->sched.queues[i].parent;
    FUZZ_CHECK(parents == !!q->parent);
}

static void check_numbers(const struct config_name *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        FUZZ_CHECK(names[i].name[0] && (i == 0 || names[i].number > names[i - 1].number));
}

static void check_nodes(const struct config_resources *r)
{
    int64_t each = 1 + r->cores + r->gpus + (r->memory > 0);
    FUZZ_CHECK(r->nodes >= 1 && r->cores >= 1 && r->gpus >= 0 && r->memory >= 0);
    FUZZ_CHECK(config_check_nodes(r, NULL) == 0);
    if (r->nodes * each > NODES_MADE)
        return;
    resource_graph_t *g = config_make_nodes(r, NULL);
    FUZZ_CHECK(g && resource_graph_vertices(g) == (size_t)(1 + r->nodes * each));
    resource_graph_destroy(g);
}

static void check_config(const struct config *c)
{
    const struct sched_config *s = &c->sched;
    FUZZ_CHECK(c->match.policy && c->match.traverser && c->match.filters && c->match.matcher);
    FUZZ_CHECK(c->match_format && c->trace.processor);
    FUZZ_CHECK((c->resources.source == CONFIG_FILE) == (c->resources.file != NULL));
    if (c->resources.source == CONFIG_NODES)
        check_nodes(&c->resources);
    FUZZ_CHECK(s->n_queues >= 1 && s->n_queues <= CONFIG_QUEUES_MAX);
    FUZZ_CHECK(s->default_queue || s->n_queues > 1);
    FUZZ_CHECK(s->default_duration >= 1 && s->default_limit >= 1 && s->min_interval >= 0 &&
               s->max_events >= 0);
    FUZZ_CHECK(s->ended_jobs >= 1 && c->match.tries >= 1);
    FUZZ_CHECK(s->what_if_holders >= 1 && s->what_if_tries >= 1);
    for (size_t i = 0; i < s->n_queues; i++)
        check_queue(c, &s->queues[i]);
    FUZZ_CHECK(s->n_blocks <= 64);
    for (size_t i = 0; i < s->n_blocks; i++) {
        const struct sched_block *b = &s->blocks[i];
        FUZZ_CHECK(b->name[0] && b->resources[0] && b->start >= 0 && b->duration >= 1);
        FUZZ_CHECK(b->every == 0 || b->every > b->duration);
    }
    for (size_t i = 0; i < c->n_users; i++)
        check_names(c->users[i].groups, c->users[i].n_groups);
    check_numbers(c->trace.queues, c->trace.n_queues);
    check_numbers(c->trace.users, c->trace.n_users);
    check_numbers(c->trace.groups, c->trace.n_groups);
    check_numbers(c->trace.partitions, c->trace.n_partitions);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int64_t second = size > 0 && data[0] ? data[0] : 1000000;
    const char *text = size > 0 ? (const char *)data + 1 : "";
    size_t length = size > 0 ? size - 1 : 0;
    berth_error_t err = {""};
    errno = 0;
    struct config *c = config_read("fuzz", text, length, second, &err);
    if (!c) {
        FUZZ_CHECK(errno == EINVAL || errno == ENOMEM);
        FUZZ_CHECK(strncmp(err.text, "fuzz:", 5) == 0 || errno == ENOMEM);
        FUZZ_CHECK(!strchr(err.text, '\n'));
        return 0;
    }
    FUZZ_CHECK(err.text[0] == '\0');
    check_config(c);
    char *shown = config_show(c, second);
    FUZZ_CHECK(shown);
    struct config *same = config_read("shown", shown, strlen(shown), second, &err);
    FUZZ_CHECK(same);
    char *again = config_show(same, second);
    FUZZ_CHECK(again && strcmp(shown, again) == 0);
    free(again);
    config_destroy(same);
    free(shown);
    config_destroy(c);
    return 0;
}
