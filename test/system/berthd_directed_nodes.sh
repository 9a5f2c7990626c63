#!/bin/sh
# Slurm loses nodes and gets them back, also while there is no server: what runs on the others is found again where it is, and what
# ran there is lost by proof.
. "$BERTH_SOURCE/test/daemon.sh"
. "$BERTH_SOURCE/test/system/fake_directed.sh"
cd "$scratch" || exit 1
directed_machine
expect_status 0 "$BERTH" server start

submit_on() { # NODE NAME
    "$BERTH" submit -t 10m --requires "{\"hostlist\": [\"$1\"]}" sh -c "echo $2 >>starts; until [ -e go ]; do sleep 0.1; done"
}
begun() { # NAME
    grep -qsx "$1" starts
}
are() { # NAMES: of all nodes there are
    [ "$("$BERTH" nodes | sed 1d | awk '{ print $1 }' | xargs)" = "$1" ]
}
used() { # NODE
    "$BERTH" nodes --json | grep "\"name\":\"$1\"" | sed 's/.*"cores_used":\([0-9]*\).*/\1/'
}
place() { # JOB
    get "$1" resources
}
restart() {
    crash
    expect_status 0 "$BERTH" server start
}

# The first node goes while there is no server; its neighbour's job keeps its core, and the other core is another job's.
stays=$(submit_on f2 stays)
await 'it to begin' begun stays
at=$(place "$stays")
crash
touch "$slurm/gone.f1"
expect_status 0 "$BERTH" server start
await 'one node' are f2
expect 'where it is' "running $at" "$(state "$stays") $(place "$stays")"
beside=$(submit_on f2 beside)
await 'the other to begin' begun beside
[ "$(place "$beside")" != "$at" ] || fail "two on $at"
expect 'cores in use' 2 "$(used f2)"
restart
await 'one node' are f2
expect 'where both are' "running $at running" "$(state "$stays") $(place "$stays") $(state "$beside")"
expect 'cores in use' 2 "$(used f2)"

# It comes back, and is the same to none of them.
rm "$slurm/gone.f1"
await 'both nodes' are 'f1 f2'
restart
await 'both nodes' are 'f1 f2'
expect 'where it is' "running $at" "$(state "$stays") $(place "$stays")"
expect 'cores in use' '0 2' "$(used f1) $(used f2)"

# One runs there when it goes for ever: that is no proof, until somebody says so.
lost=$(submit_on f1 lost)
await 'it to begin' begun lost
id=$(cat "$slurm/last")
crash
touch "$slurm/gone.f1"
echo 'NODE_FAIL None' >"$slurm/job.$id"
expect_status 0 "$BERTH" server start
is_down() {
    "$BERTH" nodes | grep -q '^f1 *down '
}
await 'its node to be down' is_down
expect 'what nobody knows of' running "$(state "$lost")"
restart
await 'its node to be down' is_down
expect 'the same after a restart' running "$(state "$lost")"
expect_status 0 "$BERTH" drain --lost f1
await_state "$lost" failed
await 'the node to be gone' are f2
expect 'where the others are' "running $at 2" "$(state "$stays") $(place "$stays") $(used f2)"

touch go
expect_status 0 "$BERTH" wait "$stays" "$beside"
expect 'starts' 'beside lost stays' "$(sort starts | xargs)"
finish
