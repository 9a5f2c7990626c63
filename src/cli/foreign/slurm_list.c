/* The options of sbatch and srun. */
#include "cli/foreign/slurm_list.h"

#define TO(name, letter, to)                                                                       \
    {                                                                                              \
        name, letter, FOREIGN_NEEDED, SLURM_AS_IS, to                                              \
    }
#define AS_FLAG(name, letter, to)                                                                  \
    {                                                                                              \
        name, letter, FOREIGN_NONE, SLURM_AS_IS, to                                                \
    }
#define TAKE(name, letter, what)                                                                   \
    {                                                                                              \
        name, letter, FOREIGN_NEEDED, what, NULL                                                   \
    }
#define FLAG(name, letter, what)                                                                   \
    {                                                                                              \
        name, letter, FOREIGN_NONE, what, NULL                                                     \
    }
#define MAYBE(name, letter, what)                                                                  \
    {                                                                                              \
        name, letter, FOREIGN_MAYBE, what, NULL                                                    \
    }
#define NOT(name, letter)                                                                          \
    {                                                                                              \
        name, letter, FOREIGN_NEEDED, SLURM_NOT_HERE, NULL                                         \
    }
#define NOT_FLAG(name, letter)                                                                     \
    {                                                                                              \
        name, letter, FOREIGN_NONE, SLURM_NOT_HERE, NULL                                           \
    }
#define NOT_MAYBE(name, letter)                                                                    \
    {                                                                                              \
        name, letter, FOREIGN_MAYBE, SLURM_NOT_HERE, NULL                                          \
    }

