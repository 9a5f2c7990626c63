#!/bin/sh
# Random cases of Scoot's kinds, expected by its formulas.
. "$BERTH_SOURCE/test/lib.sh"

python3 -B "$BERTH_SOURCE/test/conformance/scoot_variants.py" >"$scratch/cases.json" || fail "no cases"
expect_status 0 "$BERTH_BUILD/scoot_cases" "$scratch/cases.json"
tail -n 1 "$scratch/out" | grep -qE '^6700 passed, 0 failed$' || fail "$(tail -n 30 "$scratch/out")"
finish
