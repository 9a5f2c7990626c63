/* Signals as people write them. */
#include <ctype.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "server/api/job_read.h"

bool signal_read(const json_t *value, int *number)
{
    static const struct {
        const char *name;
        int number;
    } signals[] = {{"HUP", SIGHUP},   {"INT", SIGINT},     {"QUIT", SIGQUIT}, {"ABRT", SIGABRT},
                   {"KILL", SIGKILL}, {"USR1", SIGUSR1},   {"USR2", SIGUSR2}, {"ALRM", SIGALRM},
                   {"TERM", SIGTERM}, {"CONT", SIGCONT},   {"STOP", SIGSTOP}, {"TSTP", SIGTSTP},
                   {"TTIN", SIGTTIN}, {"TTOU", SIGTTOU},   {"URG", SIGURG},   {"XCPU", SIGXCPU},
                   {"XFSZ", SIGXFSZ}, {"WINCH", SIGWINCH}, {"IO", SIGIO}};
    const char *text = json_string_value(value);
    if (!text) {
        *number = (int)json_integer_value(value);
        return json_is_integer(value) && json_integer_value(value) >= 1 &&
               json_integer_value(value) <= 64;
    }
    if (isdigit((unsigned char)*text)) {
        char *end;
        long n = strtol(text, &end, 10);
        *number = (int)n;
        return n >= 1 && n <= 64 && !*end;
    }
    if (strncasecmp(text, "SIG", 3) == 0)
        text += 3;
    for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
        if (strcasecmp(text, signals[i].name) == 0) {
            *number = signals[i].number;
            return true;
        }
    }
    return false;
}
