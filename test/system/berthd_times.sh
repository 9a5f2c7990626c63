#!/bin/sh
# Limits and estimates in the words of the command line: unlimited, unknown, and what a queue says of jobs that name neither.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
mkdir -p "$BERTH_DIR"
cat >"$BERTH_DIR/berth.yaml" <<END
resources: {nodes: 1, cores: 16}
queues:
  batch: {policy: easy}
  capped: {policy: easy, default-limit: 1h}
  free: {policy: easy, default-limit: unlimited, default-duration: 20m}
  dark: {policy: easy, default-duration: unknown}
  short: {policy: easy, default-limit: 2h, default-duration: 5m, limits: {job: {duration: 15m}}}
default-queue: batch
END

# known LIMIT PLANNED OPTION...: those of a job that is submitted with these options, in seconds or null
known() {
    wanted="$1 $2"
    shift 2
    expect_status 0 "$BERTH" submit "$@" sleep 1000
    [ -s err ] && fail "submit $*: $(cat err)"
    job=$(cat out)
    expect "limit and estimate with $*" "$wanted" "$(get "$job" limit) $(get "$job" planned)"
}
known null 3600 -c 1
known null 3600 -t unlimited
known null 1800 --estimate 30m
known null 1800 -t unlimited --estimate 30m
known null null --estimate unknown
known null null -t unlimited --estimate unknown
known 7200 7200 -t 2h
known 7200 1800 -t 2h --estimate 30m
known 7200 7200 -t 2h --estimate unknown
known 3600 3600 -q capped
known null 3600 -q capped -t unlimited
known 3600 600 -q capped --estimate 10m
known null 1200 -q free
known null null -q dark
known 900 900 -q short
expect_status 0 "$BERTH" cancel "$job"
known 600 600 -q dark -t 10m

# The table of queues says what such jobs get.
"$BERTH" queues >out
expect "heads" "QUEUE POLICY PRIORITY TIME LIMIT ESTIMATE PENDING" "$(head -n 1 out | xargs | cut -d ' ' -f 1-7)"
for row in 'batch unlimited 1:00:00' 'capped 1:00:00 1:00:00' 'free unlimited 20:00' 'dark unlimited unknown' 'short 15:00 15:00'; do
    expect "$row" "$row" "$(awk -v queue="${row%% *}" '$1 == queue { print $1, $4, $5 }' out)"
done

# What is left of a job's limit, or about what it is expected to take; who waits behind one of unknown end is told so.
running=$("$BERTH" submit -c 1 -t 2h sleep 1000)
await_state "$running" running
"$BERTH" jobs --no-header "$running" | grep -q ' 1:59:[0-9]* left' || fail "what is left: $("$BERTH" jobs "$running")"
"$BERTH" jobs --no-header "$running" | grep -q about && fail "a limit is no guess: $("$BERTH" jobs "$running")"
expect_status 0 "$BERTH" update -t unlimited --estimate 90m "$running"
"$BERTH" jobs --no-header "$running" | grep -q 'about 1:29:[0-9]* left' ||
    fail "what is left of an estimate: $("$BERTH" jobs "$running")"
expect_status 0 "$BERTH" update --estimate unknown "$running"
"$BERTH" jobs --no-header "$running" | grep -q left && fail "of nothing, there is something left"
waits=$("$BERTH" submit -c 16 -t 1h true)
expect_status 0 "$BERTH" explain "$waits"
grep -q "^ *$running .* unknown " out || fail "nobody knows when $running ends, but: $(cat out)"
expect_status 0 "$BERTH" explain --json "$waits"
grep -q '"until": null' out || fail "nobody knows when $running ends, but: $(cat out)"
"$BERTH" cancel "$waits" "$running" >out

# The client doesn't know the limit of a queue: the server does.
expect_status 1 "$BERTH" submit -q capped --estimate 2h sleep 1000
expect_err 'berth submit: the estimate is longer than the time limit: default-limit 3600 of queue capped'

# They can be changed while the job runs. A limit alone is the estimate, too.
await_state "$job" running
expect_status 0 "$BERTH" update -t 2h "$job"
expect "limit and estimate, changed" '7200 7200' "$(get "$job" limit) $(get "$job" planned)"
expect_status 0 "$BERTH" update --estimate 30m "$job"
expect "limit and estimate, changed again" '7200 1800' "$(get "$job" limit) $(get "$job" planned)"
expect_status 1 "$BERTH" update --estimate 3h "$job"
grep -q 'the estimate is longer than the time limit$' err || fail "update: $(cat err)"
expect_status 0 "$BERTH" update -t unlimited "$job"
expect "no limit" 'null 1800' "$(get "$job" limit) $(get "$job" planned)"
expect_status 0 "$BERTH" update --estimate unknown "$job"
expect "no limit and no estimate" 'null null' "$(get "$job" limit) $(get "$job" planned)"
expect_status 2 "$BERTH" update -t forever "$job"
expect_err "berth update: --time-limit is 'forever', expected a duration such as 90 or 1h30m, or unlimited; see 'berth update --help'"

# All of that is kept over a crash.
crash
expect_status 0 "$BERTH" server start
expect "no limit and no estimate, later" 'null null' "$(get "$job" limit) $(get "$job" planned)"

finish
