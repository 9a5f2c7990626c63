#!/bin/sh
# Nodes that are drained, come back, are given back one after the other, and are gone; and the end of an instance.
. "$BERTH_SOURCE/test/flux.sh"

cat >"$scratch/slow" <<'END'
#!/bin/sh
# housekeeping of rank 1 waits for a file
[ "$(flux getattr rank)" != 1 ] || until [ -e "$1" ]; do sleep 0.1; done
END
chmod +x "$scratch/slow"
machine 3 2 <<END
[job-manager.housekeeping]
command = ["$scratch/slow", "$scratch/go"]
release-after = "0s"
[sched-berth]
match = {policy = "low"}
END
instance 3 <<'END'
# ranks 0 and 2 are free for others as soon as their housekeeping is over, rank 1 is not
a=$(flux submit -N3 -t 10m sleep inf)
started "$a"
b=$(flux submit -N2 -t 10m sleep inf)
c=$(flux submit -N2 -t 10m true)
flux cancel "$a"
started "$b"
expect "$b" ranks "[0,2]"
expect "$c" state SCHED
check "one job runs, and one is left in part" sh -c "flux module stats sched-berth | jq -e '.queues.default.running == 2'"
# what was given back is known after a reload
check "reload" flux module reload sched-berth
check "both are known again" sh -c "flux module stats sched-berth | jq -e '.queues.default.running == 2'"
promised "$c"
touch "$scratch/go"
flux cancel "$b"
ended "$c"

# drained nodes get nothing, and a promise moves; undrained ones serve at once
flux resource drain 0
e=$(flux submit -N3 -t 10m sleep inf)
f=$(flux submit -N2 -t 1m true)
ended "$f"
expect "$f" ranks "[1-2]"
expect "$e" state SCHED
flux resource undrain 0
started "$e"
flux cancel "$e"
ended "$e"

# brokers that share a host: what a job has is told by ranks
flux module remove sched-berth
flux R encode -r0-2 -c0-1 -H n,n,n >"$scratch/R"
check "three brokers of one host" flux resource reload "$scratch/R"
check "load" flux module load sched-berth
g=$(flux submit -N2 -n4 -t 10m true)
ended "$g"
expect "$g" annotations.sched.resource_summary "rank[0-1]/core[0-1]"
h=$(flux submit -n1 -t 10m --requires=rank:2 true)
ended "$h"
expect "$h" annotations.sched.resource_summary "rank2/core0"
END
finish
