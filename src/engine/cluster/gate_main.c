/* berth-gate: lets the agents of a server's pilots in.
 *
 * usage: berth-gate DIRECTORY
 *
 * berthd starts it, with a socket at descriptor 3. DIRECTORY is the folder of all pilots.
 */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "engine/cluster/gate.h"

int main(int argc, char **argv)
{
    berth_error_t err = {""};
    const struct rlimit none = {0, 0};
    struct rlimit files;
    if (argc != 2 || argv[1][0] != '/') {
        fprintf(stderr, "usage: berth-gate DIRECTORY\n");
        return 2;
    }
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    if (sodium_init() < 0) {
        fprintf(stderr, "berth-gate: libsodium does not start\n");
        return EXIT_FAILURE;
    }
    if (gate_run(argv[1], GATE_CONTROL, &err) == 0)
        return EXIT_SUCCESS;
    fprintf(stderr, "berth-gate: %s\n", err.text);
    return EXIT_FAILURE;
}
