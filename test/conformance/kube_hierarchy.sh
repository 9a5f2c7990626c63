#!/bin/sh
# Random cases of kube-batch's kinds about queues within queues and about who is let in, expected by small models.
. "$BERTH_SOURCE/test/lib.sh"

python3 -B "$BERTH_SOURCE/test/conformance/kube_hierarchy.py" >"$scratch/cases.json" || fail "no cases"
expect_status 0 "$BERTH_BUILD/kube_batch_cases" "$scratch/cases.json"
tail -n 1 "$scratch/out" | grep -qE '^1500 passed, 0 failed$' || fail "$(tail -n 30 "$scratch/out")"
finish
