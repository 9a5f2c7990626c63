/* berthd: runs jobs on this machine. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/errtext.h"
#include "config/config.h"
#include "config/file_text.h"
#include "server/daemon/daemon.h"
#include "server/daemon/loop.h"
#include "server/daemon/paths.h"
#include "server/daemon/platform.h"
#include "server/server.h"

static const char help[] =
    "usage: berthd [--foreground] [--config FILE]\n"
    "Run batch jobs on this machine, for who starts it or, started by root, for all\n"
    "users. It goes into the background once it is ready; berth(1) talks to it.\n"
    "      --config FILE  queues, limits and machine, as berth-config(5) has them;\n"
    "                     without it $BERTH_DIR/berth.yaml if it is there, else one queue\n"
    "                     and this machine\n"
    "      --foreground   stay, and log to standard error as well\n"
    "  -h, --help         print this\n"
    "  -V, --version      print the version\n"
    "Its directory is $BERTH_DIR: /var/lib/berth for root, else $XDG_STATE_HOME/berth or\n"
    "~/.local/state/berth. It listens at $BERTH_SOCKET, or berth.sock in that directory.\n"
    "SIGTERM stops it, and running jobs go on; SIGHUP has it read FILE again.\n"
    "Exit status: 0 started (with --foreground: stopped), 1 failed, 2 wrong command line.\n"
    "Example: berthd --config site.yaml\n"
    "Manual: man berthd\n";

enum { OPTION_CONFIG = 256, OPTION_FOREGROUND };

static int usage(const char *format, const char *what)
{
    berth_error_t err;
    errtext_set(&err, EINVAL, format, what);
    fprintf(stderr, "berthd: %s; see 'berthd --help'\n", err.text);
    return 2;
}

/* -1: continue; else the exit status. */
static int read_options(int argc, char **argv, struct daemon *d, const char **config)
{
    static const struct option options[] = {{"config", required_argument, NULL, OPTION_CONFIG},
                                            {"foreground", no_argument, NULL, OPTION_FOREGROUND},
                                            {"help", no_argument, NULL, 'h'},
                                            {"version", no_argument, NULL, 'V'},
                                            {NULL, 0, NULL, 0}};
    int c;

    opterr = 0;
    while ((c = getopt_long(argc, argv, ":hV", options, NULL)) != -1) {
        switch (c) {
        case OPTION_CONFIG:
            *config = optarg;
            break;
        case OPTION_FOREGROUND:
            d->foreground = true;
            break;
        case 'h':
            fputs(help, stdout);
            return fflush(stdout) == 0 ? 0 : 1;
        case 'V':
            printf("berthd %s\n", BERTH_VERSION);
            return fflush(stdout) == 0 ? 0 : 1;
        case ':':
            return usage("'%s' takes a value", argv[optind - 1]);
        default:
            return usage("unknown option '%s'", argv[optind - 1]);
        }
    }
    return optind < argc ? usage("it takes no argument, got '%s'", argv[optind]) : -1;
}

/* The absolute path of the configuration; NULL if none is given and there is none where it is looked for. */
static int find_config(const struct daemon *d, const char *given, char path[PATH_MAX],
                       const char **config, berth_error_t *err)
{
    *config = NULL;
    if (given) {
        if (!realpath(given, path))
            return errtext_set(err, errno, "%s: %s", given, strerror(errno));
        *config = path;
        return 0;
    }
    int n = snprintf(path, PATH_MAX, "%s/berth.yaml", d->directory);
    bool found = n > 0 && n < PATH_MAX && access(path, F_OK) == 0;
    if (found || (paths_config(path) && access(path, F_OK) == 0))
        *config = path;
    return 0;
}

/* Raise the limit on descriptors, for connections. */
static void raise_limits(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max < 65536 ? files.rlim_max : 65536;
        setrlimit(RLIMIT_NOFILE, &files);
    }
}

#define TICKS 1000000 /* in a second */

static struct engine *open_slurm(const struct daemon *d, const struct config *config,
                                 berth_error_t *err)
{
    char directory[PATH_MAX + 16], helper[PATH_MAX], run[PATH_MAX];
    const struct engine_slurm_options options = {.directory = directory,
                                                 .helper = helper,
                                                 .run = run,
                                                 .partition = config->slurm.partition,
                                                 .options = config->slurm.options};
    snprintf(directory, sizeof(directory), "%s/slurm", d->directory);
    if (paths_program("berth-slurm", helper, err) < 0 || paths_program("berth-run", run, err) < 0)
        return NULL;
    return engine_slurm_open(&options, err);
}

