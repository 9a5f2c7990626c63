#!/bin/sh
# What a site configures: queues of properties and one that is part of another, constraints of jobs, a block for maintenance, and
# `flux submit` that refuses at once what can never run.
. "$BERTH_SOURCE/test/flux.sh"

block=$(($(date +%s) + 1200)) # in 20 minutes, for an hour
machine 4 2 <<END
[[resource.config]]
hosts = "n[0-2]"
properties = ["large"]
[[resource.config]]
hosts = "n3"
properties = ["small"]
[ingest.validator]
plugins = ["jobspec", "feasibility"]
[policy.limits]
duration = "2h"
[queues.batch]
requires = ["large"]
[queues.debug]
requires = ["small"]
[queues.urgent]
parent = "batch"
[sched-berth.queues.batch]
policy = "conservative"
[sched-berth.queues.urgent]
priority = 5
[[sched-berth.blocks]]
name = "service"
resources = "n0"
start = "$(date -u -d "@$block" +%FT%TZ)"
duration = "1h"
END
export block
instance 4 <<'END'
flux queue start --all >/dev/null

# refused PATTERN OPTION...: flux submit does so at once, and there is no such job
refused() {
    pattern=$1
    shift
    if flux submit -t 1m "$@" true >"$scratch/said" 2>&1; then
        fail "submitted: $*"
    fi
    grep -q "$pattern" "$scratch/said" || fail "$*: $(cat "$scratch/said")"
}
refused Unsatisfiable -q debug -N2
refused Unsatisfiable -q batch -N4
refused Unsatisfiable -q batch -N1 --requires=rank:3
refused Unsatisfiable -q debug -n1 --requires='not small'
[ "$(flux jobs -n -a | wc -l)" -eq 0 ] || fail "jobs: $(flux jobs -a)"

# a job gets what its queue and its constraints say
a=$(flux submit -q debug -n1 -t 1m true)
ended "$a"
expect "$a" ranks 3
expect "$a" annotations.sched.queue debug
a=$(flux submit -q batch -n1 -t 1m --requires='rank:1-2 and not rank:1' true)
ended "$a"
expect "$a" ranks 2
expect "$a" annotations.sched.queue batch

# of the two queues on the same nodes, the one of higher priority goes first
x=$(flux submit -q batch -N3 -t 10m sleep inf)
started "$x"
b=$(flux submit -q batch -N3 -t 5m true)
u=$(flux submit -q urgent -N3 -t 5m sleep inf)
promised "$b"
flux cancel "$x"
started "$u"
expect "$b" state SCHED
flux cancel "$u"
ended "$b"
expect "$b" status COMPLETED

# n0 is for no job that would still be there when the block begins: it waits for its end, a shorter one runs at once
b=$(flux submit -q batch -N1 -t 30m --requires=rank:0 true)
promised "$b"
eta=$(flux jobs -n -o '{annotations.sched.t_estimate}' "$b")
[ "${eta%.*}" = $((block + 3600)) ] || fail "b is estimated for $eta, the block ends at $((block + 3600))"
a=$(flux submit -q batch -N1 -t 10m --requires=rank:0 true)
ended "$a"
expect "$a" status COMPLETED
a=$(flux submit -q batch -N3 -t 30m true)
promised "$a"
flux cancel "$a" "$b"
END
finish
