#!/bin/sh
# What parts of GPUs, backfill and shares change on a trace of tasks with parts of GPUs (doc/gpu-traces.md).
#
# usage: gpu_shares.sh BUILD NODES.csv.gz PODS.csv.gz
#
# Prints a table in Markdown.
set -eu

build=$1
nodes=$2
pods=$3
here=$(dirname "$0")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

tool() { # ARGUMENT...
    python3 -B "$here/gpu_shares.py" "$@"
}

for every in 1 2; do
    tool machine "$nodes" "$every" >"$scratch/$every.json"
done
for how in limits whole; do
    tool scenario "$pods" 10000 "$how" >"$scratch/$how.jsonl"
done

row() { # TITLE EVERY HOW POLICY [QUEUE-KEYS]
    cat >"$scratch/config.yaml" <<END
resources: {file: $2.json}
match: {policy: low}
queues:
  service: {policy: $4${5-}}
  best-effort: {policy: $4${5-}}
END
    "$build/berth" sim --config "$scratch/config.yaml" --scenario "$scratch/$3.jsonl" --decisions "$scratch/decisions" >/dev/null
    tool sum "$(tool gpus "$nodes" "$2")" "$1" "$scratch/$3.jsonl" "$scratch/decisions"
}

table() {
    echo "| | wait, service: mean min | wait, best effort: mean min | 95th pct. min | max h | never | share error % | GPUs used % | at most % | preemptions | GPU-h lost |"
    echo "|---|---|---|---|---|---|---|---|---|---|---|"
    row 'all nodes, parts, easy' 1 limits easy
    row 'all nodes, whole GPUs, easy' 1 whole easy
    row 'half of them, parts, fcfs' 2 limits fcfs
    row 'half, parts, easy' 2 limits easy
    row 'half, parts, easy, shares' 2 limits easy ', shares: {weight: 1}'
    row 'half, parts, easy, shares, reclaim' 2 limits easy ', shares: {weight: 1}, preempts: borrowers'
}

table
