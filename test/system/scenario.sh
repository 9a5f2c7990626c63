#!/bin/sh
# berth sim --scenario: events in, decisions out; expectations, states that are saved and taken up again, what-if questions,
# and what is wrong.
. "$BERTH_SOURCE/test/lib.sh"
cd "$scratch" || exit 1

decide() { # ARG...: decisions on standard output
    expect_status 0 "$BERTH" sim "$@" --decisions -
    [ -s err ] && fail "$(cat err)"
}

expect_out() { # standard input is what standard output is
    cat >expected
    cmp -s expected out && return
    fail "$1"
    diff expected out
}

# ---- The lines of issue 4 ----
cat >five.yaml <<'END'
resources: {nodes: 5, cores: 4}
match: {policy: low}
queues:
  batch: {policy: easy}
END
cat >b.yaml <<'END'
version: 1
resources: [{type: node, count: 1, with: [{type: slot, count: 1, label: task, with: [{type: core, count: 2}]}]}]
tasks: [{command: [app], slot: task, count: {per_slot: 1}}]
attributes: {system: {duration: 100}}
END
mkdir folder
cp b.yaml folder
cat >folder/lines.jsonl <<'END'
{"at": 0, "submit": {"id": "a", "queue": "batch", "user": "u1", "nodes": 2, "cores": 4, "duration": 3600, "runtime": 1800}}
{"at": 5, "submit": {"id": "b", "jobspec": "b.yaml", "dependency": "afterok:a"}}
{"at": 9, "priority": {"id": "b", "value": 20}}
{"at": 12, "down": "node[3-4]"}
{"at": 60, "up": "node3"}
{"at": 90, "expect": {"a": "running", "b": "blocked"}}
{"at": 1800, "expect": {"b": "running"}}
END
decide --config five.yaml --scenario folder/lines.jsonl
expect_out "the issue's lines" <<'END'
{"at": 0, "job": "a", "decision": "start", "how": "immediate", "until": 3600, "resources": "node[0-1]/core[0-3]"}
{"at": 5, "job": "b", "decision": "wait", "reason": "dependency a"}
{"at": 1800, "job": "a", "decision": "end", "status": "done"}
{"at": 1800, "job": "b", "decision": "start", "how": "immediate", "until": 1900, "resources": "node0/core[0-1]"}
{"at": 1900, "job": "b", "decision": "end", "status": "done"}
END
sed 's/"at": 12, "down.*/"at": 9, "cancel": "a"}/; /expect/d' folder/lines.jsonl >folder/cancel.jsonl
decide --config five.yaml --scenario folder/cancel.jsonl
grep -q '^{"at": 9, "job": "a", "decision": "end", "status": "cancelled"}$' out || fail "a is not cancelled"
grep -q '^{"at": 9, "job": "b", "decision": "reject", "reason": "dependency a' out || fail "b is not rejected"

# ---- The example of berth-scenario(5) ----
page=$BERTH_SOURCE/man/berth-scenario.5
sed -n '/^resources: {nodes: 4/,/^\.Ed/p' "$page" | sed '$d' >four.yaml
sed -n '/^{"at": 0, "submit": {"id": "a", "nodes": 3/,/^\.Ed/p' "$page" | sed '$d' >easy.jsonl
decide --config four.yaml --scenario easy.jsonl
sed -n '/--decisions -$/,/^\.Ed/p' "$page" | sed '1d;$d' | expect_out "the manual's example"
expect_status 0 "$BERTH" sim --config four.yaml --scenario easy.jsonl --until 6 --save six.json
expect_status 0 "$BERTH" sim --config four.yaml --scenario easy.jsonl --until 6 --save -
cmp out six.json || fail "standard output has more, or less, than the state"
expect_status 0 "$BERTH" sim --config four.yaml --load six.json --what-if '{"add-nodes": 3}'
expect_out "the manual's question" <<'END'
job                                 start          what if
b                                    1800              606
END
expect_status 0 "$BERTH" sim --config four.yaml --load six.json --what-if '' --json
expect_out "when will it start?" <<'END'
{"jobs": [
  {"job": "b", "start": 1800}
]}
END
expect_status 0 "$BERTH" sim --config four.yaml --scenario easy.jsonl --until 6 --json \
    --what-if '{"at": 10, "cancel": "a"}' --what-if '{"at": 20, "submit": {"id": "d", "nodes": 1, "duration": 9}}'
