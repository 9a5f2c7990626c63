/* berth-limits: which limits PAM gives a user.
 *
 * usage: berth-limits UID
 *
 * Opens a session for the user as the service `berth`, writes the limits that it then has (struct limits)
 * to standard output, and closes the session. Or it writes a line that says why it can't, and exits with
 * 1. The service is /etc/pam.d/berth if that is there, else pam.d/berth beside this program.
 */
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <security/pam_appl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/local/limits.h"

#define SERVICE "berth"
#define SYSTEM  "/etc/pam.d/" SERVICE

__attribute__((format(printf, 1, 2))) static int fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
    return EXIT_FAILURE;
}

/* There is no one to answer a question. */
static int converse(int n, const struct pam_message **messages, struct pam_response **responses,
                    void *context)
{
    (void)n;
    (void)messages;
    (void)responses;
    (void)context;
    return PAM_CONV_ERR;
}

/* The folder pam.d beside this program, in which the service must be. */
static int find_folder(char folder[PATH_MAX])
{
    char path[PATH_MAX + 32];
    ssize_t n = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    if (n <= 0)
        return -1;
    folder[n] = '\0';
    char *slash = strrchr(folder, '/');
    if (!slash || (size_t)(slash - folder) + sizeof("/pam.d") > PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(slash, "/pam.d", sizeof("/pam.d"));
    snprintf(path, sizeof(path), "%s/" SERVICE, folder);
    return access(path, R_OK);
}

/* Limits as PAM sets them in this process. */
static int take_limits(pam_handle_t *pam)
{
    struct limits limits;
    const void *user = NULL;
    pam_get_item(pam, PAM_USER, &user);
    int rc = pam_acct_mgmt(pam, PAM_SILENT);
    if (rc != PAM_SUCCESS)
        return fail("the account %s may not be used: %s", (const char *)user,
                    pam_strerror(pam, rc));
    rc = pam_open_session(pam, PAM_SILENT);
    if (rc != PAM_SUCCESS)
        return fail("no session for %s: %s", (const char *)user, pam_strerror(pam, rc));
    int failed = limits_get(&limits);
    int errnum = errno;
    pam_close_session(pam, PAM_SILENT);
    if (failed)
        return fail("%s", strerror(errnum));
    return write(STDOUT_FILENO, &limits, sizeof(limits)) == sizeof(limits) ? 0 : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    const struct pam_conv conversation = {.conv = converse};
    char folder[PATH_MAX];
    pam_handle_t *pam = NULL;
    struct limits limits;
    if (argc != 2 || argv[1][0] < '0' || argv[1][0] > '9')
        return fail("usage: berth-limits UID");
    errno = 0;
    const struct passwd *user = getpwuid((uid_t)strtoul(argv[1], NULL, 10));
    if (!user && errno != 0 && errno != ENOENT && errno != ESRCH)
        return fail("user %s: %s", argv[1], strerror(errno));
    if (!user && limits_get(&limits) == 0) /* an unknown user has the limits of this process */
        return write(STDOUT_FILENO, &limits, sizeof(limits)) == sizeof(limits) ? 0 : EXIT_FAILURE;
    bool system = access(SYSTEM, F_OK) == 0;
    if (!system && find_folder(folder))
        return fail("neither " SYSTEM " nor %s/" SERVICE " can be read", folder);
    int rc = system ? pam_start(SERVICE, user->pw_name, &conversation, &pam)
                    : pam_start_confdir(SERVICE, user->pw_name, &conversation, folder, &pam);
    if (rc != PAM_SUCCESS)
        return fail("PAM does not start: %s", pam_strerror(pam, rc));
    int status = take_limits(pam);
    pam_end(pam, PAM_SUCCESS);
    return status;
}
