#!/bin/sh
# Cases as those of kube-batch and Volcano: expected by hand, and random ones expected by the formulas and rules.
. "$BERTH_SOURCE/test/lib.sh"

play() { # SCRIPT N [ARGUMENT]
    python3 -B "$BERTH_SOURCE/test/conformance/$1" ${3:+"$3"} >"$scratch/cases.json" || fail "no cases"
    expect_status 0 "$BERTH_BUILD/kube_batch_cases" "$scratch/cases.json"
    tail -n 1 "$scratch/out" | grep -qE "^$2 passed, 0 failed\$" || fail "$1: $(tail -n 30 "$scratch/out")"
}
play kube_variants.py 75
play kube_gangs.py 46
play kube_edges.py 85
play kube_fair.py 88
play kube_growth.py 57
play kube_mixed.py 78
play kube_rules.py 159
play kube_fields.py 71
play kube_richer.py 27
play kube_nodes.py 34
play kube_fresh.py 150
play kube_nodes.py 0 out
random=1500
[ -z "${BERTH_FEW:-}" ] || random=300
play kube_victims.py $((2 * random)) $random
play kube_starts.py $random $random
play kube_random.py $((2 * random)) $random
play kube_weights.py $random $random
finish
