/* Lines of other tools in a script, and their values: whatever they are, each becomes words for submit or an error. */
#include <stdlib.h>
#include <string.h>

#include "cli/client/directives.h"
#include "cli/foreign/flux.h"
#include "cli/foreign/slurm_values.h"
#include "cli/shim/shim.h"
#include "fuzz.h"

static void read_values(const char *text)
{
    struct strbuf out = {0};
    struct slurm_gpus gpus;
    struct shim_ids ids = {0};
    int64_t n;
    double seconds;
    bool flag;

    if (slurm_seconds(text, &n))
        FUZZ_CHECK(n > 0 || n == -1);
    if (slurm_bytes(text, &n))
        FUZZ_CHECK(n >= 0);
    if (slurm_gpus_read(text, true, &gpus) || slurm_gpus_read(text, false, &gpus))
        FUZZ_CHECK(gpus.n >= 0);
    if (flux_seconds(text, &seconds) == 0)
        FUZZ_CHECK(seconds > 0 || seconds == -1);
    if (shim_ids_add(&ids, text) == 0)
        FUZZ_CHECK(ids.n > 0);
    shim_ids_clear(&ids);
    if (shim_states(text, &out, &flag))
        FUZZ_CHECK(!flag || out.len == 0);
    slurm_array(text, &out);
    slurm_signal(text, &n);
    slurm_begin(text, &out);
    slurm_constraint(text, text, text, &out);
    slurm_file(text, true, false, "host", &out, &flag);
    strbuf_clear(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct script s = {.text = malloc(size + 1), .length = size};
    struct directives d;
    berth_error_t err;

    if (!s.text)
        return 0;
    memcpy(s.text, data, size);
    s.text[size] = '\0';
    read_values(s.text);
    if (script_options(&s, "x", &err) == 0) {
        /* the same words as a command line */
        if (directives_read(&d, &s, s.words + 1, s.n - 1, "x", &err) == 0)
            directives_clear(&d);
        if (directives_read(&d, &s, NULL, 0, "x", &err) == 0) {
            for (size_t i = 1; i < d.all.n; i++)
                FUZZ_CHECK(strncmp(d.all.words[i], "--", 2) == 0);
            directives_clear(&d);
        }
    }
    script_clear(&s);
    return 0;
}
