#!/bin/sh
# What shares change on a trace: waits, fairness and utilisation, one row for each order of users.
#
# usage: shares_trace.sh BUILD TRACE NODES
#
# Prints a table in Markdown. All rows are simulated with a tree of users, so that fairness is measured alike; the
# first goes by the submission of each user's first job.
set -eu

build=$1
trace=$2
nodes=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

row() { # TITLE POLICY HALF-LIFE ORDER
    cat >"$scratch/config.yaml" <<END
resources: {nodes: $nodes, cores: 1}
shares: {half-life: $3}
queues: {batch: {policy: $2, shares: {by: user, order: [$4]}}}
END
    "$build/berth" sim --json --config "$scratch/config.yaml" "$trace" >"$scratch/out"
    python3 -c '
import json, sys
p = json.load(open(sys.argv[2]))["policies"][0]
s = p["shares"]
print("| %s | %.0f | %.0f | %.0f | %.1f | %.3f | %.1f | %.1f |" % (
    sys.argv[1], p["avg_wait_s"] / 60, p["p95_wait_s"] / 60, p["max_wait_s"] / 3600, p["avg_bsld"], s["jain"],
    100 * s["mean_error"], 100 * p["utilisation"]))' "$1" "$scratch/out"
}

echo "| order | wait, mean min | wait, 95th pct. min | wait, max h | bounded slowdown | Jain's index | share error % | utilisation % |"
echo "|---|---|---|---|---|---|---|---|"
row 'easy, submit' easy 7d submit
row 'easy, share' easy 7d share
row 'easy, drf' easy 7d drf
row 'easy, usage of 1 day' easy 1d usage
row 'easy, usage of 7 days' easy 7d usage
row 'easy, fewest-running' easy 7d fewest-running
row 'fcfs, submit' fcfs 7d submit
row 'fcfs, share' fcfs 7d share
row 'conservative, submit' conservative 7d submit
row 'conservative, share' conservative 7d share
