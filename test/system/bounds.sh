#!/bin/sh
# Nothing that is decided depends on how much the core keeps of what it could work out anew
# (src/base/bounds.h): a program that keeps next to nothing plays the same workloads and writes the same, but
# for when it tells anew why a job waits. With BERTH_FEW, fewer jobs and scenes.
. "$BERTH_SOURCE/test/lib.sh"

synthetic=1500 random=400 scenes=300 reclaims=150
[ -z "${BERTH_FEW:-}" ] || synthetic=400 random=150 scenes=40 reclaims=40

# compare WHAT: what both have written, but for why jobs wait
compare() {
    [ -s "$scratch/usual" ] || fail "$1: nothing is decided"
    sed -i '/"decision": "wait"/d; / wait j/d' "$scratch/usual" "$scratch/small"
    cmp -s "$scratch/usual" "$scratch/small" && return
    fail "$1: another decision where less is kept:"
    diff "$scratch/usual" "$scratch/small" | head -n 6
}

# same WHAT FILE OPTION...: both programs write the same file, with the options and --FILE file
same() {
    what=$1 file=$2
    shift 2
    expect_status 0 "$BERTH" sim "$@" "--$file" "$scratch/usual"
    expect_status 0 "$BERTH_SMALL" sim "$@" "--$file" "$scratch/small"
    compare "$what"
}

# workload SEED JOBS: events of random jobs of four queues, some of which are cancelled, and of nodes that go down
workload() {
    awk -v seed="$1" -v jobs="$2" '
        function draw(n) { seed = (seed * 69069 + 12345) % 4294967296; return int(seed / 65536) % n }
        BEGIN {
            split("one two few low", queue)
            split("node=1 node=2 node=5 node=9 cores=1 cores=3 cores=7 shared=2 shared=4 gpu=1", shape)
            for (i = 1; i <= jobs; i++) {
                at += draw(20) < 12 ? 0 : draw(240)
                split(shape[1 + draw(10)], ask, "=")
                duration = 30 * (1 + draw(draw(4) ? 20 : 200))
                runtime = draw(3) ? 1 + draw(duration) : duration
                if (ask[1] == "node")
                    want = "\"nodes\": " ask[2]
                else if (ask[1] == "cores")
                    want = "\"cores\": " ask[2]
                else if (ask[1] == "gpu")
                    want = "\"nodes\": 1, \"cores\": 1, \"gpus\": 1"
                else
                    want = "\"nodes\": " ask[2] ", \"cores\": 2"
                printf "{\"at\": %d, \"submit\": {\"id\": \"%d\", \"queue\": \"%s\", \"user\": \"u%d\", %s, " \
                    "\"duration\": %d, \"runtime\": %d}}\n", at, i, queue[1 + draw(4)], draw(3), want, duration, runtime
                if (draw(25) == 0)
                    printf "{\"at\": %d, \"cancel\": \"%d\"}\n", at, i
                if (draw(40) == 0)
                    printf "{\"at\": %d, \"down\": \"node%d\"}\n", at, draw(8)
                if (draw(20) == 0)
                    printf "{\"at\": %d, \"up\": \"node%d\"}\n", at, draw(8)
            }
        }'
}

# configuration POLICY
configuration() {
    cat <<END
resources: {nodes: 24, cores: 4, gpus: 1}
match: {policy: $1}
default-queue: one
queues:
  one: {policy: easy}
  two: {policy: conservative, priority: 3, limits: {user: {running: 6}}}
  few: {policy: hybrid, reservation-depth: 3, requires: {hostlist: ["node[0-9]"]}}
  low: {policy: fcfs, priority: -5}
END
}

# So many units, and cores of a graph.
for events in batched per-event; do
    for policy in fcfs easy hybrid conservative ageing; do
        same "$policy, $events" jobs --model lublin --procs 64 --jobs-count "$synthetic" --seed 7 --policy "$policy" --events "$events"
    done
done

# Named queues.
seed=0
for policy in first low lonode hinode locality; do
    seed=$((seed + 1))
    configuration "$policy" >"$scratch/config.yaml"
    workload "$seed" "$random" >"$scratch/events"
    same "$policy, seed $seed" decisions --config "$scratch/config.yaml" --scenario "$scratch/events"
done

# Scenes with blocks, dependencies, arrays, limits, preemption and other configurations.
"$SCENE_LOGS" 1 "$scenes" >"$scratch/usual" || fail "scenes: a law is broken"
"$SCENE_LOGS_SMALL" 1 "$scenes" >"$scratch/small" || fail "scenes: a law is broken where less is kept"
compare scenes

# Scenes of gangs and claims, of which each program prints a number that stands for all that was done.
gangs() { # PROGRAM
    # 1375: what a gang has beyond its min goes behind others in a walk; 1681, 1776: reservations under limits of nodes choose
    # again; 6132: what a gang has beyond its min starts with it; 6622: a late reservation stays; 8114, 8174, 21021, 71149:
    # starving members have their turns; 12530, 19055: a claim beside what those behind it are promised; 24373: loans in a round that
    # backfills; 42663: room for jobs of queues that had nobody to stop when the walk began; 42772: a choice that is wider than a
    # limit; 43372: what a claim has withheld; 85011: a job that loses its claim
    for first in 1 1375 1681 1776 6132 6622 8114 8174 12530 19055 21021 24373 42663 42772 43372 71149 85011; do
        count=1
        [ "$first" -ne 1 ] || count=$scenes
        SCENE_HASHES=1 SCENES=$count SCENE_SEED=$first "$1" 2>/dev/null | grep '^scene '
    done
}
gangs "$GANGS" >"$scratch/usual"
gangs "$GANGS_SMALL" >"$scratch/small"
compare gangs

# Scenes in which many are stopped for one by shares: whom it takes is found out anew each time where less is kept.
reclaim() { # PROGRAM
    SCENE_HASHES=1 SCENES=$reclaims SCENE_SEED=1 "$1" 2>/dev/null | grep '^scene '
}
reclaim "$RECLAIM" >"$scratch/usual"
reclaim "$RECLAIM_SMALL" >"$scratch/small"
compare "shares that are taken back"

finish
