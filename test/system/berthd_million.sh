#!/bin/sh
# Arrays of a million members cost the server what a job costs: time of its processor, memory and its store.
. "$BERTH_SOURCE/test/daemon.sh"
[ -z "${BERTH_FEW:-}" ] || skip "under sanitizers all costs more"
cd "$scratch" || exit 1
machine 4

MANY=50
expect_status 0 "$BERTH" submit --hold true
[ "$failures" -eq 0 ] || finish
pid=$(cat "$BERTH_DIR/berthd.lock")
memory() { awk '/^RssAnon/ { print $2 }' "/proc/$pid/status"; }                # KiB
used() { awk '{ print ($14 + $15) * 1000 / hz }' hz="$(getconf CLK_TCK)" "/proc/$pid/stat"; } # ms
stored() { cat "$BERTH_DIR"/berth.db* | tr -d '\0' | wc -c; }

submit_many() { # ARRAY: sets what each has cost
    memory_before=$(memory)
    used_before=$(used)
    stored_before=$(stored)
    i=0
    while [ $i -lt $MANY ]; do
        api POST /v1/jobs -d '{"command": ["true"], "hold": true, "array": "'"$1"'"}' >answer
        grep -q '"id"' answer || fail "array $1: $(cat answer)"
        i=$((i + 1))
    done
    each="$(awk "BEGIN { print ($(used) - $used_before) / $MANY }") ms, $((($(memory) - memory_before) / MANY)) KiB, $((($(stored) - stored_before) / MANY)) bytes"
    echo "$1: $each"
}

for array in 0-999999 0-999998:2,999999 0-99:3,200-999999%5; do
    submit_many "$array"
    echo "$each" | awk '{ exit !($1 < 5 && $3 < 200 && $5 < 100000) }' || fail "array $array: $each each"
done
finish
