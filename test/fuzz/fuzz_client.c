/* What the client reads: lists in pieces, members of objects, options in scripts, jobs, quantities and
 * instants. The first byte says how long the pieces are.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/client/objects.h"
#include "cli/client/script.h"
#include "cli/client/when.h"
#include "config/ids.h"
#include "config/quantity.h"
#include "fuzz.h"

/* Each object of a list begins and ends as one. */
static int look(void *context, const char *text, size_t length)
{
    struct strbuf buffer = {0};
    struct fields f;
    int64_t number;

    (void)context;
    if (length < 2 || !strchr("{[", text[0]) || !strchr("}]", text[length - 1]))
        abort();
    if (fields_find(&f, text, length)) {
        fields_text(&f, "name", &buffer);
        fields_whole(&f, "id", &number);
        fields_number(&f, "submit");
        for (size_t i = 0; i < f.n; i++)
            if (f.v[i].value.at < text || f.v[i].value.at + f.v[i].value.length > text + length)
                abort();
    }
    strbuf_clear(&buffer);
    return 0;
}

static void read_list(const char *text, size_t size, size_t piece)
{
    struct records r = {.visit = look};

    for (size_t at = 0; at < size; at += piece)
        if (records_take(&r, text + at, size - at < piece ? size - at : piece) < 0)
            break;
    records_clear(&r);
}

static void read_words(const char *text, size_t size)
{
    char *word = strndup(text, size < 200 ? size : 200);
    struct ids ids;
    int64_t number;
    double at;

    if (!word)
        return;
    if (ids_read(&ids, &word, 1, NULL) == 0)
        ids_clear(&ids);
    if (quantity_duration(word, &number) == 0 && number < 0)
        abort();
    if (quantity_size(word, &number) == 0 && number < 0)
        abort();
    when_read(word, 1795305600, &at);
    free(word);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data + 1;
    struct script s = {0};

    if (size < 2)
        return 0;
    read_list(text, size - 1, (size_t)data[0] + 1);
    read_words(text, size - 1);
    s.text = malloc(size);
    if (!s.text)
        return 0;
    memcpy(s.text, text, size - 1);
    s.length = size - 1;
    script_options(&s, "x", NULL);
    script_clear(&s);
    return 0;
}
