#!/bin/sh
# Resources set aside while the server runs, as an administrator would.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
TZ=Europe/Berlin # a client's dates are those of its own clock
export TZ
machine 4
expect_status 0 "$BERTH" run true

# What the command line may not say.
wrong() { # MESSAGE ARGUMENT...
    message=$1
    shift
    expect_status 2 "$BERTH" block "$@"
    expect_err "berth block: $message; see 'berth block --help'"
}
wrong 'no action given, expected add, list or remove'
wrong "unknown action 'delete', expected add, list or remove" delete x
wrong 'add takes a name and resources' add disks --duration 4h
wrong 'add takes --end or --duration, got neither' add disks all
wrong 'add takes --end or --duration, not both' add disks all --duration 4h --end +4h
wrong "--start is 'yesterday', expected a date such as 2026-12-24T18:00, 18:00, +2h or @SECONDS" \
    add disks all --start yesterday --duration 4h
wrong "--start is '2026-13-01', expected a date such as 2026-12-24T18:00, 18:00, +2h or @SECONDS" \
    add disks all --start 2026-13-01 --duration 4h
wrong "--start is '@0x10', expected a date such as 2026-12-24T18:00, 18:00, +2h or @SECONDS" \
    add disks all --start @0x10 --duration 4h
wrong "--duration is 'long', expected a duration such as 90, 2h, 1d or 1w" add disks all --duration long
wrong "--permit is 'ann', expected user:NAME, queue:NAME or job:ID" add disks all --duration 4h --permit ann
wrong 'remove takes the name of a block' remove
expect_status 1 "$BERTH" block add disks node7 --duration 4h
expect_err 'berth block: block disks: no such resource: node7'
expect_status 1 "$BERTH" block add disks all --start 2020-01-01 --duration 4h
expect_err 'berth block: key "duration": expected a time that has not passed'
for job in abc 77 01 1x; do
    expect_status 1 "$BERTH" block add disks all --duration 4h --permit "job:$job"
    expect_err "berth block: key \"jobs\": there is no job \"$job\" that waits or runs"
done
expect_status 1 "$BERTH" block remove disks
expect_err 'berth block: there is no block "disks"'

# Jobs are planned around one that comes.
expect_status 0 "$BERTH" block add disks all --start +1h --duration 30m
long=$("$BERTH" submit -t 2h sleep 1000)
short=$("$BERTH" submit -t 30m true)
expect_status 0 "$BERTH" wait "$short"
expect "a job that would last into the block" pending "$(state "$long")"
expect_status 0 "$BERTH" block list
grep -q '^disks  *all  *planned ' out || fail "block list: $(cat out)"

"$BERTH" explain "$long" | grep -q '^It waits for block disks to be over, which is in 1h [23][0-9]m' ||
    fail "explain: $("$BERTH" explain "$long")"

# It is kept over a crash.
crash
expect_status 0 "$BERTH" server start
expect "a job that would last into the block, later" pending "$(state "$long")"
expect_status 0 "$BERTH" block remove disks
await_state "$long" running
expect_status 0 "$BERTH" cancel "$long"

# Dates are local: this one is 17:00 in Greenwich. Whose jobs may use it is told.
expect_status 0 "$BERTH" block add feast node0 --start 2090-12-24T18:00 --end 2090-12-25 --every 1w \
    --permit queue:batch --permit user:ann
expect_status 0 "$BERTH" block list
grep -q '^feast  *node0  *planned  *2090-12-24 18:00:00  *2090-12-25 00:00:00  *7-00:00:00  *user:ann,queue:batch$' out ||
    fail "block list: $(cat out)"
expect_status 0 "$BERTH" block list --json
grep -q "\"start\": $(date -u -d '2090-12-24 17:00' +%s)," out || fail "the start is not local time: $(cat out)"
expect_status 1 "$BERTH" block add feast node0 --duration 1
expect_err 'berth block: key "name": there is a block "feast" already: remove it first, or choose another name'

held=$("$BERTH" submit --hold true)
expect_status 0 "$BERTH" block add own node0 --start +9h --duration 1h --permit "job:$held"
"$BERTH" block list | grep -q "^own .* job:$held\$" || fail "block list: $("$BERTH" block list)"
expect_status 0 "$BERTH" block remove own
expect_status 0 "$BERTH" cancel "$held"

# Whoever has no limit, and nobody knows how long it takes, fits nowhere.
expect_status 0 "$BERTH" block add weekly all --start +1h --duration 1h --every 1w
expect_status 1 "$BERTH" submit --estimate unknown sleep 1000
expect_err 'berth submit: block weekly recurs: give a time limit'

