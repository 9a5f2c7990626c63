#!/bin/sh
# Slurm's commands, called as people and as tools call them, and answered as these read it.
. "$BERTH_SOURCE/test/daemon.sh"
mkdir "$scratch/bin" "$scratch/work"
for name in sacct salloc sbatch scancel scontrol sinfo squeue srun; do
    ln -s "$BERTH" "$scratch/bin/$name"
done
PATH=$scratch/bin:$BERTH_BUILD:$PATH
TMPDIR=$scratch
export PATH TMPDIR
unset XDG_RUNTIME_DIR
cd "$scratch/work" || exit 1
machine 8
sed -i 's/cores: 8/cores: 8, memory: 16/' "$BERTH_DIR/berth.yaml"
me=$(id -un)

# sbatch: a script, its output where Slurm puts it; a line; from standard input; what it says.
cat >job.sh <<'END'
#!/bin/sh
#SBATCH --job-name=fit --ntasks=2 --cpus-per-task=2
#SBATCH --time=5 --mem=100 --export=ALL
echo $SLURM_JOB_NAME $SLURM_JOB_ID $SLURM_NTASKS $SLURM_CPUS_PER_TASK $SLURM_MEM_PER_NODE "$@"
srun sh -c 'echo task $SLURM_PROCID of $SLURM_NTASKS'
srun -n1 --cpu-bind=q sh -c 'echo step of $SLURM_NTASKS'
srun --unbuffered --output task.%j.%t --error task.%j.%t hostname
END
expect_status 0 sbatch job.sh with words
expect_line out 'Submitted batch job 1'
expect_status 0 "$BERTH" wait 1
expect "a script" "fit 1 2 2 100 with words
step of 1
task 0 of 2
task 1 of 2" "$(LC_ALL=C sort slurm-1.out)"
expect "files of tasks" "task.1.0 task.1.1" "$(echo task.1.*)"
expect "five minutes" 300 "$(get 1 limit)"
expect_status 0 sbatch --parsable -J line --wrap='echo $SLURM_JOB_NAME'
expect_line out 2
printf '#!/bin/sh\nexit 3\n' | sbatch -W >out
expect "status of a job that is waited for" 3 $?
expect_line work/out 'Submitted batch job 3'
expect_status 1 "$BERTH" submit -A physics true
expect_err 'berth submit: key "account": account physics: no accounts are configured'
expect_status 1 sbatch nothere.sh
expect_err 'sbatch: error: nothere.sh: No such file or directory'
echo no script >text
expect_status 1 sbatch text
expect_err 'sbatch: error: text does not begin with #!, expected a script'
expect_status 1 sbatch --nodse=1 job.sh
expect_err "sbatch: error: sbatch has no option '--nodse'"
expect_status 0 sbatch --test-only -A physics job.sh # as Slurm where it keeps no accounts
expect "jobs so far" 3 "$(sacct -n -X | wc -l)"

# The command line takes precedence over lines. An array and its files.
expect_status 0 sbatch -t 10 --array=1-3 --wrap 'echo $SLURM_ARRAY_JOB_ID $SLURM_ARRAY_TASK_ID'
expect_status 0 "$BERTH" wait 4
expect "a member's output" '4 2' "$(cat slurm-4_2.out)"

# squeue, as Nextflow and Toil call it.
expect_status 0 sbatch -c 8 -J long --wrap 'sleep 1000'
expect_status 0 sbatch -c 8 -J next --wrap 'sleep 1000'
expect_status 0 sbatch -H -J kept --wrap true
await_state 5 running
squeue --noheader -o '%i %t' -t all -u "$me" >out
for line in '2 CD' '3 F' '4_1 CD' '5 R' '6 PD' '7 PD'; do
    grep -qx "$line" out || fail "squeue has no line '$line': $(cat out)"
