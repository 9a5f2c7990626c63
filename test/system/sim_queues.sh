#!/bin/sh
# berth sim --config TRACE: columns to queues, users, groups and constraints; the reports of a trace.
. "$BERTH_SOURCE/test/lib.sh"
cd "$scratch" || exit 1

# job submit wait run procs cpu mem reqprocs reqtime reqmem status user group exe queue partition prev think
cat >trace.swf <<'END'
; MaxProcs: 99
1 0 -1 100 4 -1 -1 4 200 -1 1 1 1 1 1 -1 -1 -1
2 1 -1 100 6 -1 -1 6 200 -1 1 1 1 1 1 -1 -1 -1
3 2 -1  50 2 -1 -1 2  60 -1 1 2 1 1 2 -1 -1 -1
4 3 -1  50 2 -1 -1 2  60 -1 1 3 1 1 2 -1 -1 -1
5 4 -1  10 1 -1 -1 1  10 -1 1 2 2 1 9  7 -1 -1
6 5 -1  10 9 -1 -1 9  10 -1 1 2 2 1 9 -1 -1 -1
END
cat >config.yaml <<'END'
resources: {nodes: 2, cores: 4}
match: {policy: lonode}
default-queue: batch
users:
  two: [staff]
queues:
  batch: {policy: easy}
  staff: {policy: fcfs, groups: [staff], priority: 1}
trace:
  queues: {1: batch, 2: staff}
  users: {2: two}
  partitions: {7: {hostlist: [node1]}}
END
# 1 has node0, and 2 must wait for 6 cores until 200. 3 is of staff's queue, and 4 isn't admitted there. 5 goes to the
# default queue and must have node1. 6 wants more than there is.
expect_status 0 "$BERTH" sim --config config.yaml --jobs jobs.csv --json --plot plot.svg trace.swf
cmp -s jobs.csv - <<'END' || fail "jobs: $(cat jobs.csv)"
job,submit,start,end,procs,run,req,alloc
1,0,0,100,4,100,200,0-3
2,1,100,200,6,100,200,0-5
3,2,2,52,2,50,60,4-5
5,4,4,14,1,10,10,6
END
grep -q '"too_big": 1' out || fail "6 is not too big: $(cat out)"
grep -q '"policy": "config"' out || fail "no column config: $(cat out)"
grep -q '"n": 4' out || fail "not 4 jobs: $(cat out)"
grep -q '"match_policy": "lonode"' out || fail "no match policy: $(cat out)"
[ -s plot.svg ] || fail "no picture"
expect_status 0 "$BERTH" sim --config config.yaml trace.swf
grep -q '^trace.swf: 5 jobs on 8 processors$' out || fail "the table: $(cat out)"
grep -q '^rejected  *1$' out || fail "not one job is rejected: $(cat out)"

# A processor is a whole node. 5 holds a reservation for node1, which moves up when 1 ends, but 3 is of a higher queue.
sed 's/^trace:/&\n  processor: node/; s/nodes: 2/nodes: 4/' config.yaml >nodes.yaml
expect_status 0 "$BERTH" sim --config nodes.yaml --jobs jobs.csv trace.swf
cmp -s jobs.csv - <<'END' || fail "nodes: $(cat jobs.csv)"
job,submit,start,end,procs,run,req,alloc
1,0,0,100,4,100,200,0-15
3,2,100,150,2,50,60,0-7
5,4,150,160,1,10,10,4-7
END

