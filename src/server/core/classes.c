/* Classes that administrators have set while the server runs: of each queue that has some, their settings as they are
 * saved (berth/classes.h). They are part of the server's settings, under `classes`, by the queue's name, and take the
 * place of what the configuration says of that queue.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "server/core/machine.h"
#include "server/core/priv.h"

static json_t *all_classes(const server_t *s)
{
    return json_object_get(s->settings, "classes");
}

/* Settings from an object. NULL with errno and a text. */
static classes_t *read_classes(const json_t *object, berth_error_t *err)
{
    char *text = json_dumps(object, JSON_COMPACT);
    classes_t *c = text ? classes_load(text, strlen(text), err) : NULL;
    if (!text)
        errtext_no_memory(err);
    free(text);
    return c;
}

/* ---- What the configuration says ---- */

static int set_percents(classes_t *c, const struct sched_classes *is, berth_error_t *err)
{
    struct classes_percent list[CLASSES_MAX];
    for (size_t i = 0; i < is->n; i++)
        list[i] = (struct classes_percent){is->classes[i].name, is->classes[i].percent};
    return classes_set_percents(c, list, is->n, err);
}

static int set_requestors(classes_t *c, const struct sched_classes *is, berth_error_t *err)
{
    struct classes_requestor list[CLASSES_REQUESTORS];
    for (size_t i = 0; i < is->n_patterns; i++)
        list[i] = (struct classes_requestor){is->patterns[i].pattern, is->patterns[i].name};
    return classes_set_requestors(c, list, is->n_patterns, is->default_class, err);
}

/* What a configuration says of rebalancing, in seconds that are rounded up. If it says nothing, the minimum duration is the
 * default one, so that setting the threshold turns it on.
 */
static int set_rebalance(classes_t *c, const struct sched_classes *is, berth_error_t *err)
{
    int64_t seconds =
        is->rebalance_duration / SERVER_SECOND + (is->rebalance_duration % SERVER_SECOND > 0);
    if (is->rebalance_threshold == 0 && is->rebalance_duration == 0)
        return 0;
    if (classes_set_rebalance_threshold(c, is->rebalance_threshold, err) < 0)
        return -1;
    return classes_set_rebalance_minimum_duration(
        c, seconds < CLASSES_DURATION_MAX ? seconds : CLASSES_DURATION_MAX, err);
}

static classes_t *configured(const struct sched_classes *is, berth_error_t *err)
{
    classes_t *c = classes_create();
    if (!c)
        errtext_no_memory(err);
    else if (set_percents(c, is, err) == 0 && set_requestors(c, is, err) == 0 &&
             set_rebalance(c, is, err) == 0)
        return c;
    classes_destroy(c);
    return NULL;
}

/* A queue by classes. NULL with a text. */
static const struct sched_queue_config *queue_by_class(const server_t *s, const char *queue,
                                                       berth_error_t *err)
{
    const struct sched_queue_config *c = machine_queue(s, queue);
    if (c && c->by == SCHED_SHARE_CLASS)
        return c;
    errtext_set(err, ENOENT, "queue \"%.100s\" has no classes", queue);
    return NULL;
}

classes_t *settings_classes(const server_t *s, const char *queue, berth_error_t *err)
{
    const struct sched_queue_config *c = queue_by_class(s, queue, err);
    if (!c)
        return NULL;
    const json_t *object = json_object_get(all_classes(s), queue);
    return object ? read_classes(object, err) : configured(&c->classes, err);
}

/* ---- What the core is told ---- */

void class_overlay_clear(struct class_overlay *o)
{
    for (size_t i = 0; i < o->n; i++)
        classes_destroy(o->settings[i]);
    free(o->settings);
    free(o->memory);
    free(o->queues);
    *o = (struct class_overlay){0};
}

/* What settings say, in memory for CLASSES_MAX classes and CLASSES_REQUESTORS patterns. */
static void put_classes(const classes_t *settings, struct class_lists *lists,
                        struct sched_classes *to)
{
    const struct classes_percent *percent;
    const struct classes_requestor *requestor;
    to->n = classes_get_percents(settings, &percent);
    to->n_patterns = classes_get_requestors(settings, &requestor, &to->default_class);
    for (size_t i = 0; i < to->n; i++)
        lists->classes[i] = (struct sched_class){percent[i].name, percent[i].percent};
    for (size_t i = 0; i < to->n_patterns; i++)
        lists->patterns[i] = (struct sched_class_pattern){requestor[i].pattern, requestor[i].name};
    to->classes = lists->classes;
    to->patterns = lists->patterns;
    to->rebalance_threshold = classes_get_rebalance_threshold(settings);
    to->rebalance_duration = classes_get_rebalance_minimum_duration(settings) * SERVER_SECOND;
}

