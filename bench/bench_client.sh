#!/bin/sh
# What people wait for: a 'berth submit' from its start to the id that it prints, at most 5 ms, and 100,000 jobs listed through
# a pipe, at most 0.4 s. The least of several is what they cost where nothing else runs, and the one that is judged.
#
# usage: bench_client.sh BUILD
set -eu

berth=$1/berth
scratch=$(mktemp -d)
BERTH_DIR=$scratch/berth
export BERTH_DIR
unset BERTH_SOCKET

clean_up() {
    "$berth" server stop 2>/dev/null || true
    rm -rf "$scratch"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

times_of() { # N COMMAND...: how long each of N took, in ms, ascending
    n=$1
    shift
    while [ "$n" -gt 0 ]; do
        before=$(date +%s%N)
        "$@" >/dev/null
        after=$(date +%s%N)
        echo $((after - before))
        n=$((n - 1))
    done | sort -n | awk '{ print $1 / 1e6 }'
}
row() { # WHAT MOST: from times; what `date` and the shell take is taken off
    awk -v what="$1" -v most="$2" -v shell="$shell" '{ v[NR] = $1 - shell } END {
        printf "%-46s least %7.1f ms, median %7.1f ms; at most %s ms: %s\n", what, v[1], v[int((NR + 1) / 2)], most,
            v[1] <= most ? "yes" : "no"
    }'
}
list_jobs() {
    "$berth" jobs "$@" | cat
}

"$berth" server start
shell=0
shell=$(times_of 50 true | sed -n 1p)
times_of 100 "$berth" submit --hold true | row "'berth submit'" 5
"$berth" cancel --all

awk 'BEGIN {
    for (i = 0; i < 100000; i++)
        printf "%s{\"command\":[\"true\"],\"name\":\"j\",\"hold\":true,\"directory\":\"/tmp\"}", i ? "," : "["
    print "]"
}' >"$scratch/jobs.json"
"$berth" submit --bulk "$scratch/jobs.json" >/dev/null
times_of 5 list_jobs | row "100,000 jobs by 'berth jobs | cat'" 400
times_of 5 list_jobs --json | row "the same with --json" 400
