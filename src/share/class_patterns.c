#include "share/class_patterns.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <errno.h>
#include <pcre2.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/errtext.h"
#include "berth/classes.h"

enum {
    STEPS =
        10000,    /* of one match from one place in the text; patterns of names need some hundred */
    MEMORY = 256, /* KiB of one match */
    BRACKETS = 50,   /* within each other */
    REASON_MAX = 120 /* bytes of PCRE2's reason */
};

struct class_patterns {
    pcre2_general_context *memory;
    pcre2_match_context *limits;
    size_t n;
    pcre2_code *code[];
};

/* Memory is this program's own, so that tests can let it run out. */
static void *get_memory(size_t size, void *context)
{
    (void)context;
    return malloc(size);
}

static void free_memory(void *memory, void *context)
{
    (void)context;
    free(memory);
}

/* A context in which patterns are compiled the same way however the library was built. */
static pcre2_compile_context *compile_context(pcre2_general_context *memory)
{
    pcre2_compile_context *context = pcre2_compile_context_create(memory);
    if (!context)
        return NULL;
    pcre2_set_newline(context, PCRE2_NEWLINE_LF);
    pcre2_set_bsr(context, PCRE2_BSR_UNICODE);
    pcre2_set_max_pattern_length(context, CLASSES_PATTERN_MAX);
    pcre2_set_parens_nest_limit(context, BRACKETS);
    return context;
}

static pcre2_match_context *match_limits(pcre2_general_context *memory)
{
    pcre2_match_context *limits = pcre2_match_context_create(memory);
    if (!limits)
        return NULL;
    pcre2_set_match_limit(limits, STEPS);
    pcre2_set_depth_limit(limits, STEPS);
    pcre2_set_heap_limit(limits, MEMORY);
    return limits;
}

/* The first control character of a pattern, or its end: an error text and a listing show it on one line. */
static size_t control_at(const char *pattern)
{
    size_t at = 0;
    while ((unsigned char)pattern[at] >= ' ' && pattern[at] != 0x7f)
        at++;
    return at;
}

static pcre2_code *compile_one(const char *pattern, size_t index, pcre2_compile_context *context,
                               berth_error_t *err)
{
    size_t length = strlen(pattern), at = control_at(pattern);
    unsigned char reason[REASON_MAX] = "";
    int error;
    if (length == 0 || length > CLASSES_PATTERN_MAX) {
        errtext_set(err, EINVAL, "pattern %zu: expected 1 to %d bytes, found %zu", index + 1,
                    CLASSES_PATTERN_MAX, length);
        return NULL;
    }
    if (at < length) {
        errtext_set(err, EINVAL, "pattern %zu, offset %zu: expected no control character",
                    index + 1, at);
        return NULL;
    }
    const uint32_t options = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C;
    pcre2_code *code = pcre2_compile((PCRE2_SPTR)pattern, length, options, &error, &at, context);
    if (code)
        return code;
    if (error == PCRE2_ERROR_HEAP_FAILED) {
        errtext_no_memory(err);
        return NULL;
    }
    pcre2_get_error_message(error, reason, sizeof(reason));
    errtext_set(err, EINVAL, "pattern %zu, offset %zu: expected a regular expression: %s",
                index + 1, at, (const char *)reason);
    return NULL;
}

struct class_patterns *class_patterns_compile(const char *const *patterns, size_t n,
                                              berth_error_t *err)
{
    struct class_patterns *p = calloc(1, sizeof(*p) + n * sizeof(*p->code));
    pcre2_compile_context *context = NULL;
    if (!p || !(p->memory = pcre2_general_context_create(get_memory, free_memory, NULL)) ||
        !(p->limits = match_limits(p->memory)) || !(context = compile_context(p->memory))) {
        class_patterns_destroy(p);
        errtext_no_memory(err);
        return NULL;
    }
    for (; p->n < n; p->n++) {
        p->code[p->n] = compile_one(patterns[p->n], p->n, context, err);
        if (!p->code[p->n])
            break;
    }
    int error = errno;
    pcre2_compile_context_free(context);
    if (p->n == n)
        return p;
    class_patterns_destroy(p);
    errno = error;
    return NULL;
}

void class_patterns_destroy(struct class_patterns *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->n; i++)
        pcre2_code_free(p->code[i]);
    pcre2_match_context_free(p->limits);
    pcre2_general_context_free(p->memory);
    free(p);
}

int class_patterns_find(const struct class_patterns *p, const char *text, size_t length,
                        size_t *found, bool *gave_up)
{
    int outcome = PCRE2_ERROR_NOMATCH;
    size_t i = 0;
    *gave_up = false;
    *found = p->n;
    if (p->n == 0)
        return 0;
    pcre2_match_data *data = pcre2_match_data_create(1, p->memory);
    if (!data) {
        errno = ENOMEM;
        return -1;
    }
    for (; i < p->n; i++) {
        outcome = pcre2_match(p->code[i], (PCRE2_SPTR)text, length, 0, 0, data, p->limits);
        if (outcome >= 0 || outcome == PCRE2_ERROR_NOMEMORY)
            break;
        *gave_up = *gave_up || outcome != PCRE2_ERROR_NOMATCH;
    }
    pcre2_match_data_free(data);
    if (outcome == PCRE2_ERROR_NOMEMORY) {
        errno = ENOMEM;
        return -1;
    }
    *found = i;
    return 0;
}