expect_out "two events" <<'END'
{"jobs": [
  {"job": "b", "start": 1800, "what_if": 606},
  {"job": "d", "start": null, "what_if": 20}
]}
END

# Under actions that let nobody go before y, a small job waits for it; with backfill it starts at once.
cat >behind.jsonl <<'END'
{"at": 0, "submit": {"id": "x", "nodes": 2, "duration": 100}}
{"at": 1, "submit": {"id": "y", "nodes": 3, "duration": 10}}
END
for actions in allocate 'allocate, backfill'; do
    cat four.yaml - >"$actions.yaml" <<END
actions: [$actions]
END
    expect_status 0 "$BERTH" sim --config "$actions.yaml" --scenario behind.jsonl --until 6 \
        --what-if '{"at": 10, "submit": {"id": "d", "nodes": 1, "duration": 9}}'
    cp out "$actions.out"
done
tr -s ' ' <allocate.out | grep -qx 'd - 100' || fail "what if, without backfill: $(cat allocate.out)"
tr -s ' ' <'allocate, backfill.out' | grep -qx 'd - 10' || fail "what if, with backfill: $(cat 'allocate, backfill.out')"

# ---- Every event ----
cat >all.yaml <<'END'
resources: {nodes: 4, cores: 4}
match: {policy: low}
default-queue: batch
users:
  u1: [staff]
queues:
  batch: {policy: easy}
  vip: {policy: fcfs, priority: 10, groups: [staff]}
  low: {policy: fcfs, preemptible: requeue, priority: -5}
  lowc: {policy: fcfs, preemptible: cancel, priority: -5}
END
sed 's/policy: easy/policy: fcfs/' all.yaml >new.yaml
cat >more.json <<'END'
{"graph": {"nodes": [
  {"id": "0", "metadata": {"type": "cluster", "basename": "cluster", "id": 0, "paths": {"containment": "/cluster0"}}},
  {"id": "900", "metadata": {"type": "node", "basename": "node", "name": "node4", "id": 4, "rank": 4,
                             "paths": {"containment": "/cluster0/node4"}}}],
 "edges": [{"source": "0", "target": "900"}]}}
END
cat >all.jsonl <<'END'
# arrays, holds, times to begin
{"at": 0, "submit": {"id": "arr", "cores": 2, "array": 3, "duration": 100}}
{"at": 0, "submit": {"id": "h", "cores": 1, "hold": true, "duration": 10}}
{"at": 0, "submit": {"id": "bg", "cores": 1, "begin": 20.5, "duration": 10}}
{"at": 0, "expect": {"arr": "running", "arr[2]": {"start": 0, "end": 100, "resources": "node1/core[0-1]", "how": "immediate"}}}
{"at": 0, "expect": {"h": "held", "bg": "blocked"}}
{"at": 1, "cancel": "arr[1]"}
{"at": 2, "release": "h"}

# groups; ends
{"at": 3, "submit": {"id": "v", "queue": "vip", "user": "u1", "nodes": 4, "duration": 50}}
{"at": 3, "submit": {"id": "nov", "queue": "vip", "user": "u2", "nodes": 4, "duration": 50}}
{"at": 3, "expect": {"v": "pending", "nov": "rejected"}}
{"at": 4, "duration": {"id": "arr[0]", "value": 30}}
{"at": 5, "end": {"id": "arr[2]", "status": "failed"}}
{"at": 6, "submit": {"id": "dep", "cores": 1, "dependency": "afternotok:arr", "duration": 5}}
{"at": 100, "submit": {"id": "over", "nodes": 1, "duration": 5, "runtime": 40, "status": "failed"}}
{"at": 120, "expect": {"over": "running"}}

