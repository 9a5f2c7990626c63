#!/bin/sh
# Jobs without a time limit, and nodes that are taken back: such a job is planned by its estimate, is told at once that it is
# stopped before the end, and is.
. "$BERTH_SOURCE/test/daemon.sh"
. "$BERTH_SOURCE/test/system/fake_slurm.sh"
cd "$scratch" || exit 1
TMPDIR=$scratch
export TMPDIR
machine 1
is_up() { # PILOT NODES
    [ "$("$BERTH" pilot show "$1" | grep -c ' up ')" = "$2" ]
}
expect_status 0 "$BERTH" pilot add slurm --time 1h
await 'a node' is_up 1 1

# By default its estimate is an hour, which does not fit any more: it waits, and is promised nothing.
expect_status 0 "$BERTH" submit --test-only -c 2 sleep 1000
grep -q 36500 out && fail "a century is no time to tell: $(cat out)"
expect_status 0 "$BERTH" submit -c 2 sleep 1000
long=$(cat out)
[ -s err ] && fail "told that what it does not start before stops it: $(cat err)"
says() { # JOB TEXT
    "$BERTH" explain "$1" >told && grep -q "$2" told
}
await 'the reason to be told' says "$long" '^It waits for other nodes: those of block pilot-1 are taken back before it would end\.'
grep -q ' It would start now with a time limit of ' told || fail "explain: $(cat told)"
grep -q 36500 told && fail "a century is no time to tell: $(cat told)"
expect_status 0 "$BERTH" jobs
grep -q 'block pilot-1$' out || fail "jobs: $(cat out)"

# One that takes a few seconds starts, also behind it.
expect_status 0 "$BERTH" submit -c 2 --estimate 5s sleep 1000
short=$(cat out)
grep -q '^berth submit: it has no time limit: it is stopped when block pilot-1 begins, at 20' err || fail "submission: $(cat err)"
await_state "$short" running
again=$("$BERTH" submit -c 2 --estimate 10m sleep 1000 2>/dev/null)

expect_status 0 "$BERTH" block list
grep -q '^pilot-1 .* never' out || fail "the block: $(cat out)"

# The end comes nearer. A minute before it a job without a limit that has taken longer than its estimate is stopped.
expect_status 0 "$BERTH" explain "$short"
grep -q ' It has no time limit: it is stopped when block pilot-1 begins, in ' out || fail "explain: $(cat out)"
api PATCH /v1/pilots/1 -d "{\"end\": $(($(date +%s) + 63))}" >changed || fail "another end: $(cat changed)"
await_state "$short" timeout
says "$short" 'block pilot-1' || fail "why it was stopped: $(cat told)"
"$BERTH" show "$short" | grep -q '^reason  *block pilot-1' || fail "why it was stopped: $("$BERTH" show "$short")"
expect 'a job that would outlast what is left' pending "$(state "$again")"
expect 'a job that would outlast what is left' pending "$(state "$long")"

# By a rule no pilot is asked for that would be too short for it.
expect_status 0 "$BERTH" pilot auto slurm --max-nodes 1 --time 30m --dry-run
grep -q "^Job $long: No pilot can run it: it may run for longer than the 28m that a pilot has for jobs\." out ||
    fail "a rule: $(cat out)"
finish
