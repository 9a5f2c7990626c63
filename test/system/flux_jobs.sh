#!/bin/sh
# Jobs in a Flux instance whose scheduler is Berth: they run, wait with a reason and an estimate, go in Flux's order, and
# are refused with words.
. "$BERTH_SOURCE/test/flux.sh"

machine 2 4 <<'END'
[sched-berth]
match = {policy = "low"}
[sched-berth.queues.default]
policy = "easy"
END
instance 2 <<'END'
check "the module is the scheduler" sh -c 'flux module list | grep -q "^sched-berth .*feasibility,sched"'
check "a job runs" flux run -n1 true

# 8 cores. a takes 6 for 30 minutes; b wants all and is promised a's end; c has no room but beside b after that;
# d fits into what is left before b.
a=$(flux submit -n6 -t 30m sleep inf)
started "$a"
b=$(flux submit -n8 -t 10m true)
c=$(flux submit -n3 -t 1h true)
d=$(flux submit -n2 -t 20m sleep inf)
started "$d"
expect "$b" state SCHED
expect "$c" state SCHED
expect_soon "$c" annotations.sched.reason_pending "resources core"
expect "$a" annotations.sched.resource_summary "n[0-1]/core[0-2]"
expect "$d" annotations.sched.resource_summary "n[0-1]/core3"
expect "$a" annotations.sched.queue "" # there are no queues by name
promised "$b"
eta=$(flux jobs -n -o '{annotations.sched.t_estimate}' "$b")
end=$(flux jobs -n -o '{expiration}' "$a")
[ "${eta%.*}" = "${end%.*}" ] || fail "b is estimated for $eta, a ends at $end"
flux module stats sched-berth >"$scratch/stats"
grep -q '"running": 2' "$scratch/stats" && grep -q '"reserved": 1' "$scratch/stats" || fail "stats: $(cat "$scratch/stats")"

# what is allocated, as the scheduler says it
FLUX_RESOURCE_LIST_RPC=sched.resource-status flux resource list -n -s allocated,free -o '{state} {ncores}' >"$scratch/list"
printf 'allocated 8\nfree 0\n' >"$scratch/wanted"
sort "$scratch/list" | cmp -s - "$scratch/wanted" || fail "resources: $(cat "$scratch/list")"

# c goes first with a higher urgency once d ends; a longer time limit of a runs on
flux job urgency "$c" 31
flux update "$a" duration=+10m || fail "a could not be given more time"
later=$(flux jobs -n -o '{expiration}' "$a")
[ "${later%.*}" = $((${end%.*} + 600)) ] || fail "a ends at $later, not 600 s after $end"
flux cancel "$b"
ended "$b"
flux cancel "$d"
ended "$d"
expect "$c" state SCHED
flux cancel "$a"
ended "$c"
expect "$c" status COMPLETED

# refused: never possible
e=$(flux submit -n9 true)
ended "$e"
reason "$e" | grep -q '^alloc denied: unsatisfiable: asks for 9 cores, the machine has 8$' || fail "refused: $(reason "$e")"

# and a gang, which grows
e=$(flux submit -n1 --setattr=system.gang=2 true)
ended "$e"
reason "$e" | grep -q '^alloc denied: a job of Flux starts as a whole, expected no gang in its jobspec$' || fail "refused: $(reason "$e")"

# a slot that names nothing to run on has all that is in it: of 2 nodes one is taken in part, so that one such job runs and
# another waits for it, not for the part; memory alone is nothing to run on
resources() { flux run --dry-run "$@" printenv FLUX_JOB_SIZE FLUX_JOB_NNODES | jq -c ".resources = $shape"; }
whole() { shape=$1 && resources -n1 | flux job submit --flags=waitable; }
a=$(flux submit -n1 -t 30m sleep inf)
started "$a"
b=$(whole '[{type: "slot", label: "task", count: 1, with: [{type: "node", count: 1}]}]')
ended "$b"
expect "$b" status COMPLETED
[ "$(flux job info "$b" R | jq -c .execution.R_lite)" = '[{"rank":"1","children":{"core":"0-3"}}]' ] || fail "b has $(flux job info "$b" R)"
[ "$(flux job attach "$b" | paste -sd' ')" = "1 1" ] || fail "b: $(flux job attach "$b")"
b=$(whole '[{type: "slot", label: "task", count: 2, with: [{type: "node", count: 1}]}]')
promised "$b"
flux cancel "$a"
ended "$b"
[ "$(flux job attach "$b" | paste -sd' ')" = "2 2 2 2" ] || fail "b on two nodes: $(flux job attach "$b")"
b=$(whole '[{type: "slot", label: "task", count: 3, with: [{type: "node", count: 1}]}]')
ended "$b"
reason "$b" | grep -q '^alloc denied: unsatisfiable: asks for 3 nodes, the machine has 2$' || fail "refused: $(reason "$b")"

# Flux's order: urgency first, then the time of submission, whatever was changed in between
a=$(flux submit -n8 -t 1m sleep inf)
started "$a"
b=$(flux submit -n8 -t 1m true)
c=$(flux submit -n8 -t 1m true)
flux job urgency "$b" 0
flux job urgency "$b" 16
promised "$b"
flux cancel "$a"
ended "$c"
[ "$(flux job eventlog -f json "$b" | jq -r 'select(.name=="alloc").timestamp')" \< \
  "$(flux job eventlog -f json "$c" | jq -r 'select(.name=="alloc").timestamp')" ] || fail "c went before b"
check "nothing is left" sh -c "flux module stats sched-berth | grep -q '\"jobs\": 0'"
END
finish
