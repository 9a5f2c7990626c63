#include "cli/show_events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/client/connection.h"
#include "cli/client/terminal.h"
#include "cli/client/when.h"

static bool is_instant(const char *key)
{
    return strcmp(key, "start") == 0 || strcmp(key, "at") == 0 || strcmp(key, "until") == 0;
}

/* Users chose some of this text, and root may read it. */
static void print_datum(const char *key, const json_t *value)
{
    char text[WHEN_SIZE];
    char *json = NULL;

    if (json_is_null(value) || json_is_false(value))
        return;
    printf(", ");
    terminal_print(stdout, key);
    if (json_is_true(value))
        return;
    putchar(' ');
    if (json_is_string(value))
        terminal_print(stdout, json_string_value(value));
    else if (json_is_number(value) && is_instant(key))
        terminal_print(stdout, when_put(json_number_value(value), text));
    else if ((json = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT)))
        terminal_print(stdout, json);
    free(json);
}

void show_events(const json_t *events, bool of_member)
{
    char text[WHEN_SIZE];
    const json_t *event, *value;
    const char *key;
    size_t i;

    puts("events");
    json_array_foreach (events, i, event) {
        const json_t *member = json_object_get(event, "member");
        printf("  %s  ", when_put(answer_number(event, "time"), text));
        if (json_is_integer(member) && !of_member)
            printf("[%lld] ", (long long)json_integer_value(member));
        terminal_print(stdout, answer_text(event, "kind"));
        json_object_foreach (json_object_get(event, "data"), key, value)
            print_datum(key, value);
        putchar('\n');
    }
}