# preemption, and a node that fails
{"at": 200, "submit": {"id": "p1", "queue": "low", "nodes": 3, "duration": 1000}}
{"at": 200, "submit": {"id": "p2", "queue": "lowc", "nodes": 1, "duration": 1000}}
{"at": 210, "submit": {"id": "big", "nodes": 4, "duration": 30}}
{"at": 210, "expect": {"big": "running", "p1": "pending", "p2": "preempted"}}
{"at": 220, "fail": "node0"}
{"at": 220, "expect": {"big": {"state": "failed", "reason": "node0 is down"}, "p1": {"resources": "node[1-3]"}}}
{"at": 230, "up": "node0"}
{"at": 231, "drain": "node3"}

# more and less of a machine
{"at": 232, "property": {"resources": "node[0-1]", "key": "fast", "value": ""}}
{"at": 233, "submit": {"id": "f", "nodes": 1, "requires": ["fast"], "duration": 60}}
{"at": 234, "attach": "more.json"}
{"at": 235, "add-nodes": 2}
{"at": 236, "submit": {"id": "m", "nodes": 3, "duration": 60}}
{"at": 300, "remove": "node6"}
{"at": 310, "block": {"name": "maint", "resources": "node[0-5]", "start": 400, "duration": 100}}
{"at": 320, "submit": {"id": "z", "nodes": 1, "duration": 90}}
{"at": 321, "expect": {"z": {"state": "reserved", "start": 500, "queue": "batch"}}}
{"at": 330, "unblock": "maint"}

