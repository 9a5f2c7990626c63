#include "config/signals.h"

#include <signal.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *name;
    int number;
} signals[] = {{"HUP", SIGHUP},   {"INT", SIGINT},     {"QUIT", SIGQUIT}, {"ABRT", SIGABRT},
               {"KILL", SIGKILL}, {"USR1", SIGUSR1},   {"USR2", SIGUSR2}, {"ALRM", SIGALRM},
               {"TERM", SIGTERM}, {"CONT", SIGCONT},   {"STOP", SIGSTOP}, {"TSTP", SIGTSTP},
               {"TTIN", SIGTTIN}, {"TTOU", SIGTTOU},   {"URG", SIGURG},   {"XCPU", SIGXCPU},
               {"XFSZ", SIGXFSZ}, {"WINCH", SIGWINCH}, {"IO", SIGIO},     {"SEGV", SIGSEGV},
               {"BUS", SIGBUS},   {"ILL", SIGILL},     {"FPE", SIGFPE},   {"PIPE", SIGPIPE}};

static bool read_signal_number(const char *text, size_t length, int *number)
{
    int n = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        n = 10 * n + (text[i] - '0');
        if (n > SIGNALS_MAX)
            return false;
    }
    *number = n;
    return n >= 1;
}

bool signals_read(const char *text, size_t length, int *number)
{
    if (length > 0 && *text >= '0' && *text <= '9')
        return read_signal_number(text, length, number);
    if (length > 3 && strncasecmp(text, "SIG", 3) == 0) {
        text += 3;
        length -= 3;
    }
    for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
        if (strlen(signals[i].name) == length && strncasecmp(text, signals[i].name, length) == 0) {
            *number = signals[i].number;
            return true;
        }
    return false;
}