const struct foreign_option slurm_list[] = {
    TO("account", 'A', "account"),
    TO("licenses", 'L', "licenses"),
    TO("chdir", 'D', "chdir"),
    TO("workdir", 0, "chdir"),
    TO("priority", 0, "priority"),
    TAKE("partition", 'p', SLURM_PARTITION),
    TAKE("job-name", 'J', SLURM_NAME),
    TAKE("array", 'a', SLURM_ARRAY),
    TAKE("begin", 'b', SLURM_BEGIN),
    TAKE("cpus-per-task", 'c', SLURM_CPUS),
    TAKE("constraint", 'C', SLURM_FEATURES),
    TAKE("dependency", 'd', SLURM_DEPENDENCY),
    TAKE("error", 'e', SLURM_ERROR),
    TAKE("exclude", 'x', SLURM_NOT_HOSTS),
    MAYBE("exclusive", 0, SLURM_EXCLUSIVE),
    TAKE("export", 0, SLURM_EXPORT),
    TAKE("gpus", 'G', SLURM_GPUS),
    TAKE("gpus-per-node", 0, SLURM_GPUS_NODE),
    TAKE("gpus-per-task", 0, SLURM_GPUS_TASK),
    TAKE("gres", 0, SLURM_GRES),
    AS_FLAG("hold", 'H', "hold"),
    TAKE("input", 'i', SLURM_INPUT),
    TAKE("mem", 0, SLURM_MEM),
    TAKE("mem-per-cpu", 0, SLURM_MEM_CPU),
    TAKE("mem-per-gpu", 0, SLURM_MEM_GPU),
    MAYBE("nice", 0, SLURM_NICE),
    TAKE("nodelist", 'w', SLURM_HOSTS),
    TAKE("nodes", 'N', SLURM_NODES),
    FLAG("no-requeue", 0, SLURM_NO_REQUEUE),
    TAKE("ntasks", 'n', SLURM_TASKS),
    TAKE("ntasks-per-node", 0, SLURM_TASKS_NODE),
    TAKE("open-mode", 0, SLURM_OPEN_MODE),
    TAKE("output", 'o', SLURM_OUTPUT),
    FLAG("requeue", 0, SLURM_REQUEUE),
    TAKE("signal", 0, SLURM_SIGNAL),
    TAKE("time", 't', SLURM_TIME),
    TAKE("wrap", 0, SLURM_WRAP),
    FLAG("parsable", 0, SLURM_PARSABLE),
    FLAG("test-only", 0, SLURM_TEST_ONLY),
    FLAG("wait", 'W', SLURM_WAIT),
    FLAG("help", 'h', SLURM_HELP),
    FLAG("version", 'V', SLURM_VERSION),
    /* These change nothing of the job. */
    TAKE("comment", 0, SLURM_NOTHING),
    FLAG("quiet", 'Q', SLURM_NOTHING),
    FLAG("unbuffered", 'u', SLURM_NOTHING), /* it always is */
    FLAG("verbose", 'v', SLURM_NOTHING),
    MAYBE("get-user-env", 0, SLURM_NOTHING),
    FLAG("ignore-pbs", 0, SLURM_NOTHING),
    /* These are known, and have no effect here. */
    NOT_FLAG("label", 'l'),
    NOT_FLAG("preserve-env", 'E'),
    NOT_FLAG("disable-status", 'X'),
    NOT("relative", 'r'),
    NOT("threads", 'T'),
    NOT("jobid", 0),
    NOT("slurmd-debug", 0),
    AS_FLAG("pty", 0, "pty"),
    NOT("acctg-freq", 0),
    NOT("batch", 0),
    NOT("bb", 0),
    NOT("bbf", 0),
    NOT("cluster-constraint", 0),
    NOT("clusters", 'M'),
    NOT("container", 0),
    NOT_FLAG("contiguous", 0),
    NOT("core-spec", 'S'),
    NOT("cores-per-socket", 0),
    NOT("cpu-bind", 0),
    NOT("cpu-freq", 0),
    NOT("cpus-per-gpu", 0),
    NOT("deadline", 0),
    NOT("delay-boot", 0),
    NOT("distribution", 'm'),
    NOT_FLAG("exact", 0),
    NOT("export-file", 0),
    NOT("extra", 0),
    NOT("extra-node-info", 'B'),
    NOT("gid", 0),
    NOT("gpu-bind", 0),
    NOT("gpu-freq", 0),
    NOT("gpus-per-socket", 0),
    NOT("gres-flags", 0),
    NOT("hint", 0),
    NOT_MAYBE("kill-on-bad-exit", 'K'),
    NOT("kill-on-invalid-dep", 0),
    TAKE("mail-type", 0, SLURM_MAIL_TYPE),
    TAKE("mail-user", 0, SLURM_MAIL_USER),
    NOT("mcs-label", 0),
    NOT("mem-bind", 0),
    NOT("mincpus", 0),
    NOT("mpi", 0),
    NOT("network", 0),
    NOT_MAYBE("no-kill", 'k'),
    NOT("nodefile", 'F'),
    NOT("ntasks-per-core", 0),
    NOT("ntasks-per-gpu", 0),
    NOT("ntasks-per-socket", 0),
    NOT_FLAG("overcommit", 'O'),
    NOT_FLAG("overlap", 0),
    NOT_FLAG("oversubscribe", 's'),
    NOT("power", 0),
    NOT("prefer", 0),
    NOT("profile", 0),
    NOT_MAYBE("propagate", 0),
    NOT("qos", 'q'),
    NOT_FLAG("reboot", 0),
    NOT("reservation", 0),
    NOT("sockets-per-node", 0),
    NOT_FLAG("spread-job", 0),
    NOT("switches", 0),
    NOT("thread-spec", 0),
    NOT("threads-per-core", 0),
    NOT("time-min", 0),
    NOT("tmp", 0),
    NOT("tres-bind", 0),
    NOT("tres-per-task", 0),
    NOT("uid", 0),
    NOT_FLAG("use-min-nodes", 0),
    NOT("wait-all-nodes", 0),
    NOT("wckey", 0),
};

const size_t slurm_list_n = sizeof(slurm_list) / sizeof(*slurm_list);
