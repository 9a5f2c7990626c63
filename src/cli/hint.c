#include "cli/hint.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

const char *hint_other_name(const char *word)
{
    static const char *const names[][2] = {
        {"attach", "log"},
        {"batch", "submit"},
        {"bulksubmit", "submit"},
        {"cat", "log"},
        {"daemon", "server"},
        {"del", "cancel"},
        {"delete", "cancel"},
        {"down", "drain"},
        {"info", "show"},
        {"kill", "cancel"},
        {"list", "jobs"},
        {"ls", "jobs"},
        {"output", "log"},
        {"pause", "hold"},
        {"ps", "jobs"},
        {"qdel", "cancel"},
        {"qstat", "jobs"},
        {"qsub", "submit"},
        {"queue", "queues"},
        {"redo", "resubmit"},
        {"rerun", "resubmit"},
        {"retry", "resubmit"},
        {"reload", "server reload"},
        {"remove", "cancel"},
        {"rm", "cancel"},
        {"sacct", "history"},
        {"sbatch", "submit"},
        {"scancel", "cancel"},
        {"scontrol", "show"},
        {"simulate", "sim"},
        {"sinfo", "nodes"},
        {"squeue", "jobs"},
        {"srun", "run"},
        {"start", "server start"},
        {"stat", "jobs"},
        {"status", "server status"},
        {"stop", "cancel"},
        {"suspend", "hold"},
        {"tail", "log"},
        {"watch", "top"},
        {"undrain", "resume"},
        {"why", "explain"},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(word, names[i][0]) == 0)
            return names[i][1];
    return NULL;
}

/* "--gpus=2" is "--gpus", "-c8" is "-c". */
static bool is_option(const char *word, const char *option)
{
    size_t length = strncmp(word, "--", 2) == 0 ? strcspn(word, "=") : strnlen(word, 2);
    return strncmp(word, option, length) == 0 && !option[length];
}

const char *hint_other_option(const char *word)
{
    static const char *const options[][2] = {
        {"-p", "Slurm's -p is -q here"},
        {"--partition", "Slurm's --partition is --queue here"},
        {"-J", "Slurm's -J is --name here"},
        {"--job-name", "Slurm's --job-name is --name here"},
        {"-d", "Slurm's -d is --dependency here"},
        {"-D", "Slurm's -D is --chdir here"},
        {"-a", "Slurm's -a is --array here"},
        {"-b", "Slurm's -b is --begin here"},
        {"-B", "Flux's -B is --account here"},
        {"--bank", "Flux's --bank is --account here"},
        {"-C", "Slurm's -C is --requires here"},
        {"--constraint", "Slurm's --constraint is --requires here"},
        {"-w", "of Slurm's -w, see --requires"},
        {"--nodelist", "of Slurm's --nodelist, see --requires"},
        {"--exclude", "of Slurm's --exclude, see --requires"},
        {"-G", "-g is GPUs for each task"},
        {"--gpus", "--gpus-per-task is GPUs for each task"},
        {"--gres", "Slurm's --gres=gpu:a100:1 is -g a100:1 here"},
        {"--time", "it is -t here, where 90 is seconds and 90m minutes"},
        {"--cpus-per-task", "Slurm's --cpus-per-task is --cores-per-task here"},
        {"--cpus", "--cores-per-task is cores for each task"},
        {"--cores", "--cores-per-task is cores for each task"},
        {"--cores-per-slot", "Flux's --cores-per-slot is --cores-per-task here"},
        {"--nslots", "Flux's --nslots is --ntasks here"},
        {"--mem-per-cpu", "--mem is memory of the whole job"},
        {"--ntasks-per-node", "--ntasks is the number of all tasks"},
        {"-H", "Slurm's -H is --hold here"},
        {"--urgency", "Flux's --urgency is --priority here"},
        {"--nice", "higher --priority goes first"},
        {"--workdir", "it is --chdir here"},
        {"--cwd", "Flux's --cwd is --chdir here"},
        {"--export", "Slurm's --export is --env here"},
        {"--each-line", "HyperQueue's --each-line is --each here"},
        {"--resource", "HyperQueue's --resource gpus/nvidia=1 is -g 1 here"},
        {"--comment", "Slurm's --comment is --label comment=TEXT here"},
    };
    for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
        if (is_option(word, options[i][0]))
            return options[i][1];
    return NULL;
}

const char *hint_change(const char *word)
{
    static const char *const fixed[][2] = {
        {"-d", "Slurm's -d is --dependency here"},
        {"--requires", "which nodes a job may have stays; see berth resubmit"},
        {"-o", "where its output goes stays; see berth resubmit"},
        {"--output", "where its output goes stays; see berth resubmit"},
        {"--array", "the members of an array stay; see berth resubmit"}};
    for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++)
        if (is_option(word, fixed[i][0]))
            return fixed[i][1];
    return hint_other_option(word);
}
