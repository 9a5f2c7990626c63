#!/bin/sh
# A keeper that is stopped, one whose journal is gone, and jobs of more tasks than they have cores.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
machine 3

keeper() {
    called berth-keeper | head -n 1
}

says() { # WORDS: the server's notices have them
    api GET /v1/server | grep -q "$1"
}

says_nothing_of() {
    ! says "$1"
}

# Stopped while the daemon runs, and while the next one begins: requests are answered, and jobs start when it goes on.
a=$("$BERTH" submit sh -c "until [ -e '$scratch/go' ]; do sleep 0.02; done; exit 3")
await_state "$a" running
kill -STOP "$(keeper)"
b=$("$BERTH" submit sh -c "echo x >>'$scratch/b'")
await "the keeper to be told of as stopped" says 'no job starts or ends: the keeper, process [0-9]*, is stopped'
expect_status 0 "$BERTH" jobs
crash
expect_status 0 "$BERTH" server start
await "the next one to tell of it" says 'is stopped'
c=$("$BERTH" submit sh -c "echo x >>'$scratch/c'")
expect "one that was started" running "$(state "$a")"
expect "one that waits" pending "$(state "$c")"
kill -CONT "$(keeper)"
expect_status 0 "$BERTH" wait "$b"
expect_status 0 "$BERTH" wait "$c"
expect "its starts" x "$(cat b)"
expect "the starts of the other" x "$(cat c)"
await "the notice to go" says_nothing_of 'is stopped'
expect "one that runs on" running "$(state "$a")"

# The journal is removed and the keeper killed: what runs keeps its cores until it has ended.
rm "$BERTH_DIR/keeper/keeper.journal"
kill -9 "$(keeper)"
d=$("$BERTH" submit true)
expect_status 0 "$BERTH" wait "$d"
expect "what runs" running "$(state "$a")"
expect_status 0 "$BERTH" run -c 2 true
e=$("$BERTH" submit -c 3 true)
expect "one that needs its core" pending "$(state "$e")"
: >go
await_state "$a" failed
expect "how it ended" '"lost: its end was not observed"' "$(get "$a" reason)"
expect_status 0 "$BERTH" wait "$e"

# A task for each core, unless more are allowed and asked for.
spec() { # TASKS
    cat >spec.yaml <<END
version: 9999
resources: [{type: slot, count: 1, label: s, with: [{type: core, count: 1}]}]
tasks: [{command: [sh, -c, 'echo x >>$scratch/tasks'], slot: s, count: {total: $1}}]
attributes: {}
END
}
spec 70000
expect_status 1 "$BERTH" submit --jobspec spec.yaml
expect_err 'berth submit: key "jobspec": expected at most 1 task for its cores, got 70000'
expect_status 1 "$BERTH" submit --overcommit --jobspec spec.yaml
expect_err 'berth submit: key "jobspec": expected at most 1 task for its cores, got 70000'
machine 3 'server: {tasks-per-core: 40}'
expect_status 0 "$BERTH" server reload
spec 40
expect_status 1 "$BERTH" submit --jobspec spec.yaml
expect_err 'berth submit: key "jobspec": expected at most 1 task for its cores, got 40 (more with "overcommit")'
f=$("$BERTH" submit --overcommit --jobspec spec.yaml)
expect_status 0 "$BERTH" wait "$f"
expect "its tasks" 40 "$(wc -l <tasks)"
finish
