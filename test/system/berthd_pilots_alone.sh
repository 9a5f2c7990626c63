#!/bin/sh
# Slurm ends a pilot while there is no server: what runs there is ended all the same, and nothing is left on the node.
. "$BERTH_SOURCE/test/daemon.sh"
. "$BERTH_SOURCE/test/system/fake_slurm.sh"
cd "$scratch" || exit 1
TMPDIR=$scratch
export TMPDIR
machine 1

is_up() { # PILOT
    "$BERTH" pilot show "$1" | grep -q ' up '
}
expect_status 0 "$BERTH" pilot add slurm --time 1h
pilot=$(sed 's/^pilot \([0-9]*\),.*/\1/' out)
await 'a node' is_up "$pilot"
job=$("$BERTH" submit -t 5m -c 2 sh -c 'echo $$ >pid; exec sleep 1000')
await 'the job to begin' test -s pid
folder_of() { # PILOT: its keeper's folder on f1
    echo "/tmp/berth-$1-f1-$(b2sum -l 128 <"$BERTH_DIR/pilots/$1/key" | cut -d' ' -f1)"
}
folder=$(folder_of "$pilot")
[ -d "$folder" ] || fail 'the node has no folder'

for name in berth berthd berth-gate; do
    for pid in $(called $name); do
        kill -9 "$pid"
    done
done
"$slurm/bin/scancel" 101
agents_gone() {
    [ -z "$(called berth-agent)" ]
}
await 'the agent to be gone' agents_gone
kill -0 "$(cat pid)" 2>/dev/null && fail 'the job runs on'
[ -e "$folder" ] && fail 'the folder is left'

# The server learns it from Slurm.
expect_status 0 "$BERTH" server start
await_state "$job" failed

# The same of one that leaves as it should.
expect_status 0 "$BERTH" pilot add slurm --time 1h
pilot=$(sed 's/^pilot \([0-9]*\),.*/\1/' out)
await 'a node' is_up "$pilot"
folder=$(folder_of "$pilot")
[ -d "$folder" ] || fail 'the node has no folder'
expect_status 0 "$BERTH" pilot remove "$pilot"
await 'the agent to be gone' agents_gone
[ -e "$folder" ] && fail 'the folder is left'

# The first process of an agent is killed, as Slurm kills what it does not know any more: the other one leaves as well, with
# all that runs there.
expect_status 0 "$BERTH" pilot add slurm --time 1h
pilot=$(sed 's/^pilot \([0-9]*\),.*/\1/' out)
await 'a node' is_up "$pilot"
rm pid
job=$("$BERTH" submit -t 5m -c 2 sh -c 'echo $$ >pid; exec sleep 1000')
await 'the job to begin' test -s pid
kill -9 "$(cat "$slurm/agent.$(cat "$slurm/last").f1")"
await 'the agent to be gone' agents_gone
kill -0 "$(cat pid)" 2>/dev/null && fail 'the job runs on'
await_state "$job" failed
finish
