#include "cli/foreign/options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/errtext.h"

static const struct foreign_option *find_name(const struct foreign_option *table, size_t n,
                                              const char *name, size_t length)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(table[i].name) == length && memcmp(table[i].name, name, length) == 0)
            return &table[i];
    return NULL;
}

static const struct foreign_option *find_letter(const struct foreign_option *table, size_t n,
                                                char letter)
{
    for (size_t i = 0; i < n; i++)
        if (table[i].letter && table[i].letter == letter)
            return &table[i];
    return NULL;
}

/* The value that an option needs is the next word. */
static int next_word(struct foreign_words *w, const char *shown, const char **value,
                     berth_error_t *err)
{
    if (w->at == w->n)
        return errtext_set(err, EINVAL, "%s'%s' takes a value", w->where, shown);
    *value = w->v[w->at++];
    return 1;
}

static int next_long(struct foreign_words *w, const struct foreign_option *table, size_t n,
                     const struct foreign_option **option, const char **value, berth_error_t *err)
{
    const char *word = w->v[w->at++];
    size_t length = strcspn(word + 2, "=");
    const char *given = word[2 + length] ? word + 2 + length + 1 : NULL;

    *option = find_name(table, n, word + 2, length);
    *value = given;
    if (!*option)
        return errtext_set(err, EINVAL, "%s%s has no option '%.*s'", w->where, w->tool,
                           (int)length + 2, word);
    if (given && (*option)->value == FOREIGN_NONE)
        return errtext_set(err, EINVAL, "%s'%.*s' takes no value", w->where, (int)length + 2, word);
    if (!given && (*option)->value == FOREIGN_NEEDED)
        return next_word(w, word, value, err);
    return 1;
}

static int next_letter(struct foreign_words *w, const struct foreign_option *table, size_t n,
                       const struct foreign_option **option, const char **value, berth_error_t *err)
{
    const char shown[] = {'-', *w->cluster, '\0'};
    const char *rest = w->cluster + 1;

    *value = NULL;
    *option = find_letter(table, n, *w->cluster);
    w->cluster = *rest ? rest : NULL;
    if (!*option)
        return errtext_set(err, EINVAL, "%s%s has no option '%s'", w->where, w->tool, shown);
    if ((*option)->value == FOREIGN_NONE)
        return 1;
    w->cluster = NULL;
    if (*rest) {
        *value = rest;
        return 1;
    }
    return (*option)->value == FOREIGN_NEEDED ? next_word(w, shown, value, err) : 1;
}

int foreign_next(struct foreign_words *w, const struct foreign_option *table, size_t n,
                 const struct foreign_option **option, const char **value, berth_error_t *err)
{
    if (!w->cluster) {
        const char *word = w->at < w->n ? w->v[w->at] : "";
        if (word[0] != '-' || strcmp(word, "-") == 0)
            return 0;
        if (strcmp(word, "--") == 0) {
            w->at++;
            return 0;
        }
        if (word[1] == '-')
            return next_long(w, table, n, option, value, err);
        w->cluster = word + 1;
        w->at++;
    }
    return next_letter(w, table, n, option, value, err);
}

static int put_word(struct foreign *f, char *word)
{
    if (!word || array_grow((void **)&f->words, &f->cap, f->n + 2, sizeof(*f->words)) < 0) {
        free(word);
        errno = ENOMEM;
        return -1;
    }
    f->words[f->n++] = word;
    f->words[f->n] = NULL;
    return 0;
}

int foreign_put(struct foreign *f, const char *name, const char *value)
{
    char *word = NULL;
    if (f->n == 0 && put_word(f, strdup("")) < 0)
        return -1;
    if (asprintf(&word, "--%s%s%s", name, value ? "=" : "", value ? value : "") < 0)
        word = NULL;
    return put_word(f, word);
}

int foreign_put_number(struct foreign *f, const char *name, long long value)
{
    char text[24];
    snprintf(text, sizeof(text), "%lld", value);
    return foreign_put(f, name, text);
}

void foreign_warn(struct foreign *f, const char *where, const char *format, ...)
{
    char text[300];
    berth_error_t line;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    errtext_set(&line, 0, "%s%s", where, text); /* a clean line, whatever is quoted */
    strbuf_puts(&f->warnings, line.text);
    strbuf_putc(&f->warnings, '\n');
}

void foreign_clear(struct foreign *f)
{
    int saved = errno;
    for (size_t i = 0; i < f->n; i++)
        free(f->words[i]);
    free(f->words);
    strbuf_clear(&f->warnings);
    *f = (struct foreign){0};
    errno = saved;
}
