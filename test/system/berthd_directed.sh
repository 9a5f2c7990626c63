#!/bin/sh
# Directed jobs, with commands in the place of Slurm's: each job is a job of Slurm's on the node that was chosen for it.
. "$BERTH_SOURCE/test/daemon.sh"
. "$BERTH_SOURCE/test/system/fake_directed.sh"
cd "$scratch" || exit 1
directed_machine

asked() { # how often sbatch was run
    [ -e "$slurm/asked" ] && wc -l <"$slurm/asked" || echo 0
}
folders() { # of runs
    find "$BERTH_DIR/slurm" -mindepth 1 -maxdepth 1 -type d | wc -l
}
no_folders() {
    [ "$(folders)" = 0 ]
}

# The machine is Slurm's, as far as it is of the partition that jobs go to.
expect_status 0 "$BERTH" server start
expect 'the nodes' 'f1 f2' "$("$BERTH" nodes | tail -n +2 | awk '{ print $1 }' | xargs)"
"$BERTH" nodes --json >out
expect 'nodes with 2 cores, a GPU, 1000 MiB and properties' 2 "$(grep -c '"status":"up".*"cores":2.*"gpus":1.*"memory":1048576000.*"properties":\["batch","fast","other"\]' out)"

# Output, status, environment and what was asked for.
# shellcheck disable=SC2016
expect_status 7 "$BERTH" run -t 90 -c 2 -g 1 --mem 300M sh -c 'echo "$BERTH_NODE $SLURMD_NODENAME $SLURM_JOB_ID $CUDA_VISIBLE_DEVICES $SLURM_PROCID."; exit 7'
expect 'what it says' 'f2 f2 101 GPU-of-slurm .' "$(cat out)"
grep -q -- '--no-requeue .*--comment=berth:[0-9a-f]\{16\}:[0-9]* job 1 --partition=batch --nodelist=f2 --nodes=1 --ntasks-per-node=1 --cpus-per-task=2 --mem=300M --gres=gpu:1 --time=3$' "$slurm/asked" ||
    fail "asked: $(cat "$slurm/asked")"
await 'the folder of the run to be gone' no_folders
await "its status in Slurm's books" grep -qsx 7 "$slurm/code.101"
expect_status 127 "$BERTH" run nosuchcommand
expect_status 1 "$BERTH" submit -c 3 true

# A run on both nodes has tasks on both, and ends when all have.
# shellcheck disable=SC2016
expect_status 3 "$BERTH" run -t 1m -N 2 -n 2 sh -c 'echo $BERTH_TASK_INDEX $BERTH_NODE $SLURMD_NODENAME; exit $((BERTH_TASK_INDEX * 3))'
expect 'what the tasks say' '0 f1 f1,1 f2 f2' "$(sort out | paste -sd,)"
expect_status 127 "$BERTH" run -N 2 -n 2 nosuchcommand
is_over() { # ID
    ! grep -q RUNNING "$slurm/job.$1"
}
await 'the second node to give up, too' is_over "$(cat "$slurm/last")"

# A signal, a limit, and a cancellation with its grace. A job's output is in its file.
# shellcheck disable=SC2016
one=$("$BERTH" submit -o one.out sh -c 'trap "exit 5" USR2; echo begun; while :; do sleep 0.1; done')
await 'the job to begin' grep -qs begun one.out
await 'it to be known to run, and a signal' "$BERTH" signal -s USR2 "$one"
await_state "$one" failed
expect 'its status' 5 "$(get "$one" exit)"
expect 'its output' begun "$(sed -n 1p one.out)"
two=$("$BERTH" submit -t 1 sleep 1000)
await_state "$two" timeout
three=$("$BERTH" submit sh -c 'trap "" TERM; while :; do sleep 0.1; done')
await_state "$three" running
expect_status 0 "$BERTH" cancel "$three"
await_state "$three" cancelled
is_cancelled() {
    grep -qs CANCELLED "$slurm/job.$(cat "$slurm/last")"
}
tries=0
until is_cancelled || [ $tries -eq $((PATIENCE * 10)) ]; do
    tries=$((tries + 1))
    sleep 0.1
done
is_cancelled || fail "not cancelled in Slurm's books: $(grep . "$slurm"/job.* "$slurm"/code.* "$slurm/cancelled" "$slurm/last")"

# What others hold is not given away. A node that is down, or drained, is not used. A server that begins asks at once.
again() {
    expect_status 0 "$BERTH" server stop
    expect_status 0 "$BERTH" server start
}
statuses() {
    [ "$("$BERTH" nodes | tail -n +2 | awk '{ print $2 }' | xargs)" = "$1" ]
}
echo 2 >"$slurm/taken.f1"
echo 1 >"$slurm/taken.f2"
again
await 'cores to be taken' statuses 'partly partly'
expect 'cores that others hold' '2 1' "$("$BERTH" nodes --json | sed -n 's/.*"cores_down":\([0-9]*\).*/\1/p' | xargs)"
four=$("$BERTH" submit -c 2 true)
five=$("$BERTH" submit -c 1 true)
await_state "$five" "done"
expect 'a job for which there is no room' pending "$(state "$four")"
expect_status 0 "$BERTH" cancel "$four"

# So is memory, to a part of 32: it goes to those who fit, and what our own jobs hold is not taken for others'.
echo 0 700 >"$slurm/taken.f1"
echo 0 400 >"$slurm/taken.f2"
again
down_memory() { # MiB of each node
    [ "$("$BERTH" nodes --json | sed -n 's/.*"memory_down":\([0-9]*\).*/\1/p' | awk '{ print $1 / 1048576 }' | xargs)" = "$1" ]
}
await 'memory to be taken' down_memory '718 406'
"$BERTH" submit --mem 500M sh -c ': >six; until [ -e go ]; do sleep 0.1; done' >out
await 'it to begin at Slurm' test -e six
expect 'where there is memory' f2 "$(cat "$slurm/nodes.$(cat "$slurm/last")")"
seven=$("$BERTH" submit --mem 200M true)
eight=$("$BERTH" submit --mem 290M true)
await_state "$seven" "done"
expect 'a job for which there is no memory' pending "$(state "$eight")"
again
await 'memory that others have' down_memory '718 406'
touch go
rm "$slurm"/taken.*
again
await_state "$eight" "done"
echo 'IDLE+DRAIN tests' >"$slurm/state.f1"
echo 'DOWN* gone' >"$slurm/state.f2"
again
await 'nodes to be out of use' statuses 'drained down'
"$BERTH" nodes | grep -q '^f1 .* tests$' || fail "why: $("$BERTH" nodes)"
four=$("$BERTH" submit -c 2 true)
expect 'a job for which there is no node' pending "$(state "$four")"
rm "$slurm"/state.*
again
await_state "$four" "done"

finish
