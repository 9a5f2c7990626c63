#!/bin/sh
# A job whose jobspec has a range of nodes gets as many as are free when it starts, between the least and the most, and R tells
# the shell, as long as Flux's own check of jobspecs, which knows only numbers, leaves the check to the scheduler.
. "$BERTH_SOURCE/test/flux.sh"

machine 4 2 <<'END'
[ingest.validator]
plugins = ["feasibility"]
[sched-berth]
match = {policy = "low"}
[sched-berth.queues.default]
policy = "easy"
END
instance 4 <<'END'
# moldable COUNT COMMAND: a job with one task of a core on each of so many nodes, which it has to itself
moldable() {
    flux run --dry-run -t 10m "$2" FLUX_JOB_SIZE FLUX_JOB_NNODES |
        jq -c ".resources = [{type: \"node\", count: $1, exclusive: true, with: [{type: \"slot\", label: \"task\", count: 1, with: [{type: \"core\", count: 1}]}]}]" |
        flux job submit
}
some='{min: 2, max: 4, operator: "+", operand: 1}'
nodes() { flux job info "$1" R | jq -c '[.execution.R_lite[].rank]'; }

a=$(moldable "$some" printenv)
ended "$a"
[ "$(nodes "$a")" = '["0-3"]' ] || fail "on an idle machine: $(nodes "$a")"
[ "$(flux job attach "$a" | sort | uniq -c | tr -s ' ')" = " 8 4" ] || fail "on an idle machine: $(flux job attach "$a")"

x=$(flux submit -n1 -t 1h sleep inf)
started "$x"
a=$(moldable "$some" printenv)
ended "$a"
[ "$(nodes "$a")" = '["1-3"]' ] || fail "beside one: $(nodes "$a")"
[ "$(flux job attach "$a" | sort | uniq -c | tr -s ' ')" = " 6 3" ] || fail "beside one: $(flux job attach "$a")"

expect "$a" nnodes 3
expect "$a" nodelist "n[1-3]"

# cores in a slot
a=$(flux run --dry-run printenv FLUX_JOB_SIZE | jq -c ".resources[0].with[0].count = $some" | flux job submit)
ended "$a"
[ "$(flux job info "$a" R | jq '.execution.R_lite[].children.core' | paste -sd' ')" = '"0-1"' ] || fail "cores: $(flux job info "$a" R)"
[ "$(flux job attach "$a")" = 1 ] || fail "cores: $(flux job attach "$a")"

# as many as double: 2 or 4, not 3
a=$(moldable '{min: 1, max: 4, operator: "*", operand: 2}' printenv)
ended "$a"
[ "$(nodes "$a")" = '["1-2"]' ] || fail "1, 2 or 4: $(nodes "$a")"

# with less than the least free it waits, and then it has that
y=$(flux submit -N2 -n2 -c2 -t 30m sleep inf)
started "$y"
a=$(moldable "$some" printenv)
promised "$a"
flux cancel "$y"
ended "$a"
[ "$(nodes "$a")" = '["1-3"]' ] || fail "after it has waited: $(nodes "$a")"

# one that never fits, and one that is wrong, are refused by flux submit
if moldable '{min: 5, max: 9, operator: "+", operand: 1}' printenv >"$scratch/said" 2>&1; then
    fail "5 nodes of 4 were submitted"
fi
grep -q 'Unsatisfiable request' "$scratch/said" || fail "5 nodes of 4: $(cat "$scratch/said")"
if moldable '{min: 3, max: 2, operator: "+", operand: 1}' printenv >"$scratch/said" 2>&1; then
    fail "3 to 2 nodes were submitted"
fi
grep -q 'count' "$scratch/said" || fail "3 to 2 nodes: $(cat "$scratch/said")"
flux cancel "$x"
ended "$x"
END
finish
