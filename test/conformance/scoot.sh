#!/bin/sh
# Recorded and derived cases of Scoot's scheduler: counts of classes, who is in which class, which tasks start
# and stop.
. "$BERTH_SOURCE/test/lib.sh"
need_shared conformance/scoot

expect_status 0 "$BERTH_BUILD/scoot_cases" "$BERTH_SHARED/conformance/scoot/cases.json"
tail -n 1 "$scratch/out" | grep -qE '^[0-9]+ passed, 0 failed$' || fail "$(cat "$scratch/out")"
expect_status 1 "$BERTH_BUILD/scoot_cases" "$scratch/none.json"
expect_status 2 "$BERTH_BUILD/scoot_cases"
finish
