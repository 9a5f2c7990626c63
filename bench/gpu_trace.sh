#!/bin/sh
# What gangs, backfill, shares, reclaim and thresholds change on a trace of a GPU cluster (doc/gpu-traces.md).
#
# usage: gpu_trace.sh BUILD TRACE [PICTURE.svg]
#
# Prints a table in Markdown, and draws its waits.
set -eu

build=$1
trace=$2
picture=${3-}
here=$(dirname "$0")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

tool() { # ARGUMENT...
    python3 -B "$here/gpu_trace.py" "$@"
}

row() { # GPUS TITLE, with config.yaml and the scenario given
    "$build/berth" sim --config "$scratch/config.yaml" --scenario "$3" --decisions "$scratch/decisions" >/dev/null
    tool sum "$1" "$2" "$3" "$scratch/decisions"
}

# ---- Philly: 3,034 jobs of 4 to 128 GPUs, on 64 nodes of 8 ----

for how in array wide,unknown limits exact unknown; do
    tool philly "$trace" "$how" >"$scratch/$how.jsonl"
done

philly() { # TITLE HOW POLICY QUEUE-KEYS [KEYS]
    cat >"$scratch/config.yaml" <<END
resources: {nodes: 64, cores: 8, gpus: 8}
${5-}
queues:
  one: {policy: $3$4}
  several: {policy: $3$4}
END
    row 512 "$1" "$scratch/$2.jsonl"
}

table() {
    echo "| | wait, one node: mean h | wait, several: mean h | 95th pct. h | max h | never whole | share error % | GPUs used % | GPU-h held idle | preemptions | GPU-h lost |"
    echo "|---|---|---|---|---|---|---|---|---|---|---|"
    shares=', shares: {weight: 1}'
    philly 'members one by one, fcfs' array fcfs ''
    philly 'gangs, fcfs' limits fcfs ''
    philly 'gangs, easy' limits easy ''
    philly 'gangs, conservative' limits conservative ''
    philly 'gangs, easy, exact limits' exact easy ''
    philly 'gangs, easy, shares' limits easy "$shares"
    philly 'gangs, easy, shares, reclaim' limits easy "$shares, preempts: borrowers"
    philly 'ends unknown, easy' unknown easy ''
    philly 'ends unknown, one member' wide,unknown easy ''
    philly 'the same, threshold of a day' wide,unknown easy '' 'starvation-threshold: 1d'
}

table | tee "$scratch/table"
[ -z "$picture" ] || tool picture <"$scratch/table" >"$picture"
