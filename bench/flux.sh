#!/bin/sh
# Flux's schedulers side by side, in one run on one machine: sched-simple, Fluxion and sched-berth.
#
# usage: bench/flux.sh [BUILD] [SCHEDULER...]       SCHEDULER: simple fluxion berth; default: those that are there
#
#   JOBS=10000    how many `flux submit --cc=1-JOBS true` sends to one node
#   HELD=2000     how many of mixed shapes are held and released at once, on NODES=10240 faked nodes of 32 cores
#   POLICIES="easy conservative"    of those that have policies; sched-simple has one, and is asked once
#   FLUXION=DIR   a build of flux-sched, for its modules; without it Fluxion is left out
#   DEPTH=1000000 how many jobs Fluxion's queue considers (its own default: 32); berth and simple consider all
#
# `flux` is that in PATH. Prints a row for each: of one node, jobs a second from the first submission to the last end; of the
# faked machine, the seconds from the release to the last decision, jobs that run then and jobs that are promised a
# time, the median and the longest time from an end to the next start, and the scheduler's memory.
set -eu
cd "$(dirname "$0")/.."
build=${1:-build}
[ $# -eq 0 ] || shift
build=$(cd "$build" && pwd)
fluxion=${FLUXION:-}
command -v flux >/dev/null || { echo "bench/flux.sh: no flux in PATH" >&2; exit 1; }
schedulers=${*:-simple ${fluxion:+fluxion} berth}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset FLUX_URI FLUX_CONF_DIR
export FLUX_SCHED_MODULE=none

# The commands that load a scheduler of a policy; --exec puts it into a process of its own, whose memory can be seen.
loads() { # SCHEDULER POLICY EXEC
    case $1 in
    simple) echo "flux module load $3 sched-simple" ;;
    berth) echo "flux module load $3 $build/sched-berth.so" ;;
    fluxion)
        resource=$(find "$fluxion" -name sched-fluxion-resource.so | head -n 1)
        qmanager=$(find "$fluxion" -name sched-fluxion-qmanager.so | head -n 1)
        echo "flux module load $3 $resource match-policy=lonode prune-filters=ALL:core"
        echo "flux module load $3 $qmanager queue-policy=$2" \
            "queue-params=queue-depth=${DEPTH:-1000000},max-queue-depth=1000000"
        ;;
    *) echo "bench/flux.sh: unknown scheduler $1" >&2; exit 2 ;;
    esac
}

printf '%-10s %-14s %10s\n' scheduler 'one node' 'jobs/s'
for scheduler in $schedulers; do
    loads "$scheduler" fcfs '' >"$scratch/load"
    printf '[sched-berth.queues.default]\npolicy = "fcfs"\n' >"$scratch/config.toml"
    flux start --config-path="$scratch/config.toml" sh -ec "
        . $scratch/load >&2
        exec flux python bench/flux_decide.py rate ${JOBS:-10000}" >"$scratch/rate" </dev/null 2>"$scratch/log" ||
        { cat "$scratch/log" >&2; exit 1; }
    printf '%-10s %-14s %10s\n' "$scheduler" "${JOBS:-10000} jobs" "$(cat "$scratch/rate")"
done

printf '\n%-10s %-14s %10s %8s %8s %12s %12s %8s\n' scheduler policy 'decided s' running promised 'next, median' longest 'MiB'
for scheduler in $schedulers; do
    policies=${POLICIES:-easy conservative}
    [ "$scheduler" != simple ] || policies=fcfs
    for policy in $policies; do
        loads "$scheduler" "$policy" --exec >"$scratch/load"
        cat >"$scratch/config.toml" <<END
[fake-resources]
nnodes = ${NODES:-10240}
cores-per-node = 32
[sched-berth]
match = {policy = "low"}
[sched-berth.queues.default]
policy = "$policy"
END
        # The broker fails where a module takes long to end: what counts is that the row is there.
        flux start --config-path="$scratch/config.toml" sh -ec "
            . $scratch/load >&2
            exec flux python bench/flux_decide.py decide ${HELD:-2000} ${NODES:-10240}" >"$scratch/row" </dev/null 2>"$scratch/log" || :
        [ -s "$scratch/row" ] || { cat "$scratch/log" >&2; exit 1; }
        # shellcheck disable=SC2046,SC2183  # one word a column
        printf '%-10s %-14s %10s %8s %8s %12s %12s %8s\n' "$scheduler" "$policy" $(cat "$scratch/row")
    done
done
