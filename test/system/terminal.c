/* A program in a terminal, and somebody who sits before it.
 *
 *     terminal COMMAND [ARG]...
 *
 * Lines of standard input say what to do; what the terminal showed goes to standard output. "\r", "\n", "\c" (Ctrl-C)
 * and "\d" (Ctrl-D) stand for keys.
 *
 *     await TEXT      until the terminal has shown this since the last await
 *     type KEYS
 *     size ROWS COLS  of the window
 *     run COMMAND     in a shell, beside it
 *
 * Status: that of the command, or 100 if it is not there or what is awaited does not come.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MS 60000

static char shown[1 << 20];
static size_t n_shown, seen;
static int master;

/* Take what the terminal shows, for so long at most. Returns 0 when there will be no more. */
static int take(int ms)
{
    struct pollfd at = {.fd = master, .events = POLLIN};
    if (poll(&at, 1, ms) <= 0)
        return 1;
    ssize_t n = read(master, shown + n_shown, sizeof(shown) - 1 - n_shown);
    if (n <= 0)
        return 0;
    n_shown += (size_t)n;
    shown[n_shown] = '\0';
    return 1;
}

static void finish(int status)
{
    fwrite(shown, 1, n_shown, stdout);
    exit(status);
}

static void await(const char *text)
{
    for (int ms = 0; ms < PATIENCE_MS; ms += 10) {
        const char *found = strstr(shown + seen, text);
        if (found) {
            seen = (size_t)(found - shown) + strlen(text);
            return;
        }
        if (!take(10))
            break;
    }
    fprintf(stderr, "terminal: it does not show: %s\n", text);
    finish(100);
}

static void type(const char *keys)
{
    static const char from[] = "rncd", to[] = "\r\n\003\004";
    for (; *keys; keys++) {
        const char *key = keys[0] == '\\' && keys[1] ? strchr(from, keys[1]) : NULL;
        char c = key ? to[key - from] : *keys;
        keys += key != NULL;
        if (write(master, &c, 1) != 1)
            finish(100);
    }
}

static void obey(char *line)
{
    unsigned rows, columns;
    line[strcspn(line, "\n")] = '\0';
    if (strncmp(line, "await ", 6) == 0)
        await(line + 6);
    else if (strncmp(line, "type ", 5) == 0)
        type(line + 5);
    else if (sscanf(line, "size %u %u", &rows, &columns) == 2) {
        struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns};
        ioctl(master, TIOCSWINSZ, &size);
    } else if (strncmp(line, "run ", 4) == 0 && system(line + 4) != 0) {
        fprintf(stderr, "terminal: failed: %s\n", line + 4);
        finish(100);
    }
}

int main(int argc, char **argv)
{
    const struct winsize size = {.ws_row = 30, .ws_col = 100};
    char line[1000];
    int status;
    if (argc < 2)
        return 100;
    master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
        return 100;
    ioctl(master, TIOCSWINSZ, &size);
    pid_t pid = fork();
    if (pid == 0) {
        setsid();
        int fd = open(ptsname(master), O_RDWR);
        if (fd < 0 || dup2(fd, 0) < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
            _exit(100);
        if (fd > 2)
            close(fd);
        execvp(argv[1], argv + 1);
        _exit(100);
    }
    while (fgets(line, sizeof(line), stdin))
        obey(line);
    while (take(PATIENCE_MS))
        ;
    if (waitpid(pid, &status, 0) != pid)
        finish(100);
    finish(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}
