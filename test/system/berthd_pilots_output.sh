#!/bin/sh
# Output to a folder that the server's host and the nodes have under the same path, but not together: it comes through the agent,
# each byte once, whatever is killed meanwhile, and a job is told as ended once all of it is there.
. "$BERTH_SOURCE/test/daemon.sh"
. "$BERTH_SOURCE/test/system/fake_slurm.sh"
cd "$scratch" || exit 1
TMPDIR=$scratch
export TMPDIR
machine 1
mkdir here
echo "$scratch/here" >"$slurm/apart"
if unshare -m true 2>/dev/null; then
    echo unshare -m
elif unshare -rm true 2>/dev/null; then
    echo unshare -rm
else
    skip 'no mount namespace'
fi >"$slurm/unshare"

is_up() { # PILOT NODES
    [ "$("$BERTH" pilot show "$1" | grep -c ' up ')" = "$2" ]
}
add_nodes() { # N
    expect_status 0 "$BERTH" pilot add slurm --nodes "$1" --time 1h
    pilot=$(sed 's/^pilot \([0-9]*\),.*/\1/' out)
    await 'its nodes' is_up "$pilot" "$1"
}
proofs() {
    find here there -name '.berth-*' | wc -l
}
notes() {
    find "$BERTH_DIR/pilots/output" -type f 2>/dev/null | wc -l
}
mkdir there
add_nodes 2
expect_status 0 "$BERTH" drain node0 # all runs on the nodes

# A folder that both have: the task writes the file itself.
job=$("$BERTH" submit -t 5m -o there/out echo hello)
expect_status 0 "$BERTH" wait "$job"
expect 'a shared file' hello "$(cat there/out)"
expect 'notes of it' 0 "$(notes)"
expect 'proofs in one folder' 1 "$(proofs)"

# One that each has for itself, and errors in another file there. What the file had is gone, and who may read it is as always.
echo before >here/out
umask 027
job=$("$BERTH" submit -t 5m -o here/out -e here/err sh -c 'echo hello; echo oh >&2')
umask 022
expect_status 0 "$BERTH" wait "$job"
expect 'a file of this host' hello "$(cat here/out)"
expect 'its errors' oh "$(cat here/err)"
expect 'who may read a new one' 640 "$(stat -c %a here/err)"
expect 'proofs in two folders' 2 "$(proofs)"
expect 'notes after the end' 0 "$(notes)"
job=$("$BERTH" submit -t 5m -o here/out --append echo more)
expect_status 0 "$BERTH" wait "$job"
expect 'appended' 'hello more' "$(xargs <here/out)"

# /dev/null is /dev/null; a command that does not exist fails as on this machine.
job=$("$BERTH" submit -t 5m -o /dev/null echo hello)
expect_status 0 "$BERTH" wait "$job"
job=$("$BERTH" submit -t 5m -o here/out nothing-of-that-name)
expect_status 127 "$BERTH" wait "$job"

