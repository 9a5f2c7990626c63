#!/bin/sh
# The module is reloaded while jobs run and wait: none is lost, nothing is booked twice, what was promised is promised again.
. "$BERTH_SOURCE/test/flux.sh"

machine 4 4 <<'END'
[queues.batch]
requires = ["slow"]
[queues.fast]
requires = ["fast"]
[[resource.config]]
hosts = "n[0-2]"
properties = ["slow"]
[[resource.config]]
hosts = "n3"
properties = ["fast"]
[sched-berth.queues.batch]
policy = "conservative"
END
instance 4 <<'END'
flux queue start --all
a=$(flux submit -q batch -N2 -n8 -t 20m sleep inf)
b=$(flux submit -q batch -n2 -t 10m sleep inf)
f=$(flux submit -q fast -n4 sleep inf)
started "$a"
started "$b"
started "$f"
c=$(flux submit -q batch -N3 -t 5m true)
d=$(flux submit -q batch -n4 -t 5m true)
g=$(flux submit -q fast -n1 -t 1m true)
promised "$c"
promised "$d"
estimates() { flux jobs -n -o '{id} {annotations.sched.t_estimate:h}' "$c" "$d"; }
estimates >"$scratch/before"

check "unload" flux module remove sched-berth
# a job that ends while there is no scheduler holds nothing later
flux cancel "$b"
check "b is over" flux job wait-event -t 60 "$b" free
check "load" flux module load sched-berth
promised "$c"
ended "$d"
expect "$d" status COMPLETED
expect "$c" state SCHED
expect "$g" state SCHED
[ "$(estimates | head -n 1)" = "$(head -n 1 "$scratch/before")" ] || fail "promises: $(cat "$scratch/before"), then $(estimates)"
check "both run" sh -c "flux module stats sched-berth | jq -e '.queues.batch.running == 1 and .queues.fast.running == 1'"

# again and again, while a stream of jobs starts and ends: some end when no scheduler is told
ids=$(flux submit -q fast --cc=1-5 -n1 -t 1m true; flux submit -q batch --cc=1-60 -n1 -t 1m true)
for i in 1 2 3 4 5; do
    check "reload $i" flux module reload sched-berth
done
flux cancel "$f"
for id in $ids; do
    ended "$id"
done
# shellcheck disable=SC2086
done_well=$(flux jobs -n -o '{status}' $ids | grep -c '^COMPLETED$')
[ "$done_well" -eq 65 ] || fail "$done_well of 65 jobs completed"
flux cancel "$a"
ended "$c"
ended "$g"
until_true "nothing is held" sh -c "flux module stats sched-berth | jq -e '.jobs == 0'"
[ "$(flux jobs -n -a -f failed | wc -l)" -eq 0 ] || fail "jobs failed: $(flux jobs -a -f failed)"
END
finish