done
expect "jobs that have not ended" '6 PD
7 PD
5 R' "$(squeue -h --format '%i %t')"
expect "a head" 'JOBID STATE NAME' "$(squeue -o '%i %T %j' | head -n 1)"
expect "reasons" '(Resources) (JobHeldUser)' "$(squeue -h -j 6,7 -o %R | tr '\n' ' ' | sed 's/ $//')"
expect "cut and aligned" '[   5][lo][R     ]' "$(squeue -h -j 5 -o '[%.4i][%2j][%6t]')"
expect "one's own, without USER" "$(squeue -h -u "$(id -un)" -o %i)" "$(unset USER LOGNAME && squeue -h --me -o %i)"
expect_status 1 squeue -j 999
expect_err 'slurm_load_jobs error: Invalid job id specified'

# sacct, as submitit, Snakemake and Toil call it.
expect "of submitit" 'JobID|State
2|COMPLETED
2.batch|COMPLETED
4_1|COMPLETED
4_1.batch|COMPLETED
4_2|COMPLETED
4_2.batch|COMPLETED
4_3|COMPLETED
4_3.batch|COMPLETED' "$(sacct -o JobID,State --parsable2 -j 2 -j 4)"
expect "of Snakemake" '5|RUNNING
5.batch|RUNNING' "$(sacct -P -n --format=JobIdRaw,State -j 5)"
expect "of Toil" '2|COMPLETED|0:0
2.batch|COMPLETED|0:0
3|FAILED|3:0
3.batch|FAILED|3:0' "$(sacct -n -j 2,3 --format JobIDRaw,State,ExitCode -P -S 1970-01-01)"
expect "by name" '6|PENDING' "$(sacct -X --parsable2 --noheader --format=JobIdRaw,State --name next)"
expect "a step, of which there are name and status" '3.batch|3.batch|batch||FAILED|3:0' \
    "$(sacct -n -P -j 3 -o JobID,JobIDRaw,JobName,Partition,State,ExitCode | tail -n 1)"
expect "no such job" '' "$(sacct -n -j 999)"

# scontrol, sinfo
expect "of Toil" 'JobId=3 JobState=FAILED ExitCode=3:0' \
    "$(scontrol show job 3 | tr ' ' '\n' | grep -E '^(JobId|JobState|ExitCode)=' | tr '\n' ' ' | sed 's/ $//')"
expect "hosts" 'a1 a2 b' "$(scontrol show hostnames 'a[1-2],b' | tr '\n' ' ' | sed 's/ $//')"
value() { # KEY: of what has been shown in lines
    tr ' ' '\n' <"$scratch/out" | sed -n "s/^$1=//p"
}
expect_status 0 scontrol show node
expect "a node" 'node0 8 8 16384 ALLOCATED batch' "$(echo "$(value NodeName)" "$(value CPUTot)" "$(value CPUAlloc)" "$(value RealMemory)" "$(value State)" "$(value Partitions)")"
expect_status 0 scontrol update NodeName=node0 State=DRAIN Reason='new disk'
expect_status 0 scontrol -o show node=node0
expect "a drained one, in a line" '1 ALLOCATED+DRAIN' "$(wc -l <"$scratch/out") $(value State)"
grep -q 'Reason=new disk$' "$scratch/out" || fail "no reason: $(cat "$scratch/out")"
expect_status 1 scontrol update NodeName=node0 State=FUTURE
expect_status 0 scontrol update NodeName=node0 State=RESUME
expect "a resumed one" alloc "$(sinfo -h -o %t)"
expect_status 1 scontrol show node nothere
expect_err 'scontrol: error: Node nothere not found'
expect_status 0 scontrol show partition batch
expect "a partition" 'YES node0 UP 8 1' "$(echo "$(value Default)" "$(value Nodes)" "$(value State)" "$(value TotalCPUs)" "$(value TotalNodes)")"
expect_status 1 scontrol show partition nothere
expect "the default partition" 'PARTITION batch*' "$(sinfo -o %P | tr '\n' ' ' | sed 's/ $//')"
expect "cores" '8/0/0/8' "$(sinfo -h -o %C)"
expect_status 0 scontrol release 7
expect "a released job" PENDING "$(squeue -h -j 7 -o %T)"
expect_status 0 scontrol update JobId=6 TimeLimit=20
expect "a changed limit" 1200 "$(get 6 limit)"
expect_status 0 scontrol update JobId=7 JobName=other MinMemoryNode=100 NumTasks=2 TimeLimit=30
expect "a changed job" '"other" 2 104857600 1800' "$(get 7 name) $(get 7 cores) $(get 7 memory) $(get 7 limit)"
expect_status 0 scontrol update JobId=7 Dependency=afterok:4_2,afterany:6
expect "a changed dependency" '"afterok:4[2],afterany:6"' "$(get 7 dependency)"
expect "what waits" 'PD Dependency' "$(squeue -h -j 7 -o '%t %r')"
expect_status 0 scontrol update JobId=7 Dependency= NumTasks=2
expect "no dependency" null "$(get 7 dependency)"