# A trace beside a scenario: without events, jobs start as in the replay.
starts_of_both() { # CONFIG TRACE: into replayed and played
    expect_status 0 "$BERTH" sim --config "$1" --jobs jobs.csv "$2"
    sed -n 's/^\([0-9]*\),[0-9]*,\([0-9]*\),\([0-9]*\),.*/\1 \2 \3/p' jobs.csv | sort -n >replayed
    expect_status 0 "$BERTH" sim --config "$1" --scenario nothing.jsonl --json "$2"
    sed -n '/"state": "done"/s/.*"job": "\([0-9]*\)".*"start": \([0-9]*\), "end": \([0-9]*\),.*/\1 \2 \3/p' out | sort -n >played
    cmp -s replayed played || fail "$2 with $1: replay and player differ: $(diff replayed played | head -n 5)"
}
: >nothing.jsonl
starts_of_both config.yaml trace.swf
starts_of_both nodes.yaml trace.swf
awk 'BEGIN { # jobs out of order, many at one instant, some that are stopped at their limits
    print "; MaxProcs: 8"
    for (i = 1; i <= 300; i++) {
        r = (r * 1103515245 + 12345) % 2147483648
        print i, 10 * int(i / 4) - i % 3, -1, 1 + r % 40, 1 + int(r / 64) % 8, -1, -1, -1, 1 + int(r / 512) % 60, \
            -1, 1, i % 5, 1, 1, 1 + i % 2, -1, -1, -1
    }
}' >many.swf
starts_of_both config.yaml many.swf
[ "$(wc -l <played)" -gt 150 ] || fail "few jobs of many.swf run: $(wc -l <played)"

# With events: 1 ends as node0 fails, so 2 waits for it; 4 is cancelled; x is of the scenario alone.
cat >day.jsonl <<'END'
{"at": 3, "cancel": "4"}
{"at": 50, "fail": "node0"}
{"at": 50, "submit": {"id": "x", "cores": 4, "duration": 10}}
{"at": 120.5, "up": "node0"}
END
expect_status 0 "$BERTH" sim --config config.yaml --scenario day.jsonl --decisions - --limit 4 trace.swf
cmp -s out - <<'END' || fail "a day with events: $(cat out)"
{"at": 0, "job": "1", "decision": "start", "how": "immediate", "until": 200, "resources": "node0/core[0-3]"}
{"at": 1, "job": "2", "decision": "reserve", "start": 200}
{"at": 2, "job": "3", "decision": "start", "how": "immediate", "until": 62, "resources": "node1/core[0-1]"}
{"at": 3, "job": "4", "decision": "end", "status": "cancelled"}
{"at": 50, "job": "1", "decision": "end", "status": "failed", "reason": "node0 is down"}
{"at": 50, "job": "x", "decision": "reserve", "start": 62}
{"at": 50, "job": "2", "decision": "wait", "reason": "resources core"}
{"at": 52, "job": "3", "decision": "end", "status": "done"}
{"at": 52, "job": "x", "decision": "start", "how": "reserved", "until": 62, "resources": "node1/core[0-3]"}
{"at": 62, "job": "x", "decision": "end", "status": "done"}
{"at": 120.5, "job": "2", "decision": "start", "how": "immediate", "until": 320.5, "resources": "node0/core[0-3],node1/core[0-1]"}
{"at": 220.5, "job": "2", "decision": "end", "status": "done"}
END

# A model's workload on the same queues.
expect_status 0 "$BERTH" sim --config config.yaml --model lublin --jobs-count 50 --json
grep -q '"procs": 8' out || fail "the model's machine: $(cat out)"

# One queue without classes is what --machine simulates, but for the cores: counts there, names here.
grug 1 8 >one.graphml
printf 'resources: {nodes: 1, cores: 8}\nmatch: {policy: low}\nqueues:\n  batch: {policy: fcfs}\n' >one.yaml
expect_status 0 "$BERTH" sim --procs 8 --model lublin --jobs-count 500 --policy fcfs --jobs flat.csv
expect_status 0 "$BERTH" sim --config one.yaml --model lublin --jobs-count 500 --jobs named.csv
cut -d, -f1-7 named.csv | cmp -s - flat.csv || fail "fcfs is not fcfs"
check_alloc named.csv 8

