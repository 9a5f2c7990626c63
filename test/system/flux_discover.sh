#!/bin/sh
# Several brokers whose resources nobody configured: these are known when all have joined, and jobs run on all of them.
. "$BERTH_SOURCE/test/flux.sh"

: >"$scratch/conf/config.toml"
instance 3 <<'END'
a=$(flux submit -N3 -n3 -t 10m hostname)
ended "$a"
expect "$a" status COMPLETED
expect "$a" ranks "[0-2]"
[ "$(flux resource list -n -s all -o '{nnodes}')" = 3 ] || fail "nodes: $(flux resource list -s all)"
END
finish
