#!/bin/sh
# The modules under Fluxion's names: jobs of queues, matches by hand, what each is told, and a reload of the qmanager.
. "$BERTH_SOURCE/test/flux.sh"

machine 4 4 <<'END'
[queues.batch]
[sched-fluxion-resource]
match-policy = "low"
[sched-fluxion-qmanager]
queue-policy-per-queue = "batch:conservative"
END
cat >"$scratch/rpc.py" <<'END'
import json, sys, flux
try:
    print(json.dumps(flux.Flux().rpc(sys.argv[1], json.loads(sys.argv[2] if len(sys.argv) > 2 else "{}")).get()))
except OSError as e:
    print(json.dumps({"errno": e.errno}))
END
instance 4 <<'END'
rpc() { flux python "$scratch/rpc.py" "$@"; }
info() { rpc sched-fluxion-resource.info "{\"jobid\": $(flux job id "$1")}" | jq -r .status; }
estimate() { flux jobs -n -o '{annotations.sched.t_estimate}' "$1"; }
fluxion() {
    check "load resource" flux module load sched-fluxion-resource
    check "load feasibility" flux module load sched-fluxion-feasibility
    check "load qmanager" flux module load sched-fluxion-qmanager
}
flux queue start --all >/dev/null
flux module remove sched-berth
check "unknown option" sh -c '! flux module load sched-fluxion-resource colour=red'
check "no resource module" sh -c '! flux module load sched-fluxion-qmanager'
flux dmesg -C # of these two
fluxion
check "the service is the qmanager's" sh -c "flux module list | grep -q '^sched-fluxion-qmanager .*[ ,]sched'"
[ "$(rpc sched-fluxion-resource.params | jq -r .params.policy)" = low ] || fail "policy"
[ "$(rpc sched-fluxion-qmanager.params | jq -r '.params.batch."queue-policy"')" = conservative ] || fail "queue-policy"

# all nodes are taken for 20 minutes, so that the next job is promised their end, to the second
a=$(flux submit -q batch -N4 -n16 -t 20m sleep inf)
started "$a"
b=$(flux submit -q batch -n1 -t 10m sleep inf)
c=$(flux submit -q batch -n1 -t 10m true)
promised "$c"
end=$(($(flux job info "$a" R | jq .execution.starttime) + 1200))
[ "$(estimate "$b")" = "$end.0" ] || fail "b starts at $(estimate "$b"), not $end"
expect "$b" annotations.sched.selection_type reserved
[ "$(info "$a") $(info "$b")" = "ALLOCATED RESERVED" ] || fail "info: $(info "$a") $(info "$b")"
spec=$(flux run --dry-run -n1 -t 1m true | jq -c '{cmd: "without_allocating", jobid: 0, jobspec: tojson}')
[ "$(rpc sched-fluxion-resource.match "$spec" | jq .errno)" = 16 ] || fail "a match beside a job that has all"

# the qmanager is loaded anew: who runs goes on, promises are the same
check "reload" flux module reload sched-fluxion-qmanager
promised "$c"
[ "$(estimate "$b")" = "$end.0" ] || fail "after the reload b starts at $(estimate "$b"), not $end"
[ "$(info "$a")" = ALLOCATED ] || fail "a after the reload"
flux cancel "$a"
started "$b"
ended "$c"
[ "$(info "$a")" = null ] || fail "a holds something: $(info "$a")"

# by hand: 15 cores are left, of which a match takes one; a cancel gives it back
hand=$(echo "$spec" | jq -c '.cmd = "allocate" | .jobid = 7')
[ "$(rpc sched-fluxion-resource.match "$hand" | jq -r .status)" = ALLOCATED ] || fail "a match by hand"
d=$(flux submit -q batch -n15 -t 10m true)
promised "$d"
[ "$(rpc sched-fluxion-resource.cancel '{"jobid": 7}')" = "{}" ] || fail "cancel by hand"
ended "$d"
expect "$d" status COMPLETED
flux submit -q batch -n99 --dry-run true | flux job-validator --plugins=feasibility --jobspec-only >"$scratch/check"
grep -q '"errnum": 19' "$scratch/check" || fail "feasibility: $(cat "$scratch/check")"

flux cancel "$b"
ended "$b"
flux module remove sched-fluxion-qmanager
flux module remove sched-fluxion-feasibility
flux module remove sched-fluxion-resource
check "sched-berth" flux module load sched-berth
ended "$(flux submit -q batch -n1 true)"
END
finish
