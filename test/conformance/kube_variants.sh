#!/bin/sh
# Cases as those of kube-batch and Volcano, expected by hand.
. "$BERTH_SOURCE/test/lib.sh"

python3 -B "$BERTH_SOURCE/test/conformance/kube_variants.py" >"$scratch/cases.json" || fail "no cases"
expect_status 0 "$BERTH_BUILD/kube_batch_cases" "$scratch/cases.json"
tail -n 1 "$scratch/out" | grep -qE '^28 passed, 0 failed$' || fail "$(cat "$scratch/out")"
finish
