#!/bin/sh
# More cases of Scoot's kinds: random ones, expected by its formulas, and of all kinds some that were worked out on paper.
. "$BERTH_SOURCE/test/lib.sh"

python3 -B "$BERTH_SOURCE/test/conformance/scoot_variants.py" >"$scratch/cases.json" || fail "no cases"
expect_status 0 "$BERTH_BUILD/scoot_cases" "$scratch/cases.json"
tail -n 1 "$scratch/out" | grep -qE '^6700 passed, 0 failed$' || fail "$(tail -n 30 "$scratch/out")"
expect_status 0 "$BERTH_BUILD/scoot_cases" "$BERTH_SOURCE/test/conformance/scoot_by_hand.json"
tail -n 1 "$scratch/out" | grep -qE '^174 passed, 0 failed$' || fail "$(cat "$scratch/out")"
finish