# scancel: by id, with a signal behind it, by name.
expect_status 0 scancel 5 --signal USR1
await_state 5 failed
expect "a signal" '0:10' "$(sacct -X -n -P -j 5 -o ExitCode)"
expect_status 0 scancel -n next
await_state 6 cancelled
expect "a cancelled job" 'CANCELLED|0:0' "$(sacct -X -n -P -j 6 -o State,ExitCode)"
expect_status 1 scancel 999
expect_status 1 scancel
expect_err 'scancel: error: No job identification provided'

expect "waiting members" '8_[1-3]|PENDING|8' "$(sbatch --parsable -H --array=1-3 -o /dev/null --wrap true >/dev/null
    sacct -n -P -o JobID,State,JobIDRaw -j 8)"
expect_status 0 scancel 8

# As Slurm 22.05 prints it: where columns stand, how wide they are, what is cut, and beginnings of names.
sbatch -J averylongname -t 1-1 -n 2 --mem=1536 -o /dev/null --wrap true >/dev/null
await_state 9 done
expect "the usual columns" 'JobID           JobName  Partition    Account  AllocCPUS      State ExitCode
------------ ---------- ---------- ---------- ---------- ---------- --------
3                script      batch                     1     FAILED      3:0
9            averylong+      batch                     2  COMPLETED      0:0' "$(sacct -X -j 3,9 | sed 's/ *$//')"
expect "widths and beginnings" 'JobID State                Job  Timelimit TimelimitR     ReqMem DerivedExitCode
----- -------------------- --- ---------- ---------- ---------- ---------------
    3 FAILED               sc+  UNLIMITED  UNLIMITED          0             0:0
    9 COMPLETED            av+ 1-01:00:00       1500      1.50G             0:0' \
    "$(sacct -X -j 3,9 -o jobid%5,stat%-20,jobname%3,timelimit,timelimitraw,reqmem,derived | sed 's/ *$//')"
expect "columns of which nothing is known" 'AveRSS|AveDiskRead|Cluster|JobID|
|||9|' "$(sacct -X -p -j 9 -o averss,avediskread,cluster,jobid)"
expect_status 1 sacct -o nothing
expect_err "sacct: error: --format is 'nothing', expected columns such as JobID,State%20, at most 10000 wide"

# srun as a job: each task by its number.
srun -n 2 sh -c 'echo $SLURM_PROCID of $SLURM_NTASKS' >out
expect "tasks of srun" '0 of 2 1 of 2' "$(sort out | tr '\n' ' ' | sed 's/ $//')"
expect_status 4 srun sh -c 'exit 4'
expect_status 0 srun -u true
expect "a word about what is so anyway" '' "$(cat "$scratch/err")"
expect_status 1 srun --multi-prog x
expect_err "srun: error: srun has no option '--multi-prog'"

for name in sbatch squeue sacct scontrol sinfo srun scancel salloc; do
    expect_status 0 $name --version
    expect_line out 'slurm 23.02.0'
    expect_status 0 $name --help
done
finish
