#!/bin/sh
# What explain says of jobs, on a machine of two nodes with four cores and two GPUs each; also with thousands that wait.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
mkdir -p "$BERTH_DIR"
cat >"$BERTH_DIR/berth.yaml" <<END
resources: {nodes: 2, cores: 4, gpus: 2, memory: 8}
server: {imagined: yes}
queues:
  batch: {policy: easy}
  line: {policy: fcfs, priority: -1}
  few: {policy: easy, limits: {user: {core: 6}}}
default-queue: batch
END

# submit ARGUMENT...: the id is in $id
submit() {
    id=$("$BERTH" submit "$@") || fail "submit $*"
}

# says TEXT: the first line about $id
says() {
    expect_status 0 "$BERTH" explain "$id"
    expect "explain $id" "$1" "$(head -n 1 out)"
}

# less KEY: what of it would let $id start now
less() {
    "$BERTH" explain --json "$id" | sed -n '/"would_start_now"/,/}/s/^ *"'"$1"'": \([^,]*\),*$/\1/p'
}

# A node for two hours; of the other one three cores and a GPU.
submit -N 1 -t 2h sleep 1000
await_state "$id" running
submit -c 3 -g 1 -t 2h sleep 1000
await_state "$id" running

# A core is free, and a GPU; the first that waits is promised the end of the first two.
submit -c 2 -t 1h true
expect "cores that are free" 1 "$(less cores)"
for key in duration nodes gpus memory; do
    expect "$key that would help" null "$(less $key)"
done
expect_status 0 "$BERTH" explain "$id"
grep -qE '^It waits for [a-z]* that 2 other jobs hold\. It has a reservation and will start in (2h|1h 59m) at the latest\. It would start now with 1 core\.$' out ||
    fail "explain: $(cat out)"

# Who holds that: a table, in the order of their ends.
sed 1d out >table
grep -q '^HELD BY  USER  *UNTIL  *RESOURCES$' table || fail "no heads: $(cat table)"
expect "rows of holders" 3 "$(wc -l <table)"
expect "the holders" "1 2" "$(sed 1d table | awk '{ print $1 }' | xargs)"
grep -q '^ *1  .*  20[0-9-]* [0-9:]*  node' table || fail "a row: $(cat table)"

# Behind it, a core is free until its promise, which two hours of another would not touch, but on the node it is promised.
submit -c 4 -t 5h true
expect "cores behind a promise" 1 "$(less cores)"
submit -N 2 -c 1 -n 2 -t 30m true
expect "fewer nodes" 1 "$(less nodes)"
submit -n 1 -g 2 -t 30m true
expect "fewer gpus" 1 "$(less gpus)"

# A jobspec's cores, as a short form's.
cat >spec.yaml <<END
version: 9999
resources: [{type: slot, count: 3, label: task, with: [{type: core, count: 1}]}]
tasks: [{command: ["true"], slot: task, count: {per_slot: 1}}]
attributes: {system: {duration: 1800}}
END
submit --jobspec spec.yaml true
expect "a jobspec's cores" 1 "$(less cores)"

# What is not a matter of resources.
submit --hold true
says "It is held: it waits for 'berth release $id'."
submit --dependency afterany:1:2 true
says "It waits for job 1 and job 2, on which it depends."
submit --begin +2h true
expect_status 0 "$BERTH" explain "$id"
grep -qE '^It was submitted to start in (2h|1h 59m) at the earliest\.$' out || fail "explain: $(cat out)"
submit -q line -N 1 true
submit -q line true
expect_status 0 "$BERTH" explain "$id"
grep -q '^It waits for earlier jobs: queue line starts its jobs in order\.' out || fail "explain: $(cat out)"
expect "rows about another's turn" 1 "$(wc -l <out)"
expect_status 1 "$BERTH" explain 99
expect_err 'berth explain: there is no job 99'

# What runs, and what doesn't any more.
id=1
expect_status 0 "$BERTH" explain 1
grep -q '^It has been running for [0-9]*s, and will be stopped in [0-9hm ]* if it has not ended by then\.$' out || fail "explain: $(cat out)"
"$BERTH" cancel 2
await_state 2 cancelled
expect_status 0 "$BERTH" explain 2
grep -q '^It was cancelled after \([0-9]*s\|less than a second\)\.$' out || fail "explain: $(cat out)"
submit --hold true
"$BERTH" cancel "$id"
says 'It was cancelled before it started.'
submit -c 1 -t 1h sh -c 'until [ -e go ]; do sleep 0.02; done; exit 3'
other=$id
submit --dependency "afterok:$other" true
touch go
await_state "$other" failed
await_state "$id" failed
says "It can never start: dependency $other: never met."
expect_status 0 "$BERTH" explain "$other"
grep -q '^It has failed with exit status 3 after \([0-9]*s\|less than a second\)\.$' out || fail "explain: $(cat out)"
"$BERTH" cancel --all

# Six cores for a user's jobs in this queue, four of which one has: two are left.
submit -q few -n 4 -t 1h sleep 1000
# Limits are shown with the queues.
expect_status 0 "$BERTH" queues
grep -q '^few .* open *user core=6$' out || fail "limits of few: $(cat out)"
await_state "$id" running
submit -q few -n 4 -t 1h true
expect_status 0 "$BERTH" explain "$id"
grep -qE "^It waits for jobs to end: jobs of user $(id -un) in queue few may have at most 6 cores at once\\. It has a reservation and will start in (1h|59m [0-9]*s|59m) at the latest\\. It would start now with 2 cores\\.$" out ||
    fail "explain: $(cat out)"
"$BERTH" cancel --all
"$BERTH" server stop

# Thousands that wait: one node is busy for two hours, the other for one. The first that waits is promised both nodes in two
# hours. All others want a node for longer than that but for one, in their midst, of which the last to come is asked.
rm -rf "$BERTH_DIR"
mkdir -p "$BERTH_DIR"
cat >"$BERTH_DIR/berth.yaml" <<END
resources: {nodes: 3, cores: 4}
server: {imagined: yes}
queues: {batch: {policy: easy}}
default-queue: batch
END
N=20000
submit -N 2 -t 2h sleep 1000
await_state "$id" running
submit -N 3 -t 1h true
awk -v n=$N 'BEGIN {
    for (i = 0; i < n; i++)
        printf "%s{\"command\":[\"true\"],\"nodes\":1,\"duration\":%d}", i ? "," : "[", 7200 + 1800 + i
    print "]"
}' >many.json
"$BERTH" submit --bulk many.json >ids
expect "jobs that wait" $((N + 1)) "$("$BERTH" jobs -s pending --no-header | wc -l)"
id=$(sed -n '$s/.*-//p' ids)
[ -n "$id" ] || id=$(tail -n 1 ids)
longest=$(less duration)
awk -v got="$longest" 'BEGIN { exit !(got > 7000 && got <= 7200) }' || fail "the longest of the last one: $longest"
expect_status 0 "$BERTH" explain "$id"
grep -q '^It waits for nodes that 1 other job holds\. .* It would start now with a time limit of 1h 5[0-9]m\.$' out ||
    fail "explain: $(cat out)"
# It is so: with that it starts, and is the only one that does.
"$BERTH" update -t "$((${longest%.*} - 30))" "$id"
await "job $id to start" sh -c "'$BERTH' show $id | grep -q ' started'"
expect "jobs that wait still" $((N)) "$("$BERTH" jobs -s pending --no-header | wc -l)"
finish
