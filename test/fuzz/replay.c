/* Runs a fuzz target over files, so that a corpus is a test without libFuzzer.
 *
 * usage: replay_X (FILE|DIRECTORY)...   a directory stands for the files in it
 */
#include "fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static size_t replayed;

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return -1;
    }
    /* Exactly as large as the input, so that a sanitizer sees a read beyond its end. */
    struct stat st;
    uint8_t *data = NULL;
    size_t size = 0;
    int rc = fstat(fileno(file), &st);
    if (rc == 0) {
        size = (size_t)st.st_size;
        data = malloc(size ? size : 1);
        rc = data && fread(data, 1, size, file) == size ? 0 : -1;
    }
    fclose(file);
    if (rc == 0) {
        LLVMFuzzerTestOneInput(data, size);
        replayed++;
    } else {
        fprintf(stderr, "%s: cannot be read\n", path);
    }
    free(data);
    return rc;
}

static int replay_directory(const char *path, DIR *dir)
{
    int rc = 0;
    for (struct dirent *entry; rc == 0 && (entry = readdir(dir));) {
        if (entry->d_name[0] == '.')
            continue;
        char *name;
        if (asprintf(&name, "%s/%s", path, entry->d_name) < 0)
            return -1;
        rc = replay_file(name);
        free(name);
    }
    return rc;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        DIR *dir = opendir(argv[i]);
        int rc = dir ? replay_directory(argv[i], dir) : replay_file(argv[i]);
        if (dir)
            closedir(dir);
        if (rc < 0)
            return 1;
    }
    printf("%zu inputs replayed\n", replayed);
    return replayed > 0 ? 0 : 1;
}
