#include "cli/client/bulk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/errtext.h"
#include "base/strbuf.h"

#define BULK_MAX ((size_t)64 << 20) /* what a server takes */
#define BLOCK    ((size_t)1 << 20)

static int read_file(const char *path, struct strbuf *text, berth_error_t *err)
{
    bool standard = strcmp(path, "-") == 0;
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = 1;

    if (fd < 0)
        return errtext_set(err, errno, "%s: %s", path, strerror(errno));
    while (n > 0 && text->len <= BULK_MAX && strbuf_room(text, BLOCK)) {
        n = read(fd, text->data + text->len, BLOCK);
        if (n < 0 && errno == EINTR)
            n = 1;
        else if (n > 0)
            text->len += (size_t)n;
    }
    int saved = errno;
    if (!standard)
        close(fd);
    if (text->failed)
        return errtext_set(err, ENOMEM, "out of memory");
    if (n < 0)
        return errtext_set(err, saved, "%s: %s", path, strerror(saved));
    if (text->len > BULK_MAX)
        return errtext_set(err, EFBIG, "%s is too large, expected at most %zu bytes", path,
                           BULK_MAX);
    return 0;
}

int bulk_submit(struct talk *s, const char *path, berth_error_t *err)
{
    struct strbuf text = {0};
    json_t *answer = NULL;
    const json_t *ids, *id;
    size_t i;
    int rc = read_file(path, &text, err);

    if (rc == 0)
        rc = talk_ask_text(s, "POST", "/v1/jobs", text.data ? text.data : "", text.len, &answer,
                           err);
    if (rc == 0) {
        ids = json_object_get(answer, "ids");
        json_array_foreach(ids, i, id) printf("%" JSON_INTEGER_FORMAT "\n", json_integer_value(id));
        if (!ids)
            printf("%" JSON_INTEGER_FORMAT "\n", json_integer_value(json_object_get(answer, "id")));
    }
    int saved = errno;
    json_decref(answer);
    strbuf_clear(&text);
    errno = saved;
    return rc;
}
