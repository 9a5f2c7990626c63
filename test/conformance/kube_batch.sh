#!/bin/sh
# Cases of kube-batch and Volcano about shares: what queues deserve, how much of that they have, which
# jobs are let in, and sessions, played by the scheduler.
. "$BERTH_SOURCE/test/lib.sh"
need_shared conformance/kube-batch

expect_status 0 "$BERTH_BUILD/kube_batch_cases" "$BERTH_SHARED/conformance/kube-batch/cases.json"
tail -n 1 "$scratch/out" | grep -qE '^[1-9][0-9]* passed, 0 failed$' || fail "$(cat "$scratch/out")"
expect_status 1 "$BERTH_BUILD/kube_batch_cases" "$scratch/none.json"
expect_status 2 "$BERTH_BUILD/kube_batch_cases"
finish
