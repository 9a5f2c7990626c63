#!/bin/sh
# Requests that come at once are taken together: no pass is made for each.
. "$BERTH_SOURCE/test/flux.sh"

cat >"$scratch/conf/config.toml" <<'END'
[fake-resources]
nnodes = 256
cores-per-node = 16
[sched-berth.queues.default]
policy = "conservative"
END

instance 1 <<'END'
passes() { flux module stats sched-berth | jq .passes; }
waiting() { flux module stats sched-berth | jq '[.queues[] | .waiting + .reserved] | add'; }

flux queue stop --quiet
flux submit --quiet --cc=1-300 -N 64 -n 64 -c 16 -t 1h --setattr=system.exec.test.run_duration=1h true
flux queue start --quiet
until [ "$(waiting)" -eq 296 ]; do sleep 0.1; done
before=$(passes)

# The job manager takes its requests back.
flux queue stop --quiet
until [ "$(waiting)" -eq 0 ]; do sleep 0.1; done
n=$(($(passes) - before))
check "296 requests are taken back in less than 100 passes" test "$n" -lt 100
END
finish
