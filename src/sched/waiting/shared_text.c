/* Jobspecs as texts: equal ones are one, which knows what it was understood as.
 *
 * Why this is not the same as a class (place/graph/class.c): it keeps the text itself, which people may ask
 * for, with what is no matter of the machine's, such as the queue, and saves reading it again, so that each
 * member of an array and each job of a script costs a look into a table. Requests that mean the same in other
 * words meet in their class. A text leads to one class for each part of the machine that it was asked about.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "sched/queues.h"

/* What a text is in a part of the machine. It uses the class, so that this lasts as long as the text. */
struct text_class {
    struct text_class *next;
    uint32_t part, class;
};

static struct shared_text *text_at(struct dict_entry *entry)
{
    return entry ? (struct shared_text *)((char *)entry - offsetof(struct shared_text, entry))
                 : NULL;
}

struct shared_text *shared_text_use(struct queues *n, const char *text, size_t length)
{
    struct shared_text *t = text_at(dict_find(&n->jobspecs, text, length));
    if (t) {
        t->users++;
        return t;
    }
    if (dict_reserve(&n->jobspecs) < 0 || !(t = malloc(sizeof(*t) + length + 1))) {
        errno = ENOMEM;
        return NULL;
    }
    *t = (struct shared_text){.users = 1, .entry = {.text = t->text, .length = length}};
    if (length > 0)
        memcpy(t->text, text, length);
    t->text[length] = '\0';
    dict_put(&n->jobspecs, &t->entry);
    return t;
}

void shared_text_leave(sched_t *s, struct shared_text *t)
{
    if (!t || --t->users > 0)
        return;
    dict_take(&s->queues->jobspecs, &t->entry);
    while (t->classes) {
        struct text_class *c = t->classes;
        t->classes = c->next;
        s->place->ops->forget(s->place, c->class);
        free(c);
    }
    shared_text_rest(t);
    free(t->queue);
    free(t->account);
    free(t);
}

void shared_text_rest(struct shared_text *t)
{
    jobspec_destroy(t->spec);
    t->spec = NULL;
}

static int parse(struct shared_text *t, berth_error_t *err)
{
    if (!t->spec)
        t->spec = jobspec_parse(t->text, t->entry.length, NULL, err);
    return t->spec ? 0 : -1;
}

int shared_text_read(struct shared_text *t, berth_error_t *err)
{
    if (t->is_read)
        return 0;
    if (parse(t, err) < 0)
        return -1;
    free(t->queue); /* of a read in vain */
    t->queue = NULL;
    if ((t->spec->queue && !(t->queue = strdup(t->spec->queue))) ||
        (t->spec->account && !(t->account = strdup(t->spec->account))))
        return errtext_no_memory(err);
    t->duration = t->spec->duration;
    t->preemptible_after = t->spec->preemptible_after;
    t->sla_waiting_time = t->spec->sla_waiting_time;
    t->is_read = true;
    return 0;
}

int shared_text_know(sched_t *s, struct shared_text *t, uint32_t part, bool refuse, uint32_t *class,
                     int64_t *units, berth_error_t *err)
{
    const struct place_ops *ops = s->place->ops;
    struct text_class *c = t->classes;
    while (c && c->part != part)
        c = c->next;
    if (c) {
        *class = c->class;
        return ops->know(s->place, NULL, part, refuse, class, units, err);
    }
    if (parse(t, err) < 0 || ops->know(s->place, t->spec, part, refuse, class, units, err) < 0)
        return -1;
    if (!(c = malloc(sizeof(*c))) ||
        ops->know(s->place, NULL, part, false, class, units, err) < 0) { /* the text's own use */
        free(c);
        ops->forget(s->place, *class);
        return errtext_no_memory(err);
    }
    *c = (struct text_class){t->classes, part, *class};
    t->classes = c;
    return 0;
}

uint32_t shared_text_class(const struct shared_text *t, uint32_t part)
{
    const struct text_class *c = t->classes;
    while (c && c->part != part)
        c = c->next;
    return c ? c->class : UINT32_MAX;
}
