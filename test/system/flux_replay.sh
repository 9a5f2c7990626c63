#!/bin/sh
# What the module has recorded, `berth sim --scenario` decides in the same way.
. "$BERTH_SOURCE/test/flux.sh"

machine 4 4 <<'END'
[sched-berth]
match = {policy = "low"}
[sched-berth.queues.default]
policy = "conservative"
END
mkdir "$scratch/record"
instance 4 <<'END'
check "with a recording" flux module reload sched-berth record="$scratch/record"
ids=
n=0
for shape in '-n3 -t5s' '-N2 -t9s' '-n16 -t3s' '-n1 -t20s' '-N1 -n1 -c2 -t4s' '-N4 -t2s' '-n5 -t6s' '-n2 -t1m'; do
    n=$((n + 1))
    # shellcheck disable=SC2086
    ids="$ids $(flux submit $shape --cc=1-3 sleep 0.$n)"
done
flux resource drain 2
# shellcheck disable=SC2086
set -- $ids
flux job urgency "$4" 0
flux cancel "$7"
flux resource undrain 2
flux job urgency "$4" 20
for id in $ids; do
    ended "$id"
done
END
cd "$scratch/record" || exit 1
expect_status 0 "$BERTH" sim --scenario events --config config --decisions played
# made KIND FILE: decisions of this kind, but for promises of the same start by other resources, which the simulator does
# not tell
made() {
    grep "\"decision\": \"$1\"" "$2" | awk '{ job = $4; rest = $0; sub(/^.*"decision"/, "", rest) }
        last[job] != rest { print; last[job] = rest }'
}
for kind in start reserve; do
    made "$kind" decisions >"$scratch/$kind.module"
    made "$kind" played >"$scratch/$kind.played"
    cmp -s "$scratch/$kind.module" "$scratch/$kind.played" && continue
    fail "$kind: the module and the simulator differ"
    diff "$scratch/$kind.module" "$scratch/$kind.played" | head -n 20
done
[ "$(wc -l <"$scratch/start.module")" -ge 23 ] || fail "$(wc -l <"$scratch/start.module") starts of 23 or 24"
[ -s "$scratch/reserve.module" ] || fail "nothing was promised"
finish