# It is there while the job runs: log -f shows it. Signals reach it.
# shellcheck disable=SC2016
job=$("$BERTH" submit -t 5m -o here/slow sh -c 'exec 2>/dev/null
    trap "echo signalled" USR1; echo one; while [ ! -e go ]; do sleep 0.05; done; echo two')
"$BERTH" log -f "$job" >followed &
log=$!
await 'the first line' grep -q one followed
expect_status 0 "$BERTH" signal -s USR1 "$job"
await 'what it says to a signal' grep -q signalled followed
touch go
wait $log
expect 'what log -f shows' 'one signalled two' "$(xargs <followed)"

# The same of tasks on both nodes, in one file, which is emptied before any of them writes.
echo before >here/wide
# shellcheck disable=SC2016
job=$("$BERTH" submit -t 5m -N 2 -n 4 -o here/wide sh -c 'for i in $(seq 500); do echo "$BERTH_TASK_INDEX $i"; done')
expect_status 0 "$BERTH" wait "$job"
expect 'lines of four tasks' "$(for t in 0 1 2 3; do for i in $(seq 500); do echo "$t $i"; done; done | sort | md5sum)" "$(sort here/wide | md5sum)"
expect_status 3 "$BERTH" run -t 5m sh -c 'echo from afar; exit 3' </dev/null
expect 'the output of run' 'from afar' "$(cat out)"

# 40 MB, and meanwhile the server, the gate and the agents are killed.
seq 5000000 >numbers
job=$("$BERTH" submit -t 5m -o here/numbers seq 5000000)
array=$("$BERTH" submit -t 5m --array 20 -o here/all --append sh -c 'for i in $(seq 300); do echo "$BERTH_ARRAY_INDEX $i"; done; sleep 0.1')
for program in berthd berth-gate berthd berth-agent berthd; do
    sleep 0.4
    if [ $program = berthd ]; then
        crash
        expect_status 0 "$BERTH" server start
        continue
    fi
    who=called
    [ $program = berth-agent ] && who=childless # of two the one that started the other lives on
    for pid in $($who $program); do
        kill -9 "$pid"
    done
done
expect_status 0 "$BERTH" wait "$job" "$array"
cmp numbers here/numbers || fail "40 MB have become $(stat -c %s here/numbers) of $(stat -c %s numbers) bytes"
expect 'lines of an array in one file' "$(for t in $(seq 0 19); do for i in $(seq 300); do echo "$t $i"; done; done | sort | md5sum)" "$(sort here/all | md5sum)"
expect 'notes after the end' 0 "$(notes)"
most=$(awk '/VmHWM/ { print $2 }' "/proc/$(daemon_pid)/status")
[ "$most" -lt 65536 ] || fail "berthd takes $most kB at most"

# The server is killed while the job ends: it has one end, once all of its output is there.
job=$("$BERTH" submit -t 5m -o here/last sh -c 'seq 200000; exit 7')
await 'some of it' test -s here/last
crash
expect_status 0 "$BERTH" server start
expect_status 7 "$BERTH" wait "$job"
seq 200000 | cmp - here/last || fail 'its end was told before its output was there'

# The file can't be written for a while: the job has not ended until it can.
wait_to_go() { # FILE
    echo "echo one; while [ ! -e '$1' ]; do sleep 0.05; done; echo two"
}
job=$("$BERTH" submit -t 5m -o here/away sh -c "$(wait_to_go away.go)")
await 'the first line' grep -q one here/away
mv here/away here/moved
mkdir here/away
touch away.go
sleep 1.5
expect 'a job whose output can not be written' running "$(state "$job")"
rmdir here/away
expect_status 0 "$BERTH" wait "$job"
expect 'what was written before and after' 'one two' "$(cat here/moved here/away | xargs)"

# A pilot ends: what its jobs have said is still fetched. Where that can't be written, their ends say so.
job=$("$BERTH" submit -t 5m -o here/long sh -c 'exec 2>/dev/null; trap "seq 300000; exit 0" TERM; echo begun; while :; do sleep 0.05; done')
stuck=$("$BERTH" submit -t 5m -o here/stuck sh -c "$(wait_to_go stuck.go)")
await 'both to write' grep -q . here/long here/stuck
await 'the other to write' grep -q one here/stuck
rm here/stuck
mkdir here/stuck
touch stuck.go
sleep 0.5
expect_status 0 "$BERTH" pilot remove "$pilot"
await_state "$job" failed
{ echo begun; seq 300000; } | cmp - here/long || fail 'a pilot has ended before the output was there'
await_state "$stuck" done
"$BERTH" show "$stuck" | grep -q "its output is not complete: the node has left before the server had all of it" || fail "stuck: $("$BERTH" show "$stuck")"

# Its node dies: that some may be missing is said.
add_nodes 2
job=$("$BERTH" submit -t 5m -N 1 -o here/lost sh -c 'echo begun; exec sleep 1000')
await 'it to write' grep -q begun here/lost
node=$("$BERTH" show "$job" | sed -n 's/^resources *//p')
number=$(cat "$slurm/last")
power_loss "$pilot" "$number" "$node"
kill "$(cat "$slurm/pid.$number")"
node_is_down() {
    "$BERTH" nodes | grep -q "^$node  *down "
}
await 'the node to be down' node_is_down
expect_status 0 "$BERTH" drain --lost "$node"
await_state "$job" failed
"$BERTH" show "$job" | grep -q 'its output lacks what its node had not sent yet' || fail "lost: $("$BERTH" show "$job")"

# Nothing is left of it in the folders.
expect_status 0 "$BERTH" server stop
expect 'proofs that are left' 0 "$(proofs)"

finish
