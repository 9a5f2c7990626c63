#include "cli/shim/format.h"

#include <stdlib.h>
#include <string.h>

const char *format_next(const char *at, struct format_cell *cell, struct strbuf *out)
{
    for (; *at; at++) {
        if (*at != '%' || !at[1]) {
            strbuf_putc(out, *at);
            continue;
        }
        *cell = (struct format_cell){.width = 0};
        for (at++; *at == '.' || *at == '#'; at++) {
            cell->right = cell->right || *at == '.';
            cell->fits = cell->fits || *at == '#';
        }
        cell->width = strtoul(at, NULL, 10);
        at += strspn(at, "0123456789");
        cell->letter = *at;
        return *at ? at + 1 : at;
    }
    return NULL;
}

bool format_is_right(const char *text)
{
    struct strbuf between = {0};
    struct format_cell cell;
    bool right = true;
    for (const char *at = text; right && (at = format_next(at, &cell, &between)) != NULL;)
        right = cell.width <= FORMAT_WIDTH_MAX;
    strbuf_clear(&between);
    return right;
}

/* Of a column that has no width, and of one that has a colon alone it is 0: any. */
#define USUAL_WIDTH 20

const char *format_next_name(const char *at, struct format_named *named)
{
    if (!*at)
        return NULL;
    size_t length = strcspn(at, ","), name = strcspn(at, ",:");
    *named = (struct format_named){.name = at, .name_length = name, .cell.width = USUAL_WIDTH};
    if (name < length) {
        const char *form = at + name + 1, *end = at + length;
        named->cell.right = *form == '.';
        form += named->cell.right;
        named->cell.width = strtoul(form, NULL, 10);
        named->suffix = form + strspn(form, "0123456789");
        named->suffix_length = (size_t)(end - named->suffix);
    }
    return at + length + (at[length] == ',');
}

void format_put(const struct format_cell *cell, struct strbuf *text, struct strbuf *out)
{
    size_t width = cell->width, n = width && text->len > width ? width : text->len;
    strbuf_fill(out, ' ', cell->right && width > n ? width - n : 0);
    strbuf_put(out, text->data, n);
    strbuf_fill(out, ' ', !cell->right && width > n ? width - n : 0);
}
