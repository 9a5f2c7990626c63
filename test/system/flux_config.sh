#!/bin/sh
# [sched-berth] is checked as berth-config(5) says, at load and at a reload, which is refused as a whole.
. "$BERTH_SOURCE/test/flux.sh"

machine 1 4 <<'END'
[queues.batch]
[queues.debug]
[sched-berth.queues.batch.limits.user]
core = 2
END
instance 1 <<'END'
flux queue start --all
a=$(flux submit -q batch -n2 -t 30m sleep inf)
started "$a"
b=$(flux submit -q batch -n1 -t 30m sleep inf)
promised "$b"
c=$(flux submit -q debug -n1 -t 30m sleep inf)
started "$c"

# refused PATTERN: the configuration on standard input is, in these words
refused() {
    cat >"$scratch/new.toml"
    flux config load "$scratch/new.toml" 2>"$scratch/refused" && fail "taken: $(cat "$scratch/new.toml")"
    grep -q "$1" "$scratch/refused" || fail "refused: $(cat "$scratch/refused")"
}
refused 'sched-berth: .*key "policy": expected fcfs, easy' <<'TOML'
[queues.batch]
[queues.debug]
[sched-berth.queues.batch]
policy = "best"
TOML
refused 'sched-berth: key "polcy": unknown in a configuration, expected ' <<'TOML'
[queues.batch]
[queues.debug]
[sched-berth]
polcy = "easy"
TOML
refused 'sched-berth.queues.other: there is no \[queues.other\]' <<'TOML'
[queues.batch]
[queues.debug]
[sched-berth.queues.other]
policy = "easy"
TOML
refused 'key "resources": expected none' <<'TOML'
[queues.batch]
[queues.debug]
[sched-berth.resources]
nodes = 4
TOML
refused 'expected no or cancel, as Flux requeues no job' <<'TOML'
[queues.batch]
[queues.debug]
[sched-berth.queues.batch]
preemptible = "requeue"
TOML
expect "$b" state SCHED

flux config load <<'TOML'
[queues.batch]
[queues.debug]
[sched-berth.queues.batch.limits.user]
core = 3
TOML
started "$b"
check "wrong argument" sh -c '! flux module reload sched-berth what=ever'
check "wrong mode" sh -c '! flux module load sched-berth mode=foobar'
check "wrong limit" sh -c '! flux module load sched-berth mode=limited=-1'
check "still an instance" flux jobs
check "load" flux module load sched-berth
flux cancel "$a" "$b" "$c"
ended "$c"
flux dmesg -C
END
finish
