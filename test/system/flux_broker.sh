#!/bin/sh
# Promises while a node is drained, comes back, and its broker is killed: they move to other nodes, or are none until there
# are enough again.
. "$BERTH_SOURCE/test/flux.sh"

machine 4 2 <<'END'
[sched-berth]
match = {policy = "low"}
[sched-berth.queues.default]
policy = "conservative"
END
instance 4 --test-exit-mode=leader <<'END'
# Ranks 0 and 3 are idle. Three nodes are there when a ends, all four when d does.
a=$(flux submit -N1 -n2 --requires=rank:1 -t 30m sleep inf)
d=$(flux submit -N1 -n2 --requires=rank:2 -t 60m sleep inf)
started "$a"
started "$d"
b=$(flux submit -N3 -n6 -t 10m true)
c=$(flux submit -N4 -n8 -t 10m true)
# starts JOB SECOND: it is estimated for that
starts() { [ "$(flux jobs -n -o '{annotations.sched.t_estimate}' "$1" | cut -d. -f1)" = "$2" ]; }
end_of() { flux jobs -n -o '{expiration}' "$1" | cut -d. -f1; }
until_true "b starts when a ends" starts "$b" "$(end_of "$a")"
until_true "c starts when d ends" starts "$c" "$(end_of "$d")"

# without rank 3 b needs d's node, and c more than there is; when it is back, both are promised what they were
flux resource drain 3
until_true "drained: b starts when d ends" starts "$b" "$(end_of "$d")"
until_true "drained: c has no estimate" starts "$c" ""
flux resource undrain 3
until_true "undrained: b starts when a ends" starts "$b" "$(end_of "$a")"
until_true "undrained: c starts when d ends" starts "$c" "$(end_of "$d")"

kill -KILL "$(flux exec -r 3 flux getattr broker.pid)"
until_true "killed: b starts when d ends" starts "$b" "$(end_of "$d")"
until_true "killed: c has no estimate" starts "$c" ""
expect "$a" state RUN
expect "$d" state RUN
flux cancel "$a" "$d"
ended "$b"
expect "$b" status COMPLETED
expect "$b" ranks "[0-2]"
expect "$c" state SCHED
flux cancel "$c"
ended "$c"
END
finish
