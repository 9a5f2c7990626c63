/* The table of formats. */
#include "resource/writers/writer.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

static const struct {
    const char *name;
    writer_f *write;
    int flags;
} formats[] = {
    [WRITE_SIMPLE] = {"simple", writer_simple, 0},
    [WRITE_PRETTY_SIMPLE] = {"pretty_simple", writer_simple, WRITER_PRETTY},
    [WRITE_RLITE] = {"rlite", writer_rlite, 0},
    [WRITE_RV1] = {"rv1", writer_rv1, WRITER_SCHEDULING},
    [WRITE_RV1_NOSCHED] = {"rv1_nosched", writer_rv1, 0},
    [WRITE_RV1_SHORTHAND] = {"rv1_shorthand", writer_rv1, WRITER_SCHEDULING | WRITER_SHORTHAND},
    [WRITE_JGF] = {"jgf", writer_jgf, 0},
    [WRITE_JGF_SHORTHAND] = {"jgf_shorthand", writer_jgf, WRITER_SHORTHAND},
};

#define FORMATS (sizeof(formats) / sizeof(formats[0]))

int write_format_parse(const char *name)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (strcmp(name, formats[i].name) == 0)
            return (int)i;
    return -1;
}

int emission_write(const struct emission *e, const struct graph *g, enum write_format format,
                   struct strbuf *out)
{
    assert((size_t)format < FORMATS);
    size_t before = out->len;
    int rc = formats[format].write(e, g, formats[format].flags, out);
    if (out->failed) {
        errno = ENOMEM;
        return -1;
    }
    if (rc < 0)
        out->len = before;
    return rc;
}