# queues
{"at": 340, "queue-stop": "batch"}
{"at": 341, "submit": {"id": "no", "nodes": 1, "duration": 90}}
{"at": 345, "queue-drain": "batch"}
{"at": 350, "queue-pause": "batch"}
{"at": 351, "submit": {"id": "pa", "nodes": 1, "duration": 90}}
{"at": 351, "hold": "pa"}
{"at": 352, "queue": {"id": "pa", "value": "low"}}
{"at": 353, "release": "pa"}
{"at": 360, "queue-start": "batch"}
{"at": 370, "config": "new.yaml"}
{"at": 371, "submit": {"id": "four", "nodes": 4, "duration": 10}}
{"at": 372, "expect": {"four": "running", "p1": "pending"}}
END
decide --config all.yaml --scenario all.jsonl
cp out whole
expect_out "every event" <<'END'
{"at": 0, "job": "arr[0]", "decision": "start", "how": "immediate", "until": 100, "resources": "node0/core[0-1]"}
{"at": 0, "job": "arr[1]", "decision": "start", "how": "immediate", "until": 100, "resources": "node0/core[2-3]"}
{"at": 0, "job": "arr[2]", "decision": "start", "how": "immediate", "until": 100, "resources": "node1/core[0-1]"}
{"at": 0, "job": "h", "decision": "wait", "reason": "held"}
{"at": 0, "job": "bg", "decision": "wait", "reason": "begin 20.5"}
{"at": 1, "job": "arr[1]", "decision": "end", "status": "cancelled"}
{"at": 2, "job": "h", "decision": "start", "how": "immediate", "until": 12, "resources": "node0/core2"}
{"at": 3, "job": "nov", "decision": "reject", "reason": "user u2 is not admitted to queue vip"}
{"at": 3, "job": "v", "decision": "wait", "reason": "resources node"}
{"at": 5, "job": "arr[2]", "decision": "end", "status": "failed"}
{"at": 6, "job": "dep", "decision": "wait", "reason": "dependency arr"}
{"at": 12, "job": "h", "decision": "end", "status": "done"}
{"at": 20.5, "job": "bg", "decision": "reserve", "start": 80}
{"at": 30, "job": "arr[0]", "decision": "end", "status": "done"}
{"at": 30, "job": "v", "decision": "start", "how": "immediate", "until": 80, "resources": "node[0-3]"}
{"at": 30, "job": "dep", "decision": "wait", "reason": "resources core"}
{"at": 80, "job": "v", "decision": "end", "status": "done"}
{"at": 80, "job": "bg", "decision": "start", "how": "reserved", "until": 90, "resources": "node0/core0"}
{"at": 80, "job": "dep", "decision": "start", "how": "immediate", "until": 85, "resources": "node0/core1"}
{"at": 85, "job": "dep", "decision": "end", "status": "done"}
{"at": 90, "job": "bg", "decision": "end", "status": "done"}
{"at": 100, "job": "over", "decision": "start", "how": "immediate", "until": 105, "resources": "node0"}
{"at": 140, "job": "over", "decision": "end", "status": "failed"}
{"at": 200, "job": "p1", "decision": "start", "how": "immediate", "until": 1200, "resources": "node[0-2]"}
{"at": 200, "job": "p2", "decision": "start", "how": "immediate", "until": 1200, "resources": "node3"}
{"at": 210, "job": "p2", "decision": "preempt", "for": "big", "then": "cancel"}
{"at": 210, "job": "p1", "decision": "preempt", "for": "big", "then": "requeue"}
{"at": 210, "job": "p2", "decision": "end", "status": "preempted"}
{"at": 210, "job": "big", "decision": "start", "how": "immediate", "until": 240, "resources": "node[0-3]"}
{"at": 210, "job": "p1", "decision": "wait", "reason": "resources node"}
{"at": 220, "job": "big", "decision": "end", "status": "failed", "reason": "node0 is down"}
{"at": 220, "job": "p1", "decision": "start", "how": "immediate", "until": 1220, "resources": "node[1-3]"}
{"at": 233, "job": "f", "decision": "start", "how": "immediate", "until": 293, "resources": "node0"}
{"at": 236, "job": "m", "decision": "start", "how": "immediate", "until": 296, "resources": "node[4-6]"}
{"at": 293, "job": "f", "decision": "end", "status": "done"}
{"at": 296, "job": "m", "decision": "end", "status": "done"}
{"at": 320, "job": "z", "decision": "reserve", "start": 500}
{"at": 330, "job": "z", "decision": "start", "how": "reserved", "until": 420, "resources": "node0"}
{"at": 341, "job": "no", "decision": "reject", "reason": "queue batch takes no jobs"}
{"at": 351, "job": "pa", "decision": "wait", "reason": "held"}
{"at": 353, "job": "pa", "decision": "start", "how": "immediate", "until": 443, "resources": "node4"}
{"at": 371, "job": "pa", "decision": "preempt", "for": "four", "then": "requeue"}
{"at": 371, "job": "p1", "decision": "preempt", "for": "four", "then": "requeue"}
{"at": 371, "job": "four", "decision": "start", "how": "immediate", "until": 381, "resources": "node[1-2,4-5]"}
{"at": 371, "job": "pa", "decision": "wait", "reason": "priority"}
{"at": 371, "job": "p1", "decision": "wait", "reason": "resources node"}
{"at": 381, "job": "four", "decision": "end", "status": "done"}
{"at": 381, "job": "p1", "decision": "start", "how": "immediate", "until": 1381, "resources": "node[1-2,4]"}
{"at": 381, "job": "pa", "decision": "start", "how": "immediate", "until": 471, "resources": "node5"}
{"at": 420, "job": "z", "decision": "end", "status": "done"}
{"at": 471, "job": "pa", "decision": "end", "status": "done"}
{"at": 1381, "job": "p1", "decision": "end", "status": "done"}
END

# ---- A state taken up goes on as if nothing had been ----
for cut in 0 1 3 6 20.5 33 120 200 205 215 225 233 235 299 311 321 335 343 346 351 352 365 ; do
    config=all.yaml
    awk -v cut=$cut '{ at = $2 + 0 } /^{/ { print >(at <= cut ? "before.jsonl" : "after.jsonl") }' all.jsonl
    expect_status 0 "$BERTH" sim --config all.yaml --scenario before.jsonl --until $cut --save state.json \
        --decisions before
    expect_status 0 "$BERTH" sim --config $config --load state.json --scenario after.jsonl --decisions after
    cat before after | cmp -s - whole || fail "saved at $cut: $(cat before after | diff whole - | head -3)"
done
expect_status 0 "$BERTH" sim --config all.yaml --load state.json --save again.json
cmp state.json again.json || fail "a state that is loaded is not the one that was saved"

