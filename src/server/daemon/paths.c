#include "server/daemon/paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/errtext.h"

/* Relative to this program: in a build, in a directory of tests, installed. */
static const char *const folders[] = {"", "../", "../../", "../bin/", "../libexec/berth/"};

static int path_too_long(berth_error_t *err, const char *what)
{
    return errtext_set(err, ENAMETOOLONG, "%s is too long, expected at most %d bytes", what,
                       PATH_MAX - 1);
}

static const char *env_value(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static int join_path(char path[PATH_MAX], const char *folder, const char *name, berth_error_t *err)
{
    int n = snprintf(path, PATH_MAX, "%s%s", folder, name);
    return n < 0 || n >= PATH_MAX ? path_too_long(err, "the path of the directory") : 0;
}

int paths_directory(char path[PATH_MAX], berth_error_t *err)
{
    const char *directory = env_value("BERTH_DIR");
    const char *state = env_value("XDG_STATE_HOME");
    const char *home = env_value("HOME");

    if (directory) {
        if (directory[0] != '/')
            return errtext_set(err, EINVAL, "BERTH_DIR is '%s', expected an absolute path",
                               directory);
        return join_path(path, directory, "", err);
    }
    if (geteuid() == 0)
        return join_path(path, "/var/lib/berth", "", err);
    if (state && state[0] == '/')
        return join_path(path, state, "/berth", err);
    if (home && home[0] == '/')
        return join_path(path, home, "/.local/state/berth", err);
    return errtext_set(err, EINVAL, "HOME is not set, expected it or BERTH_DIR");
}

bool paths_config(char path[PATH_MAX])
{
    const char *config = env_value("XDG_CONFIG_HOME");
    const char *home = env_value("HOME");
    if (env_value("BERTH_DIR"))
        return false;
    if (geteuid() == 0)
        return join_path(path, "/etc/berth", "/berth.yaml", NULL) == 0;
    if (config && config[0] == '/')
        return join_path(path, config, "/berth/berth.yaml", NULL) == 0;
    return home && home[0] == '/' && join_path(path, home, "/.config/berth/berth.yaml", NULL) == 0;
}

int paths_socket(const char *directory, char path[PATH_MAX], berth_error_t *err)
{
    const char *socket = env_value("BERTH_SOCKET");

    if (socket && socket[0] != '/')
        return errtext_set(err, EINVAL, "BERTH_SOCKET is '%s', expected an absolute path", socket);
    if (join_path(path, socket ? socket : directory, socket ? "" : "/berth.sock", err) < 0)
        return -1;
    if (strlen(path) >= sizeof(((struct sockaddr_un *)NULL)->sun_path))
        return errtext_set(err, EINVAL,
                           "the socket's path is longer than %zu bytes, expected a shorter one in "
                           "BERTH_SOCKET: %s",
                           sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1, path);
    return 0;
}

int paths_program(const char *name, char path[PATH_MAX], berth_error_t *err)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

    if (length <= 0)
        return errtext_set(err, errno, "/proc/self/exe: %s", strerror(errno));
    self[length] = '\0';
    char *slash = strrchr(self, '/');
    if (slash)
        slash[1] = '\0';
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        int n = snprintf(path, PATH_MAX, "%s%s%s", self, folders[i], name);
        if (n > 0 && n < PATH_MAX && access(path, X_OK) == 0)
            return 0;
    }
    return errtext_set(err, ENOENT, "%s is neither beside this program nor installed with it",
                       name);
}
