#include "engine/cluster/proof.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/steady.h"

#define BEGINS ".berth-" /* the name of each */

static void remove_proof(const char *folder, const char *name)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof(path), "%s/%s", folder, name);
    if (n > 0 && n < (int)sizeof(path))
        unlink(path);
}

/* What a server before has left. A line that is not a proof's is passed over. */
static void remove_left(struct proofs *p)
{
    char *line = NULL;
    size_t room = 0;
    FILE *f = p->list ? fopen(p->list, "re") : NULL;
    p->has_read = true;
    while (f && getline(&line, &room, f) > 0) {
        line[strcspn(line, "\n")] = '\0';
        const char *slash = strrchr(line, '/');
        if (line[0] == '/' && slash && strncmp(slash + 1, BEGINS, sizeof(BEGINS) - 1) == 0)
            unlink(line);
    }
    free(line);
    if (f)
        fclose(f);
}

static void write_list(const struct proofs *p)
{
    FILE *f = p->list ? fopen(p->list, "we") : NULL;
    for (size_t i = 0; f && i < p->n; i++)
        fprintf(f, "%s/%s\n", p->v[i].folder, p->v[i].name);
    if (f)
        fclose(f);
}

static void forget_proof(struct proofs *p, size_t i)
{
    remove_proof(p->v[i].folder, p->v[i].name);
    free(p->v[i].folder);
    memmove(p->v + i, p->v + i + 1, (p->n - i - 1) * sizeof(*p->v));
    p->n--;
}

/* A file that nobody else has, in a folder. -1: nothing can be made there. */
static int make_file(struct proof *proof)
{
    uint8_t chance[8];
    struct stat st;
    int folder = open(proof->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0 || getrandom(chance, sizeof(chance), 0) != (ssize_t)sizeof(chance)) {
        if (folder >= 0)
            close(folder);
        return -1;
    }
    int n = snprintf(proof->name, sizeof(proof->name), BEGINS);
    for (size_t i = 0; i < sizeof(chance); i++)
        n += snprintf(proof->name + n, sizeof(proof->name) - (size_t)n, "%02x", chance[i]);
    int fd = openat(folder, proof->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    close(folder);
    int rc = fd < 0 ? -1 : fstat(fd, &st);
    if (fd >= 0)
        close(fd);
    if (rc == 0)
        snprintf(proof->text, sizeof(proof->text), "%s:%" PRIuMAX, proof->name,
                 (uintmax_t)st.st_ino);
    return rc;
}

static const char *proof_of_folder(struct proofs *p, const char *folder, size_t length)
{
    struct proof found = {0};
    size_t i = 0;
    bool is_new;
    while (i < p->n && (strncmp(p->v[i].folder, folder, length) != 0 || p->v[i].folder[length]))
        i++;
    is_new = i == p->n;
    if (!is_new) {
        found = p->v[i];
        memmove(p->v + 1, p->v, i * sizeof(*p->v));
    } else {
        found.folder = strndup(folder, length);
        if (!p->has_read)
            remove_left(p);
        if (!found.folder || make_file(&found) < 0) {
            free(found.folder);
            return NULL;
        }
        if (p->n == PROOFS_MOST)
            forget_proof(p, p->n - 1);
        memmove(p->v + 1, p->v, p->n * sizeof(*p->v));
        p->n++;
    }
    found.used = steady_ms();
    p->v[0] = found;
    if (is_new)
        write_list(p);
    return p->v[0].text;
}

static const char *proof_of_file(struct proofs *p, const struct engine_run *run, const char *path)
{
    char whole[PATH_MAX];
    bool is_whole = path[0] == '/';
    int n = snprintf(whole, sizeof(whole), "%s%s%s", is_whole ? "" : run->directory,
                     is_whole ? "" : "/", path);
    if (n <= 0 || n >= (int)sizeof(whole) || strncmp(whole, "/dev/", 5) == 0)
        return NULL;
    const char *slash = strrchr(whole, '/');
    return proof_of_folder(p, whole, slash > whole ? (size_t)(slash - whole) : 1);
}

void proofs_give(struct proofs *p, struct engine_run *run)
{
    bool same = !run->error || strcmp(run->error, run->output) == 0;
    run->output_proof = run->error_proof = NULL;
    if (run->as_user && run->uid != geteuid())
        return; /* the server does not write as another user */
    run->output_proof = proof_of_file(p, run, run->output);
    if (!run->output_proof || same)
        return;
    snprintf(p->first, sizeof(p->first), "%s", run->output_proof);
    run->output_proof = p->first;
    run->error_proof = proof_of_file(p, run, run->error);
}

bool proofs_expire(struct proofs *p)
{
    bool any = false;
    while (p->n > 0 && steady_ms() - p->v[p->n - 1].used >= PROOF_KEPT * 1000) {
        forget_proof(p, p->n - 1);
        any = true;
    }
    if (any)
        write_list(p);
    return p->n > 0;
}

void proofs_clear(struct proofs *p)
{
    bool any = p->n > 0;
    while (p->n > 0)
        forget_proof(p, p->n - 1);
    if (any)
        write_list(p);
    free(p->list);
    p->list = NULL;
}