# ---- What is expected and not found ----
cat >unmet.jsonl <<'END'
{"at": 0, "submit": {"id": "a", "nodes": 4, "duration": 10}}
{"at": 1, "submit": {"id": "b", "nodes": 4, "duration": 10, "dependency": "afterany:a"}}
{"at": 2, "expect": {"a": "running", "b": "running"}}
{"at": 2, "expect": {"b": "held", "c": "done"}}
{"at": 3, "expect": {"a": {"start": 1}}}
{"at": 10, "expect": {"a": {"state": "done", "end": 10}, "b": {"resources": "node[0-4]"}}}
END
expect_status 1 "$BERTH" sim --config four.yaml --scenario unmet.jsonl --decisions found
cmp -s err - <<'END' || fail "unmet: $(cat err)"
unmet.jsonl:3: expected b running, found blocked (dependency a)
unmet.jsonl:4: expected b held, found blocked (dependency a)
unmet.jsonl:4: expected c, found no such job
unmet.jsonl:5: expected a start 1, found 0
unmet.jsonl:6: expected b resources node[0-4], found node[0-3]
END
[ "$(wc -l <found)" -eq 5 ] || fail "the scenario does not go on: $(cat found)"
cat >expected <<'END'
unmet.jsonl: 2 jobs, until 20 s, 4 passes
job  queue  user  state  submit  start  end  wait  resources
a    batch  -     done        0      0   10     0  node[0-3]
b    batch  -     done        1     10   20     9  node[0-3]
END
cmp -s expected out || fail "the table: $(cat out)"

"$BERTH" sim --config four.yaml --scenario - --decisions - <easy.jsonl >out
sed -n '/--decisions -$/,/^\.Ed/p' "$page" | sed '1d;$d' | expect_out "a scenario from standard input"

# ---- What is wrong ----
wrong_line() { # TEXT LINE...: an error that ends so
    text=$1
    shift
    printf '%s\n' "$@" >wrong.jsonl
    expect_status 1 "$BERTH" sim --config four.yaml --scenario wrong.jsonl --decisions none
    expect_line err "berth sim: wrong.jsonl:$#: $text"
    [ -e none ] && fail "decisions of a wrong scenario"
}
a='{"at": 5, "submit": {"id": "a", "nodes": 1, "duration": 10}}'
wrong_line 'no event: expected a key such as "submit" beside "at"' '{"at": 0}'
wrong_line 'key "at": expected no time before 5, got 4' "$a" '{"at": 4, "cancel": "a"}'
wrong_line 'key "at": expected seconds from 0 to 4000000000, with up to six decimals, got none' '{"cancel": "a"}'
wrong_line '"cancel" and "hold" in one line, expected a line for each' '{"at": 1, "cancel": "a", "hold": "a"}'
wrong_line 'submit: key "cores": expected a whole number from 0 to 1000000000, got "two"' \
    '{"at": 0, "submit": {"id": "a", "cores": "two"}}'
wrong_line 'submit: there is a job "a" already' "$a" "$a"
wrong_line 'cancel: there is no job "b"' "$a" '{"at": 5, "cancel": "b"}'
wrong_line 'cancel: job "a" has no member 0' "$a" '{"at": 5, "cancel": "a[0]"}'
wrong_line 'hold: job "a" is running' "$a" '{"at": 6, "hold": "a"}'
wrong_line 'end: job "a" is done' "$a" '{"at": 16, "end": "a"}'
wrong_line 'submit: none.yaml: No such file or directory' '{"at": 0, "submit": {"id": "a", "jobspec": "none.yaml"}}'
wrong_line 'down: no such resource: node9' '{"at": 0, "down": "node9"}'
printf 'resources: {nodes: 4}\nqueues:\n  other: {policy: easy}\n' >other.yaml
wrong_line "config: queue batch has jobs and can't be left out" "$a" '{"at": 6, "config": "other.yaml"}'

