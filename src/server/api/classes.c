/* Routes of classes: what they have, and their settings. */
#include <stdlib.h>

#include "base/json_out.h"
#include "berth/sched_shares.h"
#include "server/api/api.h"
#include "server/core/machine.h"

static void put_class(struct json_out *out, const struct sched_class_now *class)
{
    json_line(out);
    json_open(out, NULL, '{');
    json_put_text(out, "queue", class->queue);
    json_put_text(out, "class", class->name);
    json_put_int(out, "percent", class->percent);
    json_put_int(out, "target", class->target);
    json_put_int(out, "running", class->running);
    json_put_int(out, "promised", class->promised);
    json_put_int(out, "waiting", class->waiting);
    json_put_int(out, "borrowed", class->borrowed);
    json_close(out, '}');
}

void api_classes_get(struct call *c)
{
    struct json_out out = {.text = c->out};
    const struct sched_class_now *classes;
    size_t n;
    if (sched_classes_now(c->s->sched, &classes, &n) < 0) {
        api_no_memory(c->reply);
        return;
    }
    json_open(&out, NULL, '{');
    json_open(&out, "classes", '[');
    for (size_t i = 0; i < n; i++)
        put_class(&out, &classes[i]);
    strbuf_puts(c->out, "\n]}\n");
}

/* Whether there is the queue that the path names; else the call is refused. */
static bool find_queue(struct call *c)
{
    if (machine_queue(c->s, c->rest))
        return true;
    api_refuse(c, 404, NULL, "there is no queue \"%.100s\"", c->rest);
    return false;
}

void api_class_settings_get(struct call *c)
{
    berth_error_t why = {""};
    if (!find_queue(c))
        return;
    classes_t *settings = settings_classes(c->s, c->rest, &why);
    char *text = settings ? classes_save(settings) : NULL;
    if (text) {
        strbuf_puts(c->out, text);
        strbuf_putc(c->out, '\n');
    } else {
        api_wrong(c, &why);
    }
    free(text);
    classes_destroy(settings);
}

static void tell_class_change(struct call *c)
{
    struct call told = *c;
    told.body = NULL; /* members of the settings are told by themselves */
    api_event_body(&told, "classes", "queue", c->rest);
    api_done(c);
}

void api_classes_patch(struct call *c)
{
    berth_error_t why = {""};
    if (!find_queue(c))
        return;
    if (!json_is_object(c->body))
        api_refuse(c, 400, NULL, "expected an object");
    else if (settings_classes_change(c->s, c->rest, c->body, &why) < 0)
        api_wrong(c, &why);
    else
        tell_class_change(c);
}

void api_classes_delete(struct call *c)
{
    berth_error_t why = {""};
    if (!find_queue(c))
        return;
    if (settings_classes_remove(c->s, c->rest, &why) < 0)
        api_wrong(c, &why);
    else
        tell_class_change(c);
}