# Blocks that come again and again. The simulation ends when the last job has; a job that never can start, as it lasts
# longer than node0 and node1 are ever free together, ends it too; and one that can start at last is waited for, behind
# more than 86400 beginnings and ends of the block of every minute.
cat >trace.swf <<'END'
1 0 -1 10 1 -1 -1 1 20 -1 1 1 1 1 1 -1 -1 -1
END
printf 'resources: {nodes: 3}\nblocks: [{name: b, resources: node2, start: 1d, duration: 4h, every: 7d}]\n' >blocks.yaml
expect_status 0 timeout 60 "$BERTH" sim --config blocks.yaml --jobs jobs.csv trace.swf
[ "$(wc -l <jobs.csv)" = 2 ] || fail "one job, one block: $(cat jobs.csv)"
cat >trace.swf <<'END'
1 0 -1 10 1 -1 -1 1 20 -1 1 1 1 1 1 -1 -1 -1
2 4000 -1 1000 2 -1 -1 2 1000 -1 1 1 1 1 1 -1 -1 -1
3 4001 -1 7000 2 -1 -1 2 7000 -1 1 1 1 1 1 -1 -1 -1
END
for policy in fcfs easy conservative; do
    cat >blocks.yaml <<END
resources: {nodes: 2}
queues: {q: {policy: $policy}}
blocks:
  - {name: even, resources: node0, start: 1h, duration: 1h, every: 2h}
  - {name: odd, resources: node1, start: 2h, duration: 1h, every: 2h}
END
    expect_status 0 timeout 60 "$BERTH" sim --config blocks.yaml --jobs jobs.csv trace.swf
    [ "$(wc -l <jobs.csv)" = 2 ] || fail "$policy, jobs that never start: $(cat jobs.csv)"
    grep -q '^rejected  *2$' out || fail "$policy: not two jobs never start: $(cat out)"
    cat >blocks.yaml <<END
resources: {nodes: 2}
queues: {q: {policy: $policy}}
blocks:
  - {name: long, resources: node0, start: 1h, duration: 30d}
  - {name: often, resources: node1, start: 1m, duration: 1s, every: 1m, for: {queues: [q]}}
END
    expect_status 0 timeout 60 "$BERTH" sim --config blocks.yaml --jobs jobs.csv trace.swf
    grep -q '^2,4000,2595600,' jobs.csv || fail "$policy: 2 does not start when node0 is free: $(cat jobs.csv)"
    printf '{"at":4000,"submit":{"id":"x","nodes":2,"duration":1000}}\n' >events.jsonl
    expect_status 0 timeout 60 "$BERTH" sim --config blocks.yaml --scenario events.jsonl --decisions=decisions
    grep -q '"at": 2595600, "job": "x", "decision": "start"' decisions || fail "$policy, x: $(cat decisions)"
done

failing() { # TEXT ARG...
    text=$1
    shift
    expect_status 1 "$BERTH" sim "$@"
    expect_line err "berth sim: $text"
}
failing 'none.yaml: No such file or directory' --config none.yaml trace.swf
printf 'resources: {nodes: 1, core: 8}\n' >wrong.yaml
expect_status 1 "$BERTH" sim --config wrong.yaml trace.swf
grep -q '^berth sim: wrong.yaml:1:' err || fail "the place of what is wrong: $(cat err)"
expect_status 2 "$BERTH" sim --config config.yaml --plot config.yaml trace.swf
expect_line err "berth sim: --plot: 'config.yaml' is the configuration; see 'berth sim --help'"

# A rule for pilots: four processors are nowhere, so a pilot is asked for after five seconds, for the job's half hour and two
# minutes, and is there after ten. The job starts after 605 s and takes 600, and five minutes later the node is given back.
cp "$BERTH_SOURCE/test/scenario/pilots/wait.yaml" pilots.yaml
echo '1 0 -1 600 4 -1 -1 4 1800 -1 1 1 1 -1 1 1 -1 -1' >one.swf
expect_status 0 "$BERTH" sim --config pilots.yaml --json one.swf
tr -d ' \n' <out >line
grep -q '"avg_wait_s":605.0,' line || fail "wait for a pilot: $(cat out)"
grep -q '"pilots":{"asked":1,"asked_node_s":1920.0,"had_node_s":900.0,"used_node_s":600.0}' line || fail "pilots: $(cat out)"
expect_status 0 "$BERTH" sim --config pilots.yaml one.swf
grep -q '^  had      node hours  *0.25$' out || fail "pilots: $(cat out)"
sed 's/, node: {cores: 4}//' pilots.yaml >unknown.yaml
failing 'pilots: expected "node", which says what a node has: in a simulation none comes to learn it from' \
    --config unknown.yaml one.swf
finish