static struct engine *open_local(const struct daemon *d, berth_error_t *err)
{
    char keeper[PATH_MAX], directory[PATH_MAX + 16];
    struct engine_local_options options = {.directory = directory, .keeper = keeper};

    char gate[PATH_MAX], pilots[PATH_MAX + 16];
    const struct engine_many_options many = {.directory = pilots, .gate = gate};
    snprintf(directory, sizeof(directory), "%s/keeper", d->directory);
    snprintf(pilots, sizeof(pilots), "%s/pilots", d->directory);
    struct engine *local =
        paths_program("berth-keeper", keeper, err) < 0 ? NULL : engine_local_open(&options, err);
    if (!local || paths_program("berth-gate", gate, NULL) < 0)
        return local; /* without the gate, one of this machine */
    struct engine *e = engine_many_open(local, &many, err);
    int saved = errno;
    if (!e)
        local->ops->close(local);
    errno = saved;
    return e;
}

/* As the configuration has it, which the server reads itself later. */
static struct engine *open_engine(const struct daemon *d, const char *path, berth_error_t *err)
{
    struct text text = {0};
    struct config *config = NULL;
    struct engine *engine = NULL;
    if (!path)
        return open_local(d, err);
    if (text_read(&text, path, CONFIG_TEXT_MAX) < 0)
        errtext_set(err, errno, "%s: %s", path, strerror(errno));
    else
        config = config_read(path, text.bytes, text.length, TICKS, err);
    if (config)
        engine = config->resources.source == CONFIG_SLURM ? open_slurm(d, config, err)
                                                          : open_local(d, err);
    int saved = errno;
    text_clear(&text);
    config_destroy(config);
    errno = saved;
    return engine;
}

static int serve_users(struct daemon *d, struct platform *platform, const char *config,
                       berth_error_t *err)
{
    struct server_platform out = {0};
    static char elsewhere[PATH_MAX];
    struct server_options options = {.directory = d->directory,
                                     .config = config,
                                     .config_elsewhere = paths_config(elsewhere) ? elsewhere : NULL,
                                     .for_all = d->for_all,
                                     .uid = geteuid()};
    int rc = -1;

    out.engine = open_engine(d, config, err);
    if (!out.engine)
        return -1;
    raise_limits(); /* after the keeper, so that jobs keep the starter's limits */
    platform_fill(platform, &out);
    server_t *server = server_open(&out, &options, err);
    if (server) {
        daemon_log(d, "berthd %s started, process %d, %s", BERTH_VERSION, (int)getpid(), d->socket);
        const char *notice = out.engine->ops->notice(out.engine);
        if (notice)
            daemon_log(d, "%s", notice);
        /* So that the nodes that are known are there before the first request. */
        if (server_engine(server, err) < 0)
            daemon_log(d, "%s", err->text);
        rc = loop_run(d, server, out.engine, err);
        int saved = errno;
        server_close(server);
        errno = saved;
    }
    int saved = errno;
    out.engine->ops->close(out.engine);
    errno = saved;
    return rc;
}

int main(int argc, char **argv)
{
    static struct daemon d;
    static char path[PATH_MAX];
    const char *given = NULL, *config;
    berth_error_t err;
    int status = read_options(argc, argv, &d, &given);

    if (status >= 0)
        return status;
    signal(SIGPIPE, SIG_IGN);
    d.lock = d.log = d.ready = -1;
    struct platform *platform = platform_create();
    if (!platform)
        errtext_no_memory(&err);
    if (!platform || daemon_find(&d, &err) < 0 || find_config(&d, given, path, &config, &err) < 0 ||
        daemon_detach(&d, &err) < 0 || daemon_lock(&d, &err) < 0 ||
        serve_users(&d, platform, config, &err) < 0) {
        status = daemon_failed(&d, &err);
    } else {
        daemon_log(&d, "stopped");
        status = 0;
    }
    platform_destroy(platform);
    daemon_close(&d);
    return status;
}
