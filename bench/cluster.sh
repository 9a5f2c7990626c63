#!/bin/sh
# bench/cluster.sh [ROUNDS [JOBS]]: many short jobs on 8 nodes with 4 cores each of a private Slurm, all on this host: by pilots, by
# Berth on this machine alone with as many pretended cores, by a Slurm array, and by GNU parallel on each node where it is
# installed. All take turns, ROUNDS (1) times. JOBS (10,000) run `true`, and a tenth of them `sleep 1`; the array has a twentieth
# and a fifth of that, as it would take minutes. Seconds are those from the first command to the last end. Then those
# of processor time, and of which programs, where pilots ran. It takes `make` before, and what `make demo-cluster` takes.
set -eu
rounds=${1:-1}
jobs=${2:-10000}
build=$(cd "${BERTH_BUILD:-build}" && pwd)
berth=$build/berth
# shellcheck source=scripts/slurm_cluster.sh
. "$(dirname "$0")/../scripts/slurm_cluster.sh"
scratch=$(mktemp -d)
unset BERTH_SOCKET
down() {
    for folder in pilots alone; do
        BERTH_DIR=$scratch/$folder "$berth" server stop >/dev/null 2>&1 || true
    done
    scancel -u "$(id -un)" 2>/dev/null || true
    tries=50
    while [ $tries -gt 0 ] && [ -n "$(squeue -h 2>/dev/null)" ]; do
        tries=$((tries - 1))
        sleep 0.2
    done
    cluster_stop
    rm -rf "$scratch"
}
trap down EXIT
trap 'exit 1' INT TERM

now() { date +%s.%N; }
row() { # METHOD WHAT JOBS BEGAN
    awk -v method="$1" -v what="$2" -v n="$3" -v begun="$4" -v end="$(now)" -v load="$(cut -d' ' -f1 /proc/loadavg)" \
        'BEGIN { s = end - begun; printf "%-24s %-8s %6d %9.2f %9.0f   %s\n", method, what, n, s, n / s, load }'
}
by_berth() { # FOLDER METHOD N COMMAND...
    BERTH_DIR=$scratch/$1
    export BERTH_DIR
    method=$2 n=$3
    shift 3
    begun=$(now)
    id=$("$berth" submit -t 1m --array "$n" -o /dev/null "$@")
    "$berth" wait "$id"
    row "$method" "$*" "$n" "$begun"
}
by_array() { # N COMMAND
    begun=$(now)
    sbatch -Q --array="1-$1" -o /dev/null --wrap "$2"
    while [ -n "$(squeue -h -t pending,configuring,running,completing -n wrap -o %i | head -n 1)" ]; do sleep 0.2; done
    row 'Slurm array' "$2" "$1" "$begun"
}
by_parallel() { # N COMMAND
    command -v parallel >/dev/null || return 0
    begun=$(now)
    srun -N 8 -n 8 --exclusive sh -c "seq $(($1 / 8)) | parallel -j 4 '$2 #'" >/dev/null 2>&1
    row 'GNU parallel in an srun' "$2" $(($1 / 8 * 8)) "$begun"
}
# Seconds of processor time by program, of all that is called so: those of children that have ended are theirs.
spent() {
    for program in berthd berth-gate berth-agent berth-keeper; do
        seconds=0
        for pid in $(pgrep -x "$program"); do
            seconds=$(awk -v was="$seconds" -v tick="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print was + ($12 + $13) / tick }' "/proc/$pid/stat" 2>/dev/null || echo "$seconds")
        done
        printf ' %s %.2f' "$program" "$seconds"
    done
    echo
}
differences() { # BEFORE AFTER
    echo "$1 $2" | awk '{ n = NF / 2; for (i = 1; i < n; i += 2) printf " %s %.2f", $i, $(i + 1 + n) - $(i + 1); print "" }'
}

cluster_start "$scratch/slurm" 8 4 || exit 1
echo "$(nproc) processors, load $(cut -d' ' -f1-3 /proc/loadavg), Slurm $(sinfo --version | cut -d' ' -f2), $(date -u +%F)"
mkdir -m 700 "$scratch/pilots" "$scratch/alone"
echo 'resources: {nodes: 1, cores: 1}' >"$scratch/pilots/berth.yaml"
printf '%s\n' 'resources: {nodes: 8, cores: 4}' 'server: {imagined: yes}' >"$scratch/alone/berth.yaml"
for folder in pilots alone; do
    echo 'queues: {batch: {policy: easy}}' >>"$scratch/$folder/berth.yaml"
    BERTH_DIR=$scratch/$folder "$berth" server start >/dev/null
done
BERTH_DIR=$scratch/pilots
export BERTH_DIR
"$berth" drain node0
begun=$(now)
"$berth" pilot add slurm --nodes 8 --time 60m >/dev/null
until [ "$("$berth" nodes | grep -c '^n[1-8] .* up ')" = 8 ]; do sleep 0.05; done
awk -v a="$begun" -v b="$(now)" 'BEGIN { printf "from `pilot add` to eight nodes: %.2f s\n", b - a }'
cd /
printf '%-24s %-8s %6s %9s %9s   %s\n' method command jobs seconds 'a second' load
round=0
while [ "$round" -lt "$rounds" ]; do
    round=$((round + 1))
    before=$(spent)
    by_berth pilots 'pilots' "$jobs" true
    after=$(spent)
    by_berth alone 'Berth on one machine' "$jobs" true
    by_berth pilots 'pilots' $((jobs / 10)) sleep 1
    by_berth alone 'Berth on one machine' $((jobs / 10)) sleep 1
done
# The nodes are lent until here.
BERTH_DIR=$scratch/pilots "$berth" pilot remove 1 >/dev/null
while [ -n "$(squeue -h)" ]; do sleep 0.2; done
round=0
while [ "$round" -lt "$rounds" ]; do
    round=$((round + 1))
    by_parallel "$jobs" true
    by_parallel $((jobs / 10)) 'sleep 1'
    by_array $((jobs / 20)) true
    by_array $((jobs / 50)) 'sleep 1'
done
echo "seconds of processor time for the last $jobs by pilots:$(differences "$before" "$after")"
