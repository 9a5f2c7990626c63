#!/bin/sh
# squeue and sacct by names, nodes, accounts and in an order; squeue again and again; scontrol ping; what a script reads in its
# environment. What Slurm prints is compared in berthd_slurm_words.
. "$BERTH_SOURCE/test/daemon.sh"
mkdir "$scratch/bin"
for name in sacct sbatch scancel scontrol sinfo squeue srun; do
    ln -s "$BERTH" "$scratch/bin/$name"
done
PATH=$scratch/bin:$PATH
export PATH
unset SQUEUE_FORMAT SQUEUE_FORMAT2 SACCT_FORMAT
cd "$scratch" || exit 1
mkdir -p "$BERTH_DIR"
me=$(id -un)
cat >"$BERTH_DIR/berth.yaml" <<END
resources: {nodes: 2, cores: 4, memory: 8, gpus: 2}
server: {imagined: yes}
accounts:
  physics: {users: [$me], default-for: [$me]}
  biology: {users: [$me]}
END
expect_status 1 scontrol ping
expect_line out "Slurmctld(primary) at $(uname -n | cut -d. -f1) is DOWN"
expect_status 0 "$BERTH" server start
expect_status 0 scontrol ping
expect_line out "Slurmctld(primary) at $(uname -n | cut -d. -f1) is UP"
expect_status 1 scontrol ping twice
expect_err "scontrol: error: ping: 'twice' is one word too many"

# What a script reads: who it is of, since when, what it has. A step says where it is.
before=$(date +%s)
cat >job.sh <<'END'
#!/bin/sh
#SBATCH -N 2 --ntasks-per-node=2 --gres=gpu:2 -t 10 -A biology
env | grep '^SLURM' >env
srun -n 3 sh -c 'env | grep "^SLURM_STEP_[NT]" >step.$SLURM_PROCID'
END
expect_status 0 sbatch -W job.sh
in_env() { # NAME: its value in the script
    sed -n "s/^$1=//p" env
}
expect "who" "$(id -u) $(id -g) $me biology" \
    "$(in_env SLURM_JOB_UID) $(in_env SLURM_JOB_GID) $(in_env SLURM_JOB_USER) $(in_env SLURM_JOB_ACCOUNT)"
expect "from where" "$(uname -n) $scratch" "$(in_env SLURM_SUBMIT_HOST) $(in_env SLURM_SUBMIT_DIR)"
start=$(in_env SLURM_JOB_START_TIME)
[ "$start" -ge "$before" ] && [ "$start" -le "$(date +%s)" ] || fail "it starts at '$start', after $before"
expect "ten minutes" 600 $(($(in_env SLURM_JOB_END_TIME) - start))
expect "tasks" '2 4 2(x2)' \
    "$(in_env SLURM_NTASKS_PER_NODE) $(in_env SLURM_NTASKS) $(in_env SLURM_TASKS_PER_NODE)"
expect "GPUs of its first node" 0,1 "$(in_env SLURM_JOB_GPUS)"
expect "a step" "SLURM_STEP_NODELIST=$(in_env SLURMD_NODENAME)
SLURM_STEP_NUM_NODES=1
SLURM_STEP_NUM_TASKS=3
SLURM_STEP_TASKS_PER_NODE=3" "$(sort step.2)"
expect_status 0 sbatch -W -w node1 -o /dev/null --wrap 'env | grep "^SLURM" >env'
expect "no GPUs, no limit" '' "$(in_env SLURM_JOB_GPUS)$(in_env SLURM_JOB_END_TIME)$(in_env SLURM_NTASKS_PER_NODE)"
expect "an account of its own" physics "$(in_env SLURM_JOB_ACCOUNT)"

# By names: widths, sides, what stands between, and what is held.
expect_status 0 sbatch -J first -w node0 -n 3 --mem=512 --gres=gpu:1 -o /dev/null --wrap 'sleep 1000'
expect_status 0 sbatch -J second -A biology -w node1 -n 2 -t 5 -o /dev/null --wrap 'sleep 1000'
expect_status 0 sbatch -J third -H --array=2-4 -o /dev/null --wrap true
await_state 3 running
await_state 4 running
expect "by names" 'JOBID               | NAMEST       !
5                   |thirdPD       !
3                   |firstR        !
4                   |seconR        !' "$(squeue -O 'JobID:20|,Name:.5,statecompact:9!')"
expect "what they have" 'cpu=3,mem=512M,node=1,gres/gpu=1 3 node0 0 '"$scratch"'
cpu=2,node=1 2 node1 0 '"$scratch" "$(squeue -h -t R -O 'tres-alloc: ,numcpus: ,nodelist: ,restartcnt: ,workdir:')"
expect "of sacct" '3|cpu=3,mem=512M,node=1,gres/gpu=1' "$(sacct -X -n -P -j 3 -o jobid,alloctres)"
expect "on a node" '4 node1' "$(squeue -h -w node1 -o '%i %N')"
expect "on two nodes" '3 4' "$(squeue -h --nodelist='node[0-1]' -o %i | tr '\n' ' ' | sed 's/ $//')"
expect "that were on a node" '1 3' "$(sacct -X -n -N node0 -o jobid%1 | tr '\n' ' ' | sed 's/ *$//;s/  */ /g')"
expect "on no node" '' "$(sacct -n -N nothere)"
expect "of an account" '4' "$(squeue -h -A biology -o %i)"
expect "of an account, ended too" '1 4' "$(echo $(sacct -X -n -A biology -o jobid))"
expect "in an order" '4 3 5_[2-4]' "$(echo $(squeue -h -S '-T,C' -o %i))"
expect "in another" '5_[2-4] 4 3' "$(echo $(squeue -h -S t,-j -o %i))"

