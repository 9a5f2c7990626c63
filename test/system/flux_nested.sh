#!/bin/sh
# An instance in an instance in an instance: each schedules what its parent gave it, by ranks and core ids of its own, with
# the parent's graph or without one, and ends when its job's limit says so.
. "$BERTH_SOURCE/test/flux.sh"
patience=560 # seconds, for up to four instances one in the other

cat >"$scratch/inner" <<'END'
# what an instance sees: its nodes and cores, jobs on all of them, one too large, and the end that its parent set
. "$BERTH_SOURCE/test/flux_inside.sh"
level=$1 nodes=$2 cores=$3
shift 3
check "level $level: the scheduler" sh -c 'flux module list | grep -q "^sched-berth .*sched"'
[ "$(flux resource list -n -s all -o '{nnodes} {ncores}')" = "$nodes $cores" ] ||
    fail "level $level has $(flux resource list -n -s all -o '{nnodes} {ncores}')"
[ "$(FLUX_RESOURCE_LIST_RPC=sched.resource-status flux resource list -n -s free -o '{ncores}')" = "$cores" ] ||
    fail "level $level: free are $(FLUX_RESOURCE_LIST_RPC=sched.resource-status flux resource list -n -s free -o '{ncores}')"
a=$(flux submit -n"$cores" sleep inf)
started "$a"
[ "$(flux job info "$a" R | jq -r '[.execution.R_lite[].rank] | join(",")')" = "0$([ "$nodes" -eq 1 ] || echo "-$((nodes - 1))")" ] ||
    fail "level $level: R of all is $(flux job info "$a" R)"
# without a limit, it ends with its instance, and so does the next one's promise
end=$(flux job info "$a" R | jq .execution.expiration)
[ "$end" = "$(flux kvs get resource.R | jq .execution.expiration)" ] || fail "level $level: a job may end at $end"
b=$(flux submit -n1 true)
expect "$b" state SCHED
flux cancel "$a"
ended "$b"
expect "$b" status COMPLETED
c=$(flux submit -n$((cores + 1)) true)
ended "$c"
reason "$c" | grep -q 'unsatisfiable' || fail "level $level: $(reason "$c")"
if [ $# -gt 0 ]; then
    inner=$(flux submit -N"$2" -n"$2" -c$(($3 / $2)) -t 5m flux start --config-path="$scratch/nested" sh "$scratch/inner" "$@")
    ended "$inner"
    flux job attach "$inner" || fail "level $level: the instance in it failed"
fi
end
END

mkdir "$scratch/nested" # the instances inside have the machine from their parents
for format in rv1_nosched rv1 rv1_shorthand; do
    machine 4 4 <<END
[sched-berth]
match = {policy = "low", format = "$format"}
END
    sed -n '/sched-berth/,$p' "$scratch/conf/config.toml" >"$scratch/nested/config.toml"
    export format
    instance 4 <<'END'
# ranks 0 and 1 are taken, so that the instance in this one has 2 and 3, and so has the core ids 0 to 3 of these
a=$(flux submit -N2 -n8 -t 1h sleep inf)
started "$a"
inner=$(flux submit -N2 -n2 -c4 -t 10m flux start --config-path="$scratch/nested" sh "$scratch/inner" 1 2 8 2 1 4)
ended "$inner"
flux job attach "$inner" 2>&1 || fail "$format: the instance in it failed"
# one that has some cores of a node, the upper ones
b=$(flux submit -n2 -t 1h sleep inf)
started "$b"
part=$(flux submit -n1 -c2 -t 10m flux start --config-path="$scratch/nested" sh "$scratch/inner" 1 1 2)
ended "$part"
flux job attach "$part" 2>&1 || fail "$format: the instance on some cores failed"
flux cancel "$a" "$b"
ended "$b"
END
done
finish
