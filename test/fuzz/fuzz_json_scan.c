/* Parts of a text that may or may not be JSON: they lie within it, and of JSON they are those that jansson
 * finds.
 */
#include <jansson.h>
#include <string.h>

#include "base/json_scan.h"
#include "fuzz.h"

/* Each part is looked at in all ways. */
static void look(struct json_part part, int depth)
{
    struct json_scan s;
    struct json_part key, value;
    struct strbuf b = {0};
    int64_t number;
    json_part_int(part, &number);
    json_part_double(part, 0);
    json_part_text(part, &b);
    strbuf_clear(&b);
    if (depth > 20)
        return;
    json_scan_begin(&s, part);
    while (json_scan_next(&s, &key, &value)) {
        FUZZ_CHECK(value.at >= part.at && value.at + value.length <= part.at + part.length);
        FUZZ_CHECK(!key.at || (key.at > part.at && key.at + key.length < value.at));
        look(value, depth + 1);
    }
}

static void compare(struct json_part part, json_t *value)
{
    struct json_scan s;
    struct json_part key, member;
    size_t n = 0;
    json_scan_begin(&s, part);
    for (; json_scan_next(&s, &key, &member); n++)
        if (json_is_array(value))
            compare(member, json_array_get(value, n));
    if (json_is_array(value) || json_is_object(value))
        FUZZ_CHECK(s.is_whole);
    FUZZ_CHECK(n == json_array_size(value) + json_object_size(value));
    if (json_is_string(value)) {
        struct strbuf b = {0};
        FUZZ_CHECK(json_part_text(part, &b));
        FUZZ_CHECK(strcmp(strbuf_text(&b), json_string_value(value)) == 0);
        strbuf_clear(&b);
    }
}

/* The same brackets in pieces of any size. */
static void count_brackets(const char *text, size_t size, size_t piece)
{
    struct json_strings s = {0}, once = {0};
    size_t n = 0, all = 0;
    for (const char *at = text; (at = json_bracket(&once, at, text + size)) < text + size; at++)
        all++;
    for (size_t from = 0; from < size; from += piece) {
        const char *end = text + (size - from < piece ? size : from + piece);
        for (const char *at = text + from; (at = json_bracket(&s, at, end)) < end; at++)
            n++;
    }
    FUZZ_CHECK(n == all && s.inside == once.inside && s.escaped == once.escaped);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data + 1;
    if (size < 2)
        return 0;
    size--;
    look(json_part(text, size), 0);
    count_brackets(text, size, (size_t)data[0] + 1);
    json_t *value = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    if (value)
        compare(json_part(text, size), value);
    json_decref(value);
    return 0;
}