# What waits for it to be over is not told that it is stopped when it begins, but when the next one does.
weekly() { # when it begins, in seconds since 1970
    "$BERTH" block list --json | tr -d ' \n' | sed 's/.*"name":"weekly",[^}]*"start":\([0-9]*\).*/\1/'
}
expect_status 0 "$BERTH" submit --estimate 90m sleep 1000
expect_line err "berth submit: it has no time limit: it is stopped when block weekly begins, at $(date -d "@$(($(weekly) + 604800))" '+%Y-%m-%d %H:%M:%S')"
late=$(cat out)
"$BERTH" explain "$late" | grep -q ' It has no time limit: it is stopped when block weekly begins, in 7d' ||
    fail "explain: $("$BERTH" explain "$late")"
expect_status 0 "$BERTH" block remove weekly
expect_status 0 "$BERTH" cancel "$late"

# Where there is none after it, nothing stops it.
expect_status 0 "$BERTH" block add once all --start +1h --duration 1h
expect_status 0 "$BERTH" submit --estimate 90m sleep 1000
[ -s err ] && fail "submission: $(cat err)"
late=$(cat out)
"$BERTH" explain "$late" | grep -q 'is stopped when block' && fail "explain: $("$BERTH" explain "$late")"
expect_status 0 "$BERTH" block remove once
expect_status 0 "$BERTH" cancel "$late"

# One without a limit is told at its submission that a block stops it, and is stopped when that begins.
expect_status 0 "$BERTH" block add soon all --start +4s --duration 1h
expect_status 0 "$BERTH" submit --estimate 1 sleep 1000
grep -q '^berth submit: it has no time limit: it is stopped when block soon begins, at 20' err || fail "submission: $(cat err)"
endless=$(cat out)
await_state "$endless" running
"$BERTH" explain "$endless" | grep -q ' It has no time limit: it is stopped when block soon begins' ||
    fail "explain: $("$BERTH" explain "$endless")"
await_state "$endless" timeout
"$BERTH" show "$endless" | grep -q '^reason  *block soon$' || fail "show: $("$BERTH" show "$endless")"
"$BERTH" explain "$endless" | grep -q '^It was stopped for block soon after [0-9]*s\.$' ||
    fail "explain: $("$BERTH" explain "$endless")"
"$BERTH" history | grep -q 'timeout.*block soon' || fail "history: $("$BERTH" history "$endless")"
expect_status 0 "$BERTH" block remove soon

# Those of the configuration are listed, and changed there.
echo 'blocks: [{name: own, resources: node0, start: 3000000000, duration: 1h}]' >>"$BERTH_DIR/berth.yaml"
expect_status 0 "$BERTH" server reload
expect_status 0 "$BERTH" block list
expect "blocks" 'own feast ' "$(awk 'NR > 1 { printf "%s ", $1 }' out)"
expect_status 1 "$BERTH" block remove own
expect_err 'berth block: block "own" is in the configuration: remove it there, and reload'
sed -i 's/start: 3000000000/start: 2026-02-29/' "$BERTH_DIR/berth.yaml"
expect_status 1 "$BERTH" server reload
grep -q 'key "start": expected a date such as 2026-12-24T18:00, or seconds, up to 100 years, got "2026-02-29"$' err ||
    fail "a day that there isn't: $(cat err)"
sed -i 's/start: 2026-02-29/start: 2060-12-24T18:00/' "$BERTH_DIR/berth.yaml"
expect_status 0 "$BERTH" server reload
"$BERTH" block list | grep -q '^own .* 2060-12-24 18:00:00  2060-12-24 19:00:00' || fail "block list: $("$BERTH" block list)"
sed -i 's/name: own/name: feast/' "$BERTH_DIR/berth.yaml"
expect_status 1 "$BERTH" server reload
expect_err 'berth server: block "feast": "berth block" has added one of this name: remove that first, or choose another name'

# Starts in the listing: promised, expected, and of one that is promised nothing before when it does not start.
first=$("$BERTH" submit -c 4 -t 1h sleep 1000)
second=$("$BERTH" submit -c 4 -t 30m sleep 1000)
third=$("$BERTH" submit -c 4 -t 30m sleep 1000)
when() { # JOB TEXT
    "$BERTH" jobs --no-header "$1" | grep -q " $2 *$"
}
await "a promised start" when "$second" 'in [15][0-9:]*  *reserved'
await "a start that is no promise" when "$third" 'after 1:[23][0-9]:[0-9][0-9]  *waits for cores'
"$BERTH" jobs --json "$third" | grep -q '"estimate":[0-9.]*,"not_before":true' || fail "jobs: $("$BERTH" jobs --json "$third")"
expect_status 0 "$BERTH" cancel "$third" "$second"
expect_status 0 "$BERTH" update -t unlimited --estimate 40m "$first"
fourth=$("$BERTH" submit -c 1 -t 30m true)
await "an expected start" when "$fourth" 'in [34][0-9:]*  *expected'

finish
