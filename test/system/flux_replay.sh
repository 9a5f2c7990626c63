#!/bin/sh
# What the module has recorded, `berth sim --scenario` decides in the same way: queues, limits, promises, preemption, shares, jobs
# that are cancelled while they wait and run, other priorities and durations, nodes that are drained, another configuration, and
# a module that is loaded anew.
. "$BERTH_SOURCE/test/flux.sh"

conf() { # CORES: that a user may have in the queue batch
    cat <<END
[queues.batch]
[queues.debug]
[queues.spare]
[policy.jobspec.defaults.system]
queue = "batch"
[queues.fair]
[sched-berth]
match = {policy = "low"}
[sched-berth.accounts.physics]
users = ["$(id -un)"]
[sched-berth.accounts.chemistry]
users = ["$(id -un)"]
[sched-berth.queues.fair]
policy = "easy"
priority = 7
shares = {by = "account", order = ["share"]}
[sched-berth.queues.batch]
policy = "conservative"
priority = 5
limits = {user = {core = $1}}
[sched-berth.queues.debug]
policy = "fcfs"
priority = 8
limits = {queue = {node = 1}}
[sched-berth.queues.spare]
policy = "easy"
preemptible = "cancel"
END
}
conf 12 | machine 4 4
mkdir "$scratch/record" "$scratch/again"
{
    sed '/^\[queues.batch\]/,$d' "$scratch/conf/config.toml"
    conf 10
} >"$scratch/other.toml"
instance 4 <<'END'
check "with a recording" flux module reload sched-berth record="$scratch/record"
flux queue start --all >/dev/null
# as long as this one runs, a core of each node is left: those that follow wait for it, or for its limit
first=$(flux submit -n12 -t30m sleep inf)
started "$first"
ids=
n=0
for shape in '-n3 -t5s' '-N2 -t9s' '-n10 -t3s' '-n1 -t20s' '-N1 -n1 -c2 -t4s' '-N4 -n4 -t2s' '-q debug -N1 -n2 -t7s' '-q debug -N1 -n1 -t3s'; do
    n=$((n + 1))
    # shellcheck disable=SC2086
    ids="$ids $(flux submit $shape --cc=1-2 sleep 0.$n)"
done
flux resource drain 2
# shellcheck disable=SC2086
set -- $ids
flux cancel "$6"
flux job urgency "$4" 0
flux update "$first" duration=+10m
flux config load "$scratch/other.toml"
flux job urgency "$4" 20
flux job urgency "$7" 24
large=$(flux submit -n11 -t5s true)
ended "$large"
reason "$large" | grep -q limit || fail "refused: $(reason "$large")"
flux cancel "$first"
ended "$first"
flux resource undrain 2
for id in $ids; do
    ended "$id"
done
# all nodes are those of a job that has to go for another one, for some cores of them
s=$(flux submit -q spare -n16 -t60m sleep inf)
started "$s"
z=$(flux submit -n4 -t5m true)
ended "$z"
ended "$s"
flux job eventlog "$s" | grep -q 'exception type="preempt"' || fail "s: $(flux job eventlog "$s")"

# by shares: physics has two jobs before the one of chemistry, which starts beside the first of them
of() { # ACCOUNT CORES MINUTES COMMAND...
    account=$1 cores=$2 minutes=$3
    shift 3
    flux submit -q fair --setattr=system.bank="$account" -n"$cores" -t "${minutes}m" "$@"
}
x=$(of physics 16 60 sleep inf)
started "$x"
p=$(of physics 8 30 sleep inf)
q=$(of physics 8 30 true)
c=$(of chemistry 8 30 sleep inf)
flux cancel "$x"
started "$p"
started "$c"
expect "$q" state SCHED
flux cancel "$p" "$c"
ended "$q"
until_true "nothing is left" sh -c "flux module stats sched-berth | jq -e '.jobs == 0'"

# jobs wait as all nodes are drained, and the module is loaded anew
flux resource drain 0-3
ids=
for shape in '-n3 -t5s' '-N2 -t9s' '-n10 -t3s' '-q debug -N1 -n1 -t3s' '-N4 -n4 -t2s' '-q spare -n2 -t4s'; do
    # shellcheck disable=SC2086
    ids="$ids $(flux submit $shape --cc=1-2 sleep 0.3)"
done
check "another recording" flux module reload sched-berth record="$scratch/again"
flux resource undrain 0-3
for id in $ids; do
    ended "$id"
done
END
# made KIND FILE: decisions of this kind, but for promises of the same start by other resources, which the simulator does
# not tell
made() {
    grep "\"decision\": \"$1\"" "$2" | awk '{ job = $4; rest = $0; sub(/^.*"decision"/, "", rest) }
        last[job] != rest { print; last[job] = rest }'
}
# replay FOLDER KIND...: it is decided again, in the same way
replay() {
    cd "$scratch/$1" || exit 1
    folder=$1
    shift
    expect_status 0 "$BERTH" sim --scenario events --config config --decisions played
    for kind in "$@"; do
        made "$kind" decisions >"$scratch/$kind.module"
        made "$kind" played >"$scratch/$kind.played"
        [ -s "$scratch/$kind.module" ] || fail "$folder: no $kind is recorded"
        cmp -s "$scratch/$kind.module" "$scratch/$kind.played" && continue
        fail "$folder: $kind: the module and the simulator differ"
        diff "$scratch/$kind.module" "$scratch/$kind.played" | head -n 20
    done
}
replay again start reserve
[ "$(wc -l <"$scratch/start.module")" -eq 12 ] || fail "$(wc -l <"$scratch/start.module") starts of 12 after the reload"
replay record start reserve preempt
# Nothing is missing: all but the one that was cancelled as it waited and the one that was refused have started, and each
# thing that happened is there.
[ "$(wc -l <"$scratch/start.module")" -eq 22 ] || fail "$(wc -l <"$scratch/start.module") starts of 22"
for event in cancel config down duration end priority submit up; do
    grep -q "\"$event\": *[\"{]" events || fail "no event $event is recorded"
done
[ "$(grep -c '"decision": "reject"' played)" -eq 1 ] || fail "rejected: $(grep reject played)"
finish
