#!/bin/sh
# What jobs have used, of real ones: their records say from when to when they ran.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
machine 8 "accounts: {lab: {users: [$(id -un)]}, other: {users: [$(id -un)]}}"
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

expect_status 0 "$BERTH" report --by account
expect accounts 'lab other' "$(awk 'NR > 1 && $1 != "all" { print $1 }' out | sort | tr '\n' ' ' | sed 's/ $//')"
expect "all" 2 "$(awk '$1 == "all" { print $2 }' out)"
expect_status 0 "$BERTH" report --until 1d
expect "a day ago" 1 "$(wc -l <out)"
expect_status 2 "$BERTH" report --by day,week
expect_err "berth report: --by is 'day,week', expected user, account, queue, and one of day, week, month; see 'berth report --help'"
expect_status 2 "$BERTH" report --since never
expect_status 2 "$BERTH" report 17
finish