failing() { # TEXT ARG...: one line, status 1
    text=$1
    shift
    expect_status 1 "$BERTH" sim "$@"
    expect_line err "berth sim: $text"
}
failing 'none.jsonl: No such file or directory' --config four.yaml --scenario none.jsonl
failing 'none.yaml: No such file or directory' --config none.yaml --scenario easy.jsonl
failing 'folder/none/decisions: No such file or directory' --config four.yaml --scenario easy.jsonl --decisions folder/none/decisions
failing 'folder/none/state: No such file or directory' --config four.yaml --scenario easy.jsonl --save folder/none/state
failing "four.yaml:1:9: '[' or '{' expected near 'resources'" --config four.yaml --load four.yaml
sed 's/"version": 1/"version": 2/' six.json >wrong.json
failing 'wrong.json: key "version": expected a whole number from 1 to 1, got 2' --config four.yaml --load wrong.json
sed 's/node3/node7/g' six.json >wrong.json
expect_status 1 "$BERTH" sim --config four.yaml --load wrong.json
[ "$(sed -n '$p' err)" = "berth sim: wrong.json: $(($(wc -l <err) - 1)) job can't be restored" ] ||
    fail "what can't be restored: $(cat err)"
failing '--until: the state of six.json is of a later time' --config four.yaml --load six.json --until 5

# A job whose end nobody knows has none in the table, in a state that is saved, or in a question.
cat >unknown.yaml <<'END'
resources: {nodes: 2}
default-duration: unknown
queues: {batch: {policy: easy}}
END
cat >unknown.jsonl <<'END'
{"at": 0, "submit": {"id": "a", "nodes": 2}}
{"at": 1, "submit": {"id": "b", "nodes": 1}}
END
expect_status 0 "$BERTH" sim --config unknown.yaml --scenario unknown.jsonl --until 5 --save unknown.json
grep -q '^a  *batch  *-  *running  *0  *0  *-  *0 ' out || fail "the table: $(cat out)"
expect_status 0 "$BERTH" sim --config unknown.yaml --load unknown.json --what-if '{"at": 7, "cancel": "a"}'
grep -q '^b  *never  *7$' out || fail "what if: $(cat out)"

# One of anything is said of as one.
echo '{"at": 0, "submit": {"id": "a", "nodes": 1, "hold": true}}' >one.jsonl
expect_status 0 "$BERTH" sim --config four.yaml --scenario one.jsonl
head -n 1 out >first
expect_line first 'one.jsonl: 1 job, until 0 s, 1 pass'

wrong() { # TEXT ARG...: a wrong command line
    text=$1
    shift
    expect_status 2 "$BERTH" sim "$@"
    expect_line err "berth sim: $text; see 'berth sim --help'"
}
wrong '--scenario needs --config' --scenario easy.jsonl
wrong '--load needs --config' --load six.json
wrong '--decisions is for --scenario' --decisions x trace
wrong '--what-if is for --scenario' --config four.yaml --what-if '' trace
wrong '--policy is in the configuration' --config four.yaml --policy easy trace
wrong '--procs is in the configuration' --config four.yaml --procs 5 --scenario easy.jsonl
wrong '--jobs is for traces and models' --config four.yaml --scenario easy.jsonl --jobs x
wrong "either a trace or --load, but got 'trace' too" --config four.yaml --load six.json trace
wrong '--jobs is for traces and models' --config four.yaml --scenario easy.jsonl --jobs x trace
wrong '--limit is for traces and models' --config four.yaml --scenario easy.jsonl --limit 5
wrong 'either the trace or the scenario is standard input' --config four.yaml --scenario - -
wrong '--events: with queues they are batched' --config four.yaml --events per-event trace
wrong 'either --save or --what-if' --config four.yaml --load six.json --save x --what-if ''
wrong "--until: 'soon' is not a number of seconds from 0 to 4000000000, with up to six decimals" \
    --config four.yaml --scenario easy.jsonl --until soon
wrong "--decisions: 'easy.jsonl' is the scenario" --config four.yaml --scenario easy.jsonl --decisions easy.jsonl
wrong "--decisions and --save are the same file, 'x'" --config four.yaml --scenario easy.jsonl --decisions x --save x
wrong "--decisions and --save are the same file, '-'" --config four.yaml --scenario easy.jsonl --decisions - --save -
finish