# Users by number too; the one cluster there is; members of an array apart; the long form.
expect "of a user's number" '5_[2-4] 3 4' "$(echo $(squeue -h -u "4294967294,$(id -u)" -o %i 2>/dev/null))"
expect_status 0 squeue -h -u 4294967294
expect_err 'squeue: error: Invalid user: 4294967294'
expect "of another number" '' "$(cat out)"
expect "of a number, of sacct" '1 2 3 4 5_[2-4]' "$(echo $(sacct -X -n -P --uid "$(id -u)" -o jobid))"
expect "of nobody" '' "$(sacct -n --uid=4294967294 2>/dev/null)"
expect "on this cluster" '3 4' "$(echo $(squeue -h -M berth -t R -o %i))"
expect "on all clusters" '4|RUNNING' "$(sacct -X -n -P --clusters all -j 4 -o jobid,state)"
expect "members apart" '5_2 5_3 5_4' "$(echo $(sacct -X -n -P --array -j 5 -o jobid))"
expect "the long form" 'JobID|JobIDRaw|JobName|Partition|MaxVMSize 4|4|second|default|' \
    "$(echo $(sacct -X -l -P -j 4 | cut -d'|' -f 1-5))"
expect "its last column" 'TRESUsageOutTot' "$(sacct -X --long -P -j 4 | head -n 1 | sed 's/.*|//')"

# Memory in a unit: what was asked for is in megabytes, 1536 of them are 1.50G; a unit that is asked for holds for all.
expect_status 0 sbatch -J sized -H --mem=1536 -o /dev/null --wrap true
expect "the unit that suits" '1.50G' "$(sacct -X -n -P -j 6 -o reqmem)"
expect "kilobytes" '1572864K' "$(sacct -X -n -P --units=K -j 6 -o reqmem)"
expect "megabytes" '1536M' "$(sacct -X -n -P --units M -j 6 -o reqmem)"
expect "as it was asked for" '1536M' "$(sacct -X -n -P --noconvert -j 6 -o reqmem)"
expect "what is held, in kilobytes" 'cpu=3,mem=524288K,node=1,gres/gpu=1' "$(sacct -X -n -P --units=K -j 3 -o alloctres)"
expect_status 0 scancel 6

# Times are cut to those that are asked for: job 4 runs since before, and does not end within.
since=$(($(date +%s) + 10))
expect "cut times" 00:00:20 "$(sacct -X -n -P -T -j 4 -S "$(date -d "@$since" +%FT%T)" -E "$(date -d "@$((since + 20))" +%FT%T)" -o elapsed)"

# An array that has as many at once as it may.
expect_status 0 sbatch -J few -w node1 --array=1-3%1 -o /dev/null --wrap 'sleep 1000'
array_waits() {
    [ "$(squeue -h -j 7 -o '%i %K %t %r' | head -n 1)" = '7_[2-3%1] 2-3%1 PD JobArrayTaskLimit' ]
}
await "the others of an array to wait for one" array_waits
expect "of sacct" '7_[2-3%1]' "$(sacct -X -n -P -j 7 -o jobid | tail -n 1)"
expect "of scontrol" 'ArrayTaskId=2-3%1 ArrayTaskThrottle=1' "$(scontrol show job 7 | grep -o 'ArrayTaskId=2.*Throttle=1')"
expect_status 0 scontrol update JobId=7 ArrayTaskThrottle=2
throttled() {
    [ "$(scontrol show job 7 | grep -o 'ArrayTaskThrottle=[0-9]*' | sort -u)" = ArrayTaskThrottle=2 ]
}
await "another limit" throttled
expect_status 1 scontrol update JobId=7 ArrayTaskThrottle=some
expect "one that runs without a limit" EndTime=Unknown "$(scontrol show job '7_1' | grep -o 'EndTime=.*')"
expect_status 0 scancel 7

