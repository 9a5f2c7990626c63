#!/bin/sh
# The page about the trace of GPU jobs has the table and the picture that its command makes.
. "$BERTH_SOURCE/test/lib.sh"
need_shared traces/philly-2017.gang.csv.gz
page=$BERTH_SOURCE/doc/gpu-traces.md

expect_status 0 sh "$BERTH_SOURCE/bench/gpu_trace.sh" "$BERTH_BUILD" "$BERTH_SHARED/traces/philly-2017.gang.csv.gz" "$scratch/waits.svg"
[ "$(wc -l <"$scratch/out")" -ge 10 ] || fail 'the table has too few rows'
sed -n '/^| | wait, one node/,/^$/p' "$page" | sed '/^$/d' | diff - "$scratch/out" || fail 'doc/gpu-traces.md has another table'
cmp "$scratch/waits.svg" "$BERTH_SOURCE/doc/gpu-traces.svg" || fail 'doc/gpu-traces.svg is another picture'
finish
