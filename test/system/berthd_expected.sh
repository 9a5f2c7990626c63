#!/bin/sh
# A start that others may put off by taking longer than expected is told as expected, one that they can't as promised: in lists,
# by show, by explain, as JSON and as a table, in events, and after a restart.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
mkdir -p "$BERTH_DIR"
cat >"$BERTH_DIR/berth.yaml" <<END
resources: {nodes: 2, cores: 2}
server: {imagined: yes}
END

# explained JOB: the value of "expected" in what explain says as JSON, nothing if there is none
explained() {
    "$BERTH" explain --json "$1" | sed -n 's/^  "expected": \([^,]*\),*$/\1/p'
}

# reason JOB, and the word of its last reservation's event
reason() {
    "$BERTH" jobs --no-header -o reason "$1" | xargs
}
event() {
    "$BERTH" show "$1" | grep 'reserved, start' | tail -n 1 | sed -n 's/.*, \(expected\)$/\1/p'
}

told_expected() { # JOB
    expect "list" expected "$(reason "$1")"
    expect "list as JSON" true "$("$BERTH" jobs --json "$1" | sed -n 's/.*"expected":\([a-z]*\).*/\1/p')"
    expect "show" true "$(get "$1" expected)"
    expect "explain as JSON" true "$(explained "$1")"
    "$BERTH" explain "$1" | grep -q ' It is expected to start in [0-9ms ]*, later if others take longer than expected\.$' ||
        fail "explain: $("$BERTH" explain "$1")"
    drawn expected
}

# drawn WORD: that is in the title of job 2 in a picture of jobs
drawn() {
    "$BERTH" history --plot jobs.svg --plot-by state
    grep -o '<title>2 [^<]*' jobs.svg | grep -q " $1 " || fail "picture: $(grep -o '<title>[^<]*' jobs.svg)"
}

told_promised() { # JOB
    expect "list" reserved "$(reason "$1")"
    expect "list as JSON" "" "$("$BERTH" jobs --json "$1" | sed -n 's/.*"expected":\([a-z]*\).*/\1/p')"
    expect "show" "" "$(get "$1" expected)"
    expect "explain as JSON" "" "$(explained "$1")"
    "$BERTH" explain "$1" | grep -q ' It has a reservation and will start in [0-9hms ]* at the latest\.$' ||
        fail "explain: $("$BERTH" explain "$1")"
    drawn promised
}

# 1 has no limit, and is expected to run for ten minutes: what 2 is told is expected.
expect_status 0 "$BERTH" submit -N 2 -x --estimate 10m sleep 1000
await_state 1 running
expect_status 0 "$BERTH" submit -N 2 -x -t 5m sleep 1000
told_expected 2
expect "event" expected "$(event 2)"
expect_status 0 "$BERTH" server stop
expect_status 0 "$BERTH" server start
told_expected 2

# With a limit of ten minutes it is promised.
expect_status 0 "$BERTH" update -t 10m 1
await "the promise" sh -c "'$BERTH' jobs --no-header -o reason 2 | grep -q reserved"
told_promised 2
expect "event" "" "$(event 2)"

# And without one expected again.
expect_status 0 "$BERTH" update -t unlimited --estimate 10m 1
await "the expectation" sh -c "'$BERTH' jobs --no-header -o reason 2 | grep -q expected"
told_expected 2

# Of an array one member is promised a time. The others start no sooner, and nothing else is told of them.
expect_status 0 "$BERTH" submit -N 2 -x -t 1h --array 3 --priority 5 sleep 1000
await "a member's promise" sh -c "'$BERTH' jobs -r --no-header -o reason '3[0]' | grep -q expected"
expect_status 0 "$BERTH" update -t 10m 1
await "a member's promise" sh -c "'$BERTH' jobs -r --no-header -o reason '3[0]' | grep -q reserved"
for member in 1 2; do
    expect "why $member waits" 'waits for nodes' "$("$BERTH" jobs -r --no-header -o reason "3[$member]" | xargs)"
    "$BERTH" jobs -r --no-header "3[$member]" | grep -q ' after [0-9:]*  *waits for nodes' ||
        fail "list: $("$BERTH" jobs -r "3[$member]")"
    "$BERTH" jobs -r --json "3[$member]" | grep -q '"not_before":true' || fail "list as JSON: $("$BERTH" jobs -r --json "3[$member]")"
    expect "show of $member" true "$(get "3[$member]" not_before)"
    "$BERTH" explain "3[$member]" | grep -q ' It will not start within [0-9ms ]*, unless jobs end earlier than planned\.$' ||
        fail "explain: $("$BERTH" explain "3[$member]")"
    "$BERTH" explain --json "3[$member]" | grep -q '"not_before": true' || fail "explain as JSON: $("$BERTH" explain --json "3[$member]")"
done
"$BERTH" jobs -r --no-header '3[0]' | grep -q ' in [0-9:]*  *reserved' || fail "list: $("$BERTH" jobs -r '3[0]')"
"$BERTH" jobs --no-header 3 | grep -q ' in [0-9:]*  *reserved' || fail "list: $("$BERTH" jobs 3)"
expect "show of the first" false "$(get '3[0]' not_before)"
"$BERTH" explain 3 | grep -q ' It has a reservation and will start in [0-9ms ]* at the latest\.$' || fail "explain: $("$BERTH" explain 3)"
finish
