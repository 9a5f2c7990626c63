#!/bin/sh
# What jobs have used, of real ones: their records say from when to when they ran.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
mkdir -p "$BERTH_DIR"
cat >"$BERTH_DIR/berth.yaml" <<END
resources: {nodes: 1, cores: 8, memory: 2}
queues: {batch: {policy: easy}}
accounts: {lab: {users: [$(id -un)]}, other: {users: [$(id -un)]}}
END
expect_status 0 "$BERTH" run -c 4 sleep 0.5
expect_status 3 "$BERTH" run -A other -c 2 sh -c 'exit 3'
expect_status 0 "$BERTH" report --json
expect jobs 2 "$(sed -n 's/.*"jobs":\([0-9]*\).*/\1/p' out)"
expect failed 1 "$(sed -n 's/.*"failed":\([0-9]*\).*/\1/p' out)"

# Seconds that the jobs held their cores, worked out from the records.
seconds=$(for job in 1 2; do
    echo "$(get $job end) $(get $job start) $(get $job cores)"
done | awk '{ sum += ($1 - $2) * $3 } END { printf "%.3f", sum }')
got=$(sed -n 's/.*"core_seconds":\([0-9.]*\).*/\1/p' out)
awk -v a="$seconds" -v b="$got" 'BEGIN { exit !(a > 1.9 && a - b < 0.01 && b - a < 0.01) }' ||
    fail "core seconds: $got of $seconds: $(cat out)"

# What a job has used of what it held: one of two cores, for nearly all of the time.
if [ "$(nproc)" -ge 2 ]; then
    expect_status 124 "$BERTH" run -A other -c 2 --mem 1G timeout 1 sh -c 'while :; do :; done'
    "$BERTH" show 3 | awk '$1 == "cpu" && $2 == "used" { found = $3 + 0 > 0 && $3 + 0 < 60 } END { exit !found }' ||
        fail "cpu used: $("$BERTH" show 3)"
    "$BERTH" show 3 | grep -q '^memory used *[0-9]*% of what was asked for$' || fail "memory used: $("$BERTH" show 3)"
fi

expect_status 0 "$BERTH" report --by account
expect accounts 'lab other' "$(awk 'NR > 1 && $1 != "all" { print $1 }' out | sort | tr '\n' ' ' | sed 's/ $//')"
expect "all" 3 "$(awk '$1 == "all" { print $2 }' out)"
expect_status 0 "$BERTH" report --until 1d
expect "a day ago" 1 "$(wc -l <out)"
expect_status 2 "$BERTH" report --by day,week
expect_err "berth report: --by is 'day,week', expected user, account, queue, and one of day, week, month; see 'berth report --help'"
expect_status 2 "$BERTH" report --since never
expect_status 2 "$BERTH" report 17
finish
