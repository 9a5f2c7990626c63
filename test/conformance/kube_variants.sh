#!/bin/sh
# Cases as those of kube-batch and Volcano: expected by hand, and random ones expected by the formulas and rules.
. "$BERTH_SOURCE/test/lib.sh"

play() { # SCRIPT N
    python3 -B "$BERTH_SOURCE/test/conformance/$1" >"$scratch/cases.json" || fail "no cases"
    expect_status 0 "$BERTH_BUILD/kube_batch_cases" "$scratch/cases.json"
    tail -n 1 "$scratch/out" | grep -qE "^$2 passed, 0 failed\$" || fail "$1: $(tail -n 30 "$scratch/out")"
}
play kube_variants.py 33
play kube_gangs.py 31
play kube_victims.py 3000
play kube_starts.py 1500
play kube_random.py 3000
finish
