#include "cli/client/chosen.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/errtext.h"
#include "base/nearest.h"
#include "cli/client/listing.h"
#include "cli/client/when.h"

enum kind { ID, STATE, REASON, TEXT, NUMBER, TIME, SPAN };

struct chosen_key {
    const char *name, *head;
    enum kind kind;
};

/* Keys of a job in the API that can be columns. */
static const struct chosen_key keys[] = {
    {"id", "ID", ID},
    {"name", "NAME", TEXT},
    {"user", "USER", TEXT},
    {"queue", "QUEUE", TEXT},
    {"state", "STATE", STATE},
    {"reason", "REASON", REASON},
    {"priority", "PRIORITY", NUMBER},
    {"nodes", "NODES", NUMBER},
    {"cores", "CORES", NUMBER},
    {"gpus", "GPUS", NUMBER},
    {"gpu_memory", "GPU-MEMORY", NUMBER},
    {"memory", "MEMORY", NUMBER},
    {"submit", "SUBMITTED", TIME},
    {"start", "STARTED", TIME},
    {"end", "ENDED", TIME},
    {"estimate", "EXPECTED", TIME},
    {"until", "UNTIL", TIME},
    {"limit", "LIMIT", SPAN},
    {"planned", "PLANNED", SPAN},
    {"exit", "EXIT", NUMBER},
    {"signal", "SIGNAL", NUMBER},
    {"attempts", "ATTEMPTS", NUMBER},
    {"peak_memory", "PEAK", NUMBER},
    {"cpu_time", "CPU", SPAN},
    {"members", "MEMBERS", NUMBER},
    {"resources", "RESOURCES", TEXT},
    {"account", "ACCOUNT", TEXT},
    {"dependency", "DEPENDENCY", TEXT},
    {"directory", "DIRECTORY", TEXT},
    {"output", "OUTPUT", TEXT},
};

#define KEYS (sizeof(keys) / sizeof(*keys))

static const char usual[] =
    "id,name,user,queue,state,exit,signal,nodes,cores,gpus,submit,start,end,reason";

static const struct chosen_key *find_chosen_key(const char *name, size_t n)
{
    for (size_t i = 0; i < KEYS; i++)
        if (strlen(keys[i].name) == n && strncmp(keys[i].name, name, n) == 0)
            return &keys[i];
    return NULL;
}

static int unknown(const char *name, size_t n, berth_error_t *err)
{
    const struct nearest_names names = {&keys[0].name, sizeof(keys[0]), KEYS};
    char word[48], expected[NEAREST_LIST_MAX + 32];
    snprintf(word, sizeof(word), "%.*s", (int)n, name);
    nearest_expected(&names, word, expected, sizeof(expected));
    return errtext_set(err, EINVAL, "there is no column '%s'%s", word,
                       *expected ? expected : "; man berth-jobs lists them");
}

int chosen_read(struct chosen *c, const char *list, berth_error_t *err)
{
    struct chosen made = {.csv = c->csv};
    for (const char *at = list;; at++) {
        size_t n = strcspn(at, ",");
        const struct chosen_key *key = find_chosen_key(at, n);
        if (!key)
            return unknown(at, n < 40 ? n : 40, err);
        if (made.n == TABLE_COLUMNS_MAX - 1)
            return errtext_set(err, EINVAL, "expected at most %d columns", TABLE_COLUMNS_MAX - 1);
        made.column[made.n] = (struct table_column){
            .head = key->head,
            .right = key->kind == ID || key->kind == NUMBER || key->kind == SPAN};
        made.key[made.n++] = key;
        at += n;
        if (!*at)
            break;
    }
    *c = made;
    return 0;
}

int chosen_format(struct chosen *c, const char *word, bool *json, berth_error_t *err)
{
    *json = strcmp(word, "json") == 0;
    c->csv = strcmp(word, "csv") == 0;
    if (!*json && !c->csv && strcmp(word, "table") != 0)
        return errtext_set(err, EINVAL, "--format is '%.40s', expected table, json or csv", word);
    return c->csv && c->n == 0 ? chosen_read(c, usual, err) : 0;
}

bool chosen_may_be_negative(const struct chosen_key *key)
{
    return strcmp(key->name, "priority") == 0;
}

/* A value as a person reads it, or `raw` as the API has it; "" if there is none. */
static const char *text_of_chosen_key(const struct chosen_key *key, const struct fields *job,
                                      const char *states, bool raw, struct strbuf *room)
{
    char word[LISTING_STATE_SIZE], span[WHEN_SIZE];
    double number;
    switch (key->kind) {
    case ID:
        listing_put_id(room, job, states);
        return strbuf_text(room);
    case STATE:
        if (!listing_summary(job, word))
            return fields_text(job, "state", room);
        break;
    case REASON:
    case TEXT:
        return fields_text(job, key->name, room);
    default:
        number = fields_number(job, key->name);
        if (number < 0 && key->kind != NUMBER)
            return "";
        if (number == -1 && !chosen_may_be_negative(key))
            return "";
        if (key->kind == TIME && !raw)
            snprintf(word, sizeof(word), "%s", when_put(number, span));
        else if (key->kind == SPAN && !raw)
            snprintf(word, sizeof(word), "%s", when_span(number, span));
        else if (number == floor(number))
            snprintf(word, sizeof(word), "%.0f", number);
        else
            snprintf(word, sizeof(word), "%.6f", number);
    }
    strbuf_reset(room);
    strbuf_puts(room, word);
    return strbuf_text(room);
}

bool chosen_number(const struct chosen_key *key, const struct fields *job, double *number)
{
    if (key->kind == TEXT || key->kind == STATE || key->kind == REASON)
        return false;
    *number = fields_number(job, key->name);
    return true;
}

const char *chosen_raw(const struct chosen_key *key, const struct fields *job, struct strbuf *room)
{
    return text_of_chosen_key(key, job, NULL, true, room);
}

/* In quotes where it has to be; control characters are not for terminals, which may be what shows this. */
static void put_csv(const char *text)
{
    bool quoted = strpbrk(text, ",\"\r\n") != NULL;
    if (quoted)
        putchar('"');
    for (; *text; text++) {
        if (*text == '"')
            putchar('"');
        putchar((unsigned char)*text < ' ' ? ' ' : *text);
    }
    if (quoted)
        putchar('"');
}

void chosen_put_heads(const struct chosen *c)
{
    for (size_t i = 0; i < c->n; i++)
        printf("%s%s", i ? "," : "", c->key[i]->name);
    putchar('\n');
}

void chosen_put_line(const struct chosen *c, const struct fields *job, const char *states)
{
    struct strbuf room = {0};
    for (size_t i = 0; i < c->n; i++) {
        if (i)
            putchar(',');
        put_csv(text_of_chosen_key(c->key[i], job, states, true, &room));
    }
    putchar('\n');
    strbuf_clear(&room);
}

void chosen_put_row(const struct chosen *c, struct table *t, const struct fields *job,
                    const char *states)
{
    for (size_t i = 0; i < c->n; i++) {
        if (c->key[i]->kind == REASON)
            listing_reason(t, job);
        else
            table_cell(t, text_of_chosen_key(c->key[i], job, states, false, &t->cell));
    }
}
