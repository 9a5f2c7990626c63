#include "cli/sim_config.h"

#include <errno.h>
#include <string.h>

#include "base/errtext.h"
#include "config/file_text.h"

struct config *sim_config_read(const char *path, int64_t second, berth_error_t *err)
{
    struct text text = {0};
    struct config *config = NULL;
    if (text_read(&text, path, CONFIG_TEXT_MAX) < 0)
        errtext_set(err, errno, "%s: %s", path, strerror(errno));
    else
        config = config_read(path, text.bytes, text.length, second, err);
    int saved = errno;
    text_clear(&text);
    errno = saved;
    return config;
}
