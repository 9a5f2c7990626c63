#!/bin/sh
# Directed jobs on a real Slurm that hangs, forgets its last seconds, and loses a node: each runs once, or is told as lost.
. "$BERTH_SOURCE/test/slurm.sh"
slurm_up 2 4
BERTH_SLURM_PACE=2 # what berth-slurm waits for takes half the time
export BERTH_SLURM_PACE
slurm_rules

submit() { # NAME SECONDS: a job that tells when it begins and when it ends
    "$BERTH" submit -t 5m sh -c "echo $1 >>$scratch/starts; sleep $2; echo $1 >>$scratch/ends"
}
begun() { # NAME
    grep -qsx "$1" starts
}

# The controller hangs while a job is submitted, and the server is killed then.
kill -STOP "$(cat lab/run/slurmctld.pid)"
one=$(submit one 1)
is_asked() {
    find "$BERTH_DIR/slurm" -name asked | grep -q .
}
await 'it to be submitted' is_asked
crash
expect_status 0 "$BERTH" server start
kill -CONT "$(cat lab/run/slurmctld.pid)"
await_state "$one" "done"

# The controller is killed, and has lost its last seconds.
jobs=
for name in a b c d e f; do
    jobs="$jobs $(submit $name 3)"
done
await 'the last to begin' begun f
lab crash
for job in $jobs; do
    await "job $job to be over" sh -c "'$BERTH' jobs --no-header $job | grep -q 'done\|failed'"
done

# A node is lost: that is no proof, until it is back.
two=$(submit two 1000)
await 'it to begin' begun two
await_state "$two" running
node=$(squeue -h -n berth-run -t R -o %N)
lab kill "$node"
is_down() {
    "$BERTH" nodes | grep -q "^$node *down "
}
await 'the node to be down' is_down
await 'its job to be given up by Slurm' sh -c '[ -z "$(squeue -h -n berth-run -t R)" ]'
expect 'what nobody knows of' running "$(state "$two")"
lab revive "$node"
await_state "$two" failed
"$BERTH" show "$two" | grep -q 'lost: at Slurm NODE_FAIL' || fail "why: $("$BERTH" show "$two")"

for name in one a b c d e f two; do
    expect "starts of $name" 1 "$(grep -cx $name starts)"
done
expect 'what ended twice' '' "$(sort ends | uniq -d)"
finish
