#!/bin/sh
# Directed jobs on a real Slurm: a private cluster of three nodes on loopback.
. "$BERTH_SOURCE/test/slurm.sh"
LAB_GPUS=2 slurm_up 3 4
slurm_rules
expect 'nodes, with cores and GPUs' '3 12 6' \
    "$("$BERTH" nodes --json | sed -n 's/.*"cores":\([0-9]*\).*"gpus":\([0-9]*\),.*/\1 \2/p' | awk '{ n++; c += $1; g += $2 } END { print n, c, g }')"

# Output and status, also in Slurm's books; on the node that was chosen; with as many CPUs.
# shellcheck disable=SC2016
expect_status 7 "$BERTH" run -t 1m -c 3 sh -c 'echo "$BERTH_NODE $SLURMD_NODENAME $SLURM_CPUS_ON_NODE"; exit 7'
node=$(cut -d' ' -f1 out)
expect 'where it ran' "$node $node 3" "$(cat out)"
has_status() {
    scontrol -o show job | grep 'Comment=berth:[0-9a-f]\{16\}:[0-9]* job 1 ' | grep -q "Requeue=0.*ExitCode=7:0.*NodeList=$node "
}
await "its status in Slurm's books" has_status

# A run on two nodes, with tasks that do not divide evenly: four and two.
# shellcheck disable=SC2016
expect_status 0 "$BERTH" run -t 1m -n 6 sh -c 'echo $SLURMD_NODENAME'
expect 'tasks on each node' '4 2' "$(sort out | uniq -c | awk '{ print $1 }' | sort -rn | xargs)"

# The members of a gang on two nodes know each other.
# shellcheck disable=SC2016
expect_status 0 "$BERTH" run -t 1m --gang 2 -N 1 -n 1 -c 4 sh -c 'echo "$RANK of $WORLD_SIZE, $BERTH_MEMBER_HOSTS, $MASTER_ADDR, $SLURMD_NODENAME"'
hosts=$(sed 's/.*of 2, \(n[0-9]\),\(n[0-9]\), 127.0.0.1, .*/\1 \2/' out | sort -u)
expect 'where the members are' "${hosts% *},${hosts#* }" "$(sort out | sed 's/.* //' | paste -sd,)"
[ "${hosts% *}" != "${hosts#* }" ] || fail "members of a gang: $(cat out)"

# Each of 24 jobs runs once, while the server is killed, and Slurm's controller too.
mkdir ran
# shellcheck disable=SC2016
array=$("$BERTH" submit -t 1m --array 24 -o /dev/null sh -c 'mkdir ran/$BERTH_ARRAY_INDEX && sleep 0.5')
await 'some to have run' sh -c '[ "$(ls ran | wc -l)" -ge 3 ]'
crash
lab bounce
expect_status 0 "$BERTH" server start
expect_status 0 "$BERTH" wait "$array"
expect 'members that have run' 24 "$(find ran -mindepth 1 | wc -l)"

# What others hold is theirs; a job is cancelled.
sbatch -Q -w n1 --exclusive -t 1 -o /dev/null --wrap 'sleep 1000'
foreign=$(squeue -h -n wrap -o %A)
runs() { # ID
    [ "$(squeue -h -j "$1" -o %T)" = RUNNING ]
}
await 'the job of somebody else to run' runs "$foreign"
expect_status 0 "$BERTH" server stop
expect_status 0 "$BERTH" server start
expect 'cores that others hold' '4 0 0' "$("$BERTH" nodes --json | sed -n 's/.*"cores_down":\([0-9]*\).*/\1/p' | xargs)"
job=$("$BERTH" submit -t 5m sh -c 'echo begun >>begun; sleep 1000')
await 'it to begin' grep -qs begun begun
where=$(squeue -h -n berth-run -t R -o %N)
[ -n "$where" ] && [ "$where" != n1 ] || fail "where it is: $where"
expect_status 0 "$BERTH" cancel "$job"
await_state "$job" cancelled
is_cancelled() { # JOB
    scontrol -o show job | grep "Comment=berth:[0-9a-f]*:[0-9]* job $1 " | grep -q JobState=CANCELLED
}
await "that in Slurm's books" is_cancelled "$job"
scancel "$foreign"

finish
