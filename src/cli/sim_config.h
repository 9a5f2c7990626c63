/* The configuration that `berth sim` is given. */
#ifndef CLI_SIM_CONFIG_H
#define CLI_SIM_CONFIG_H

#include "config/config.h"

/* Read a file; `second`: ticks in one. NULL with errno and a text that names the file. */
struct config *sim_config_read(const char *path, int64_t second, berth_error_t *err);

#endif
