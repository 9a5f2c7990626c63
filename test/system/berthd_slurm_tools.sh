#!/bin/sh
# Tools that speak to Slurm, unchanged, on Berth's commands of the same names: those of Debian that are installed here.
. "$BERTH_SOURCE/test/daemon.sh"
mkdir "$scratch/bin" "$scratch/work"
for name in sacct salloc sbatch scancel scontrol sinfo squeue srun; do
    ln -s "$BERTH" "$scratch/bin/$name"
done
PATH=$scratch/bin:$PATH
TMPDIR=$scratch
HOME=$scratch
USER=$(id -un)
export PATH TMPDIR HOME USER
unset XDG_RUNTIME_DIR
cd "$scratch/work" || exit 1
machine 8
sed -i 's/cores: 8/cores: 8, memory: 16/' "$BERTH_DIR/berth.yaml"
tried=

if command -v snakemake >/dev/null 2>&1; then
    tried="$tried snakemake"
    cat >Snakefile <<'END'
rule all:
    input: "made.txt"
rule make:
    output: "made.txt"
    threads: 2
    resources: mem_mb=100, runtime=5
    shell: "echo {threads} $SLURM_JOB_ID $SLURM_CPUS_PER_TASK >{output}"
END
    snakemake --slurm -j 2 --latency-wait 30 >snakemake.log 2>&1 || fail "snakemake: $(tail -n 20 snakemake.log)"
    id=$(sed -n 's/.*SLURM jobid \([0-9]*\).*/\1/p' snakemake.log | head -n 1)
    expect "what Snakemake's job made" "2 $id 2" "$(cat made.txt)"
    expect "its limit" 300 "$(get "$id" limit)"
else
    echo "no snakemake: not tried"
fi

if /usr/bin/python3 -c 'import toil.batchSystems.slurm' 2>/dev/null; then
    tried="$tried toil"
    cat >flow.py <<'END'
import os
from toil.common import Toil
from toil.job import Job


def work(job, word):
    return word + " " + os.environ["SLURM_JOB_ID"]


if __name__ == "__main__":
    options = Job.Runner.getDefaultArgumentParser().parse_args()
    with Toil(options) as toil:
        print("result:", toil.start(Job.wrapJobFn(work, "worked", memory="100M", cores=1, disk="10M")))
END
    /usr/bin/python3 flow.py --batchSystem slurm --disableCaching "file:$scratch/work/store" >toil.log 2>&1 ||
        fail "toil: $(tail -n 20 toil.log)"
    grep -q '^result: worked [0-9]*$' toil.log || fail "toil has no result: $(tail -n 20 toil.log)"
else
    echo "no toil: not tried"
fi

[ -n "$tried" ] || skip "neither snakemake nor toil is installed"
finish
