#!/bin/sh
# What an array of a million members costs a server while it waits: its submission through the socket, memory
# of the daemon, the store, listings, a restart, its end by a cancel, during which others are served, and what
# is asked of it afterwards.
#
# usage: bench_server_arrays.sh BUILD
set -eu

berth=$1/berth
scratch=$(mktemp -d)
BERTH_DIR=$scratch/berth
export BERTH_DIR
unset BERTH_SOCKET
trap '"$berth" server stop 2>/dev/null || true; rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

row() { # WHAT VALUE UNIT
    printf '%-58s %10s %s\n' "$1" "$2" "$3"
}
took() { # COMMAND...: its milliseconds
    from=$(date +%s.%N)
    "$@" >/dev/null
    awk -v a="$from" -v b="$(date +%s.%N)" 'BEGIN { printf "%.3g", (b - a) * 1000 }'
}
resident() { # of the daemon, kB
    sed -n 's/^VmRSS:[[:space:]]*\([0-9]*\) kB/\1/p' "/proc/$(cat "$BERTH_DIR/berthd.lock")/status"
}
stored() { # bytes: what is in the store when it is closed
    "$berth" server stop
    find "$BERTH_DIR" -name '*.db' -printf '%s\n' | awk '{ n += $1 } END { print n }'
    "$berth" server start
}

wait_for() { # JOB: whose status is not 0
    "$berth" wait "$1" || true
}

"$berth" server start
"$berth" submit --hold true >/dev/null
"$berth" jobs >/dev/null
before=$(stored)
memory=$(resident)
row 'one job: berth submit' "$(took "$berth" submit --hold true)" ms
row '1,000,000 members: berth submit' "$(took "$berth" submit --hold --array 1000000 true)" ms
row 'memory of the daemon for that' "$(($(resident) - memory))" kB
row 'berth jobs' "$(took "$berth" jobs)" ms
row 'berth show' "$(took "$berth" show 3)" ms
row 'berth explain' "$(took "$berth" explain 3)" ms
row 'berth update' "$(took "$berth" update --priority -1 3)" ms
row 'the store, with both' "$((($(stored) - before) / 1024))" kB
row 'memory of the daemon after a restart' "$(resident)" kB
memory=$(resident)
row '500,000 members, every other index: berth submit' "$(took "$berth" submit --hold --array 0-999998:2 true)" ms
row 'memory of the daemon for that' "$(($(resident) - memory))" kB
row 'berth show' "$(took "$berth" show 4)" ms

# Members by themselves.
row '1,000 of its members: berth release' "$(took "$berth" release '3[1000-1999]')" ms
row 'the same: berth hold' "$(took "$berth" hold '3[1000-1999]')" ms

# Its end; others are served meanwhile.
begun=$(date +%s.%N)
"$berth" cancel 3 &
cancel=$!
while kill -0 $cancel 2>/dev/null; do
    took "$berth" submit --hold true
    echo
done >"$scratch/times"
row 'berth cancel of 1,000,000 members' "$(awk -v a="$begun" -v b="$(date +%s.%N)" 'BEGIN { printf "%.3g", (b - a) * 1000 }')" ms
row 'the longest submission meanwhile' "$(sort -g "$scratch/times" | tail -n 1)" ms
row 'berth show, when it is over' "$(took "$berth" show 3)" ms
row 'berth explain' "$(took "$berth" explain 3)" ms
row 'berth wait' "$(took wait_for 3)" ms
row 'berth history' "$(took "$berth" history -n 1)" ms
id=$("$berth" submit --hold --array 1000000 true)
row '100,000 of 1,000,000 members, named: berth cancel' "$(took "$berth" cancel "$id[1-100000]")" ms
row 'the store, with all' "$((($(stored) - before) / 1024))" kB
