#!/bin/sh
# Hybrid at its two ends: with one reservation it gives easy's schedule, with more than there are jobs
# conservative's, byte for byte.
. "$BERTH_SOURCE/test/lib.sh"

compared=0

# schedule FILE POLICY [OPTION]...: of $input under $events, as CSV
schedule() {
    file=$1
    shift
    "$BERTH" sim "$input" --procs "$procs" --events "$events" --jobs "$file" --policy "$@" \
        >"$scratch/out" 2>"$scratch/err" </dev/null && return
    fail "$input $events $*: exit status $?"
    cat "$scratch/err"
}

compare() { # POLICY DEPTH
    schedule "$scratch/policy.csv" "$1"
    schedule "$scratch/hybrid.csv" hybrid --reservation-depth "$2"
    cmp "$scratch/policy.csv" "$scratch/hybrid.csv" ||
        fail "$input $events: hybrid with $2 reservations is not $1"
    compared=$((compared + 1))
}

while read -r trace procs; do
    need_shared "traces/$trace"
    input=$BERTH_SHARED/traces/$trace
    for events in batched per-event; do
        compare easy 1
        compare conservative 1000000
    done
done <<END
KTH-SP2-1996-2.swf.gz 100
lublin_256.swf.gz 256
END
[ "$compared" -eq 8 ] || fail "$compared schedules compared"
finish
