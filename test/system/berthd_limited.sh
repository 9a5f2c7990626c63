#!/bin/sh
# A job that a limit keeps is told when it can go on: in lists, by show, by explain, as JSON and before it is submitted.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
mkdir -p "$BERTH_DIR"
cat >"$BERTH_DIR/berth.yaml" <<END
resources: {nodes: 4, cores: 1}
server: {imagined: yes}
queues: {few: {policy: easy, limits: {user: {node: 2}}}}
default-queue: few
END

# minutes JOB: of explain's estimate, from the start of job 1 on, to the nearest
minutes() {
    "$BERTH" explain --json "$1" | awk -v from="$started" '/^  "estimate": [0-9]/ { print int(($2 - from) / 60 + 0.5) }'
}
not_before() {
    "$BERTH" explain --json "$1" | sed -n 's/^  "not_before": \([^,]*\),*$/\1/p'
}

# kept_until JOB MINUTES REASON: nobody has promised it anything
kept_until() {
    expect "minutes that $1 waits" "$2" "$(minutes "$1")"
    expect "a bound of $1" true "$(not_before "$1")"
    expect "list $1" true "$("$BERTH" jobs --json "$1" | sed -n 's/.*"not_before":\([a-z]*\).*/\1/p')"
    "$BERTH" jobs --no-header "$1" | grep -q " after [0-9:]*  $3\$" || fail "list: $("$BERTH" jobs "$1")"
    "$BERTH" show "$1" | grep -q '^not before  *2[0-9-]* [0-9:]*$' || fail "show: $("$BERTH" show "$1")"
    "$BERTH" explain "$1" | head -n 1 | grep -q '\. It will not start within [0-9hms ]*, unless jobs end earlier than planned\.$' ||
        fail "explain: $("$BERTH" explain "$1")"
}

# Of two nodes that one user may have, the first is free again after 10 minutes, the second after 20.
expect_status 0 "$BERTH" submit -N 1 -t 10m sleep 1000
await_state 1 running
started=$(get 1 start)
expect_status 0 "$BERTH" submit -N 1 -t 20m sleep 2000
await_state 2 running
started=$("$BERTH" show --json 1 | sed -n 's/^ *"start": \([0-9.]*\),*$/\1/p')

# The first that the limit keeps is promised 20; both nodes are its own until 40.
expect_status 0 "$BERTH" submit -N 2 -t 20m true
expect "minutes of the promise" 20 "$(minutes 3)"
expect "a promise" false "$(not_before 3)"
"$BERTH" explain 3 | grep -q '^It waits for jobs to end: .* It has a reservation and will start in [0-9hms ]* at the latest\.$' ||
    fail "explain: $("$BERTH" explain 3)"

# Five minutes fit before that, half an hour doesn't.
expect_status 0 "$BERTH" submit -N 1 -t 5m true
kept_until 4 10 "its user's limit: 2 nodes"
expect_status 0 "$BERTH" submit -N 1 -t 30m true
kept_until 5 40 "its user's limit: 2 nodes"

# Of the members of an array that may run at once, the first to end makes room.
expect_status 0 "$BERTH" cancel --all
await "the end of all" sh -c "! '$BERTH' jobs --no-header | grep -q ."
expect_status 0 "$BERTH" submit --array 0-2 --hold -t 30m sleep 3000
expect_status 0 "$BERTH" submit --array '0-9%2' -t 30m sleep 3000
await_state '7[1]' running
started=$("$BERTH" show --json '7[0]' | sed -n 's/^ *"start": \([0-9.]*\),*$/\1/p')
kept_until 7 30 "the array's limit: 2 running"
expect_status 0 "$BERTH" update -t 15m '7[1]'
kept_until 7 15 "the array's limit: 2 running"

# Behind a member of unknown end and one of 20 minutes the time of the latter counts; behind two of unknown end nobody knows.
expect_status 0 "$BERTH" update -t unlimited --estimate unknown '7[1]'
kept_until 7 30 "the array's limit: 2 running"
expect_status 0 "$BERTH" update -t unlimited --estimate unknown '7[0]'
expect "a bound behind unknown ends" false "$(not_before 7)"
"$BERTH" explain 7 | grep -q ' Its start time is unknown\.$' || fail "explain: $("$BERTH" explain 7)"

# A gang that waits and has no room any more within the limit of another configuration is over, and says why everywhere; so
# does one of which a member fails.
expect_status 0 "$BERTH" cancel --all
gang=$("$BERTH" submit --gang 2 --hold -t 1m sleep 1000)
sed -i 's/node: 2/node: 1/' "$BERTH_DIR/berth.yaml"
expect_status 0 "$BERTH" server reload
await_state "$gang" failed
"$BERTH" explain "$gang" | grep -q '^It is over. Of its members: 2 failed. .*at most 1 node' || fail "explain: $("$BERTH" explain "$gang")"
"$BERTH" history --no-header | grep -q "^ *$gang\[0-1\].*its user's limit: 1 node\$" || fail "history: $("$BERTH" history)"
sed -i 's/node: 1/node: 2/' "$BERTH_DIR/berth.yaml"
expect_status 0 "$BERTH" server reload
gang=$("$BERTH" submit --gang 2 --wrap '[ $BERTH_ARRAY_INDEX = 1 ] || exit 3; sleep 1000')
await_state "$gang" failed
expect_status 0 "$BERTH" explain "$gang"
expect_line out 'It is over. Of its members: 2 failed: member 0 failed.'
"$BERTH" history --no-header | grep -q "^ *$gang\[0-1\].* 3 .*member 0 failed\$" || fail "history: $("$BERTH" history)"

# Nodes are counted as sets. The user's second job goes to the node that the first one is on, and not to an idle one; what has no
# room on the two waits for one of them, also where an idle one has room. No time is known before which it does not start.
expect_status 0 "$BERTH" server stop
BERTH_DIR=$scratch/sets
mkdir -p "$BERTH_DIR"
cat >"$BERTH_DIR/berth.yaml" <<END
resources: {nodes: 4, cores: 4}
server: {imagined: yes}
queues: {few: {policy: easy, limits: {user: {node: 2}}}}
default-queue: few
END
node() { # JOB
    await_state "$1" running
    get "$1" resources | tr -d '"' | sed 's:/.*::'
}
expect_status 0 "$BERTH" submit -c 1 -t 1h sleep 1000
expect_status 0 "$BERTH" submit -c 4 -t 1h sleep 1000
expect_status 0 "$BERTH" submit -c 1 -t 1h sleep 1000
first=$(node 1) second=$(node 2)
[ "$first" != "$second" ] || fail "one node for five cores: $first"
expect "where there is room within the limit" "$first" "$(node 3)"
expect_status 0 "$BERTH" submit -N 1 -x -t 1h sleep 1000
expect_status 0 "$BERTH" submit -c 4 -t 1h sleep 1000
await "a promise" sh -c "'$BERTH' jobs --no-header -o reason 4 | grep -q reserved"
await "a reason" sh -c "'$BERTH' jobs --no-header -o reason 5 | grep -q 'limit: 2 nodes'"
"$BERTH" jobs --no-header 5 | grep -q '  pending  *1  *4  *0  *its user.s limit: 2 nodes *$' || fail "list: $("$BERTH" jobs 5)"
expect_status 1 "$BERTH" submit -N 3 sleep 1000
expect_line err "berth submit: jobs of user $(id -un) in queue few may have at most 2 nodes at once"
expect_status 0 "$BERTH" submit -c 2 -t 1h sleep 1000
expect "behind it, within the limit" "$first" "$(node 6)"
finish
