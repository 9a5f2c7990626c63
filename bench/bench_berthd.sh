#!/bin/sh
# The daemon, measured from outside: jobs a second beside task-spooler and Slurm, bulk and single submissions, listings, a
# restart, memory at rest, and the gap between a job's end and the next one's start.
#
# usage: bench_berthd.sh BUILD    BERTH_BENCH_LONG=1 restarts with 1,000,000 finished jobs instead of 100,000
set -eu

# shellcheck source=bench/slurm.sh
. "$(dirname "$0")/slurm.sh"
berth=$1/berth
scratch=$(mktemp -d)
BERTH_DIR=$scratch/berth
export BERTH_DIR
unset BERTH_SOCKET
socket=$BERTH_DIR/berth.sock

clean_up() {
    "$berth" server stop 2>/dev/null || true
    [ -z "${TS_SOCKET:-}" ] || tsp -K 2>/dev/null || true
    slurm_stop
    rm -rf "$scratch"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

now() { date +%s.%N; }
row() { # WHAT VALUE UNIT
    printf '%-58s %10s %s\n' "$1" "$2" "$3"
}
since() { # START [SCALE]: what has passed since, in seconds or parts of one
    awk -v a="$1" -v b="$(now)" -v s="${2:-1}" 'BEGIN { printf "%.3g", (b - a) * s }'
}
rate() { # N START
    awk -v n="$1" -v a="$2" -v b="$(now)" 'BEGIN { printf "%.0f", n / (b - a) }'
}
list() { # N MORE: N jobs in JSON
    awk -v n="$1" -v more="$2" 'BEGIN {
        for (i = 0; i < n; i++)
            printf "%s{\"command\":[\"true\"],\"name\":\"j\",\"environment\":{\"PATH\":\"/usr/bin:/bin\"},\"directory\":\"/tmp\"%s}", i ? "," : "[", more
        print "]"
    }'
}
none_is_left() {
    "$berth" server status --json | tr -d ' \n' | grep -q '"pending":0,"held":0,"running":0'
}
slurm_left() {
    [ -n "$(squeue -h -t pending,configuring,running,completing -o %i)" ]
}
median() { sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
worst() { sort -g | tail -n 1; }

# What no server can be quicker than, where a job's start is on disk before the job starts.
start=$(now)
dd if=/dev/zero of="$scratch/durable" bs=4k count=200 oflag=dsync 2>/dev/null
row 'a durable write of 4 kB on this disk' "$(awk -v t="$(since "$start")" 'BEGIN { printf "%.2g", t * 1000 / 200 }')" ms

"$berth" server start
pid=$(cat "$BERTH_DIR/berthd.lock")
row 'berthd: memory at rest' "$(sed -n 's/^VmRSS:[[:space:]]*\([0-9]*\) kB/\1/p' "/proc/$pid/status")" kB

# From submission to durable completion, with output to /dev/null for all three: what it costs to make a file is the file
# system's, and on some ten times as much while others remove theirs. Asking whether all is done takes time of its own.
n=5000
list $n ',"duration":60,"output":"/dev/null"' >"$scratch/jobs.json"
start=$(now)
"$berth" submit --bulk "$scratch/jobs.json" >/dev/null
until none_is_left; do sleep 0.25; done
row "berth: 'true' jobs, submitted in bulk, to their end" "$(rate $n "$start")" 1/s
n=300
start=$(now)
i=0
while [ $i -lt $n ]; do
    "$berth" submit -o /dev/null true >/dev/null
    i=$((i + 1))
done
until none_is_left; do sleep 0.1; done
row "berth: the same, a 'berth submit' each" "$(rate $n "$start")" 1/s

if command -v tsp >/dev/null; then
    TS_SOCKET=$scratch/tsp.sock
    export TS_SOCKET
    TMPDIR=$scratch tsp -S "$(nproc)"
    start=$(now)
    i=0
    while [ $i -lt $n ]; do
        last=$(TMPDIR=$scratch tsp -n true)
        i=$((i + 1))
    done
    tsp -w "$last" || true
    row "task-spooler: the same, a 'tsp' each (nothing is kept)" "$(rate $n "$start")" 1/s
else
    echo 'task-spooler is not installed'
fi
if slurm_start "$scratch/slurm"; then
    n=300
    start=$(now)
    sbatch -Q --array=1-$n -n 1 -o /dev/null --wrap true >/dev/null
    while slurm_left; do sleep 0.1; done
    row "Slurm: 'true' jobs, an array, to their end" "$(rate $n "$start")" 1/s
    n=100
    start=$(now)
    i=0
    while [ $i -lt $n ]; do
        sbatch -Q -n 1 -o /dev/null --wrap true >/dev/null
        i=$((i + 1))
    done
    while slurm_left; do sleep 0.1; done
    row "Slurm: the same, an 'sbatch' each" "$(rate $n "$start")" 1/s
else
    echo "Slurm is not measured: $slurm_why"
fi
slurm_stop

# Submissions.
n=1000
i=0
while [ $i -lt $n ]; do
    cat <<END
unix-socket = "$socket"
url = "http://berth/v1/jobs"
data = "{\"command\":[\"true\"],\"hold\":true,\"directory\":\"/tmp\"}"
output = "/dev/null"
write-out = "%{time_total}\n"
next
END
    i=$((i + 1))
done | sed '$d' >"$scratch/requests"
curl -sS -K "$scratch/requests" | awk '{ print $1 * 1000 }' >"$scratch/times"
row 'a submission on an open connection, median' "$(median <"$scratch/times")" ms
row 'the longest of 1,000' "$(worst <"$scratch/times")" ms
"$berth" cancel --all

n=100000
list $n ',"hold":true' >"$scratch/jobs.json"
start=$(now)
"$berth" submit --bulk "$scratch/jobs.json" >/dev/null
row '100,000 submissions in bulk' "$(since "$start")" s
start=$(now)
curl -sS --unix-socket "$socket" http://berth/v1/jobs >/dev/null
row '100,000 jobs listed by curl' "$(since "$start")" s
start=$(now)
"$berth" jobs >/dev/null
row "100,000 jobs listed by 'berth jobs'" "$(since "$start")" s

# Members that have ended, in arrays.
ended=$([ -n "${BERTH_BENCH_LONG:-}" ] && echo 1000000 || echo 100000)
i=0
while [ $i -lt "$ended" ]; do
    id=$("$berth" submit --hold --array 100000 true)
    "$berth" cancel "$id"
    i=$((i + 100000))
done
"$berth" server stop
start=$(now)
"$berth" server start
row "restart with 100,000 pending and $ended finished" "$(since "$start")" s
"$berth" server stop
rm -rf "$BERTH_DIR"

# One after the other, each on the whole machine: what lies between.
"$berth" server start
cores=$("$berth" resources --json | sed -n 's/^  "cores": \([0-9]*\),$/\1/p')
list 200 ",\"cores\":$cores,\"duration\":60" >"$scratch/jobs.json"
"$berth" submit --bulk "$scratch/jobs.json" >/dev/null
until none_is_left; do sleep 0.1; done
"$berth" jobs -a --json | sed -n 's/.*"start":\([0-9.]*\),"end":\([0-9.]*\),.*/\1 \2/p' | sort -g |
    awk 'NR > 1 { print ($1 - end) * 1000 } { end = $2 }' >"$scratch/times"
row "from a job's end to the next one's start, median" "$(median <"$scratch/times")" ms
