#!/bin/sh
# A trace on named cores: the starts are those of a flat machine, under every policy and in both orders of the events of
# an instant, and no core ever has two jobs. With BERTH_FEW, of one order and one choice of cores.
. "$BERTH_SOURCE/test/lib.sh"
need_shared traces/KTH-SP2-1996-2.swf.gz
trace=$BERTH_SHARED/traces/KTH-SP2-1996-2.swf.gz
policies=fcfs,easy,hybrid,conservative
orders='batched per-event'
choices='low lonode first'
schedules=24
[ -n "${BERTH_FEW:-}" ] && orders=per-event choices=lonode schedules=4
cd "$scratch" || exit 1
grug 10 10 >machine.graphml

compared=0
for events in $orders; do
    expect_status 0 "$BERTH" sim --procs 100 --events "$events" --policy $policies --jobs flat.csv "$trace"
    for match in $choices; do
        expect_status 0 "$BERTH" sim --machine machine.graphml --match-policy "$match" --events "$events" \
            --policy $policies --jobs named.csv "$trace"
        for policy in fcfs easy hybrid conservative; do
            cut -d, -f1-7 named.$policy.csv | cmp - flat.$policy.csv ||
                fail "$events $policy $match: other starts on named cores"
            check_alloc named.$policy.csv 100
            compared=$((compared + 1))
        done
    done
done
[ "$compared" -eq $schedules ] || fail "$compared schedules compared"
finish