/* What was set of a queue; settings that can't be read are none, and it is said. */
static classes_t *set_of(server_t *s, const struct sched_queue_config *queue)
{
    const json_t *object = json_object_get(all_classes(s), queue->name);
    berth_error_t why = {""};
    if (!object || queue->by != SCHED_SHARE_CLASS)
        return NULL;
    classes_t *settings = read_classes(object, &why);
    if (!settings)
        server_notice(s, "the stored classes of queue %s are not used: %s", queue->name, why.text);
    return settings;
}

int class_overlay_make(server_t *s, const struct sched_config *config, struct class_overlay *o,
                       berth_error_t *err)
{
    *o = (struct class_overlay){.sched = *config};
    size_t n = config->n_queues;
    if (n == 0 || json_object_size(all_classes(s)) == 0)
        return 0;
    o->queues = calloc(n, sizeof(*o->queues));
    o->settings = calloc(n, sizeof(*o->settings));
    o->memory = calloc(json_object_size(all_classes(s)), sizeof(*o->memory));
    if (!o->queues || !o->settings || !o->memory) {
        class_overlay_clear(o);
        return errtext_no_memory(err);
    }
    for (size_t i = 0; i < n; i++) {
        o->queues[i] = config->queues[i];
        classes_t *settings = set_of(s, &o->queues[i]);
        if (!settings)
            continue;
        o->settings[o->n] = settings;
        put_classes(settings, &o->memory[o->n++], &o->queues[i].classes);
    }
    o->sched.queues = o->queues;
    return 0;
}

int classes_configure(server_t *s, const struct sched_config *config, berth_error_t *err)
{
    struct class_overlay o;
    if (class_overlay_make(s, config, &o, err) < 0)
        return -1;
    int rc = sched_configure(s->sched, s->clock.now, &o.sched, err);
    int saved = errno;
    class_overlay_clear(&o);
    errno = saved;
    return rc;
}

/* ---- Changes ---- */

/* Have this be kept of a queue (NULL: nothing), if the core takes it. */
static int keep_for_queue(server_t *s, const char *queue, json_t *object, berth_error_t *err)
{
    if (!all_classes(s) && json_object_set_new(s->settings, "classes", json_object()) < 0)
        return errtext_no_memory(err);
    json_t *before = json_incref(json_object_get(all_classes(s), queue));
    int rc = object ? json_object_set(all_classes(s), queue, object)
                    : json_object_del(all_classes(s), queue);
    if (rc < 0)
        errtext_no_memory(err);
    else if ((rc = classes_configure(s, &s->config->sched, err)) < 0 && before)
        json_object_set(all_classes(s), queue, before); /* its key is there, so this can't fail */
    else if (rc < 0)
        json_object_del(all_classes(s), queue);
    int saved = errno;
    json_decref(before);
    errno = saved;
    if (rc == 0)
        settings_note_change(s);
    return rc;
}

/* What is saved of settings, as an object. NULL with errno and a text. */
static json_t *write_classes(const classes_t *c, berth_error_t *err)
{
    char *text = c ? classes_save(c) : NULL;
    json_t *object = text ? json_loads(text, 0, NULL) : NULL;
    free(text);
    if (c && !object)
        errtext_no_memory(err);
    return object;
}

int settings_classes_change(server_t *s, const char *queue, json_t *changes, berth_error_t *err)
{
    classes_t *was = settings_classes(s, queue, err), *is = NULL;
    json_t *wanted = was ? write_classes(was, err) : NULL, *kept = NULL;
    int rc = -1;
    if (wanted && json_object_update(wanted, changes) < 0)
        errtext_no_memory(err);
    else if (wanted && (is = read_classes(wanted, err)))
        kept = write_classes(is, err);
    if (kept)
        rc = keep_for_queue(s, queue, kept, err);
    int saved = errno;
    json_decref(kept);
    json_decref(wanted);
    classes_destroy(was);
    classes_destroy(is);
    errno = saved;
    return rc;
}

int settings_classes_remove(server_t *s, const char *queue, berth_error_t *err)
{
    if (!json_object_get(all_classes(s), queue))
        return queue_by_class(s, queue, err)
                   ? errtext_set(err, ENOENT, "the classes of queue \"%.100s\" are as configured",
                                 queue)
                   : -1;
    return keep_for_queue(s, queue, NULL, err);
}
