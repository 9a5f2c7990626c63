/* Paths that server and client agree on: the directory, the socket, the programs. */
#ifndef SERVER_PATHS_H
#define SERVER_PATHS_H

#include <limits.h>
#include <stdbool.h>

#include "berth/error.h"

/* $BERTH_DIR; else /var/lib/berth for root, $XDG_STATE_HOME/berth or ~/.local/state/berth for others.
 * Absolute; EINVAL if it is not. It need not exist.
 */
int paths_directory(char path[PATH_MAX], berth_error_t *err);

/* Where the configuration may be if that directory has none: /etc/berth/berth.yaml for root, $XDG_CONFIG_HOME/berth/berth.yaml
 * or ~/.config/berth/berth.yaml for others. False: nowhere, as BERTH_DIR is set or the path would be too long.
 */
bool paths_config(char path[PATH_MAX]);

/* $BERTH_SOCKET, else berth.sock in that directory. EINVAL where it is longer than the address of a
 * socket can be.
 */
int paths_socket(const char *directory, char path[PATH_MAX], berth_error_t *err);

/* A program built or installed with this one: beside it, in the build directory, or in the directories of
 * an installation. ENOENT.
 */
int paths_program(const char *name, char path[PATH_MAX], berth_error_t *err);

#endif