# What the environment asks for, unless the command line does.
expect "a format" '3 R' "$(SQUEUE_FORMAT='%i %t' squeue -h -j 3)"
expect "names" '3|R' "$(SQUEUE_FORMAT2='jobid:|,statecompact:' SQUEUE_FORMAT='%T' squeue -h -j 3)"
expect "the command line" RUNNING "$(SQUEUE_FORMAT2=jobid SQUEUE_FORMAT=%i squeue -h -j 3 -o %T)"
expect "columns of sacct" '3|RUNNING' "$(SACCT_FORMAT=jobid,state sacct -X -n -P -j 3)"
expect "those of the command line" 'RUNNING' "$(SACCT_FORMAT=jobid,state sacct -X -n -P -j 3 -o state)"
expect_status 1 env SQUEUE_FORMAT2=odd squeue
expect_err "squeue: error: SQUEUE_FORMAT2 is 'odd', expected names such as jobid:10,state, at most 10000 wide"
expect_status 1 env SACCT_FORMAT=odd sacct
expect_err "sacct: error: SACCT_FORMAT is 'odd', expected columns such as JobID,State%20, at most 10000 wide"
expect_status 1 env SQUEUE_FORMAT=%4000000000i squeue
expect_err "squeue: error: SQUEUE_FORMAT is '%4000000000i', expected columns such as %.18i, at most 10000 wide"

# Again and again, with the time, also while there is no server.
squeue -i 1 -o '%i %t' >again 2>again.err &
again=$!
twice() {
    [ "$(grep -c '^4 R$' again)" -ge 2 ]
}
await "a second list" twice
grep -q '^[A-Z][a-z][a-z] [A-Z][a-z][a-z] [ 0-9][0-9] [0-9:]* [0-9]*$' again || fail "no time: $(cat again)"
expect_status 0 scancel 3 4 5
empty() {
    [ "$(tail -n 2 again)" = 'JOBID ST' ]
}
await "an empty list" empty
expect_status 0 "$BERTH" server stop
away() {
    grep -q 'no server is running' again.err
}
await "no server" away
kill -0 "$again" || fail "it ended with the server"
kill "$again"

# What is wrong is said in a line.
wrong() { # TEXT COMMAND...
    text=$1
    shift
    expect_status 1 "$@"
    expect_err "$text"
}
names='expected names such as jobid:10,state, at most 10000 wide'
wrong "squeue: error: --Format is 'jobid,bogus', $names" squeue -O jobid,bogus
wrong "squeue: error: --Format is '', $names" squeue -O ''
wrong "squeue: error: --Format is 'jobid:99999', $names" squeue -O jobid:99999
wrong 'squeue: error: -O (--Format) is not for use with -o (--format)' squeue -O jobid -o %i
wrong "squeue: error: --iterate is '0', expected a number of seconds such as 10" squeue -i 0
wrong "squeue: error: --iterate is '5s', expected a number of seconds such as 10" squeue -i 5s
wrong "squeue: error: --sort is 'i,', expected letters of --format such as P,-M" squeue -S i,
wrong "squeue: error: --sort is 'name', expected letters of --format such as P,-M" squeue -S name
wrong "squeue: error: --nodelist is 'node[', expected nodes such as node[1-3]" squeue -w 'node['
wrong "squeue: error: --states is 'odd', expected states such as PD,running, or all" squeue -t odd
wrong "squeue: error: --jobs is 'x', expected jobs such as 17,18_[1-3]" squeue -j x
wrong "sacct: error: --nodelist is '', expected nodes such as node[1-3]" sacct -N ''
wrong "sacct: error: --units is 'B', expected K, M, G, T or P" sacct --units B
wrong "sacct: error: --units is '', expected K, M, G, T or P" sacct --units ''
wrong "sacct: error: --starttime is 'x', expected a time such as now-1days or 2026-12-31T08:00" sacct -S x
wrong "sacct: error: --format is 'jobid%99999', expected columns such as JobID,State%20, at most 10000 wide" sacct -o jobid%99999
for command in squeue sinfo; do
    wrong "$command: error: --format is '%.4000000000i', expected columns such as %.18i, at most 10000 wide" $command -o %.4000000000i
    wrong "$command: error: there is no cluster 'x', only 'berth'" $command -M all,x
done
wrong "sacct: error: there is no cluster 'other', only 'berth'" sacct -M other
wrong "scancel: error: there is no cluster 'other', only 'berth'" scancel -M other 1
expect_status 0 "$BERTH" server start
wrong 'squeue: error: Invalid node name node7' squeue -w node0,node7
finish
