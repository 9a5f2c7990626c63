#!/bin/sh
# Files that are no cases, or hold odd ones: each has one line that says what is wrong, the others are played.
. "$BERTH_SOURCE/test/lib.sh"

told() { # RUNNER CASE LINE
    printf '{"cases": [%s]}\n' "$2" >"$scratch/one.json"
    expect_status 1 "$BERTH_BUILD/$1" "$scratch/one.json"
    head -n 1 "$scratch/out" | grep -qxF "  $3" || fail "$1: $2: $(cat "$scratch/out")"
    tail -n 1 "$scratch/out" | grep -qx '0 passed, 1 failed' || fail "$1: $2: $(cat "$scratch/out")"
}
kube='"kind": "proportion_deserved", "jobs": [], "tasks": [], "expect": {}'
told kube_batch_cases "{$kube, \"nodes\": []}" 'queues: expected something'
told kube_batch_cases "{$kube, \"nodes\": [], \"queues\": [{\"weight\": 1}]}" 'queues[0].name: expected a text'
told kube_batch_cases "{$kube, \"nodes\": [], \"queues\": {}}" 'queues: expected a list'
told kube_batch_cases "{$kube, \"nodes\": [], \"queues\": [{\"name\": \"q\", \"weight\": -1}]}" \
    'queues[0].weight: expected a whole number from 0 to 1e12'
node='"nodes": [{"name": "n", "allocatable": {"cpu": 1}}]'
told kube_batch_cases "{$kube, $node, \"queues\": [{\"name\": \"q\", \"weight\": 2000000000}]}" \
    'the tree refuses the settings of queue q'
told kube_batch_cases "{$kube, \"queues\": [], \"nodes\": [{\"name\": \"n\", \"allocatable\": {\"cpu\": 1e300}}]}" \
    'nodes, jobs or tasks have more of a resource than 2^60 units together'
told kube_batch_cases "{$kube, \"queues\": [], \"nodes\": [{\"name\": \"n\", \"allocatable\": {\"cpu\": \"a\"}}]}" \
    'nodes[0].allocatable: expected an object of numbers'
told kube_batch_cases '{"kind": "victim_tiers", "tiers": [], "candidates": [3], "expect": {"victims": []}}' \
    'candidates[0]: expected a text'
# What is expected is there, of its kind, and all of it is known.
told kube_batch_cases '{"kind": "victim_tiers", "tiers": [], "candidates": []}' 'expect: expected something'
told kube_batch_cases '{"kind": "victim_tiers", "tiers": [], "candidates": [], "expect": {"victims": 1}}' \
    'expect.victims: expected a list'
ready='"kind": "job_readiness", "min_available": 1, "tasks": [{"name": "a", "status": "Running"}]'
told kube_batch_cases "{$ready, \"expect\": {\"readi\": true}}" 'unknown: what is expected of readi'
told kube_batch_cases "{$ready, \"expect\": {\"ready\": []}}" 'expect.ready: expected true or false'
session='"kind": "session", "config": {"actions": ["allocate"], "tiers": []}, "queues": [], "nodes": [], "jobs": [], "tasks": []'
told kube_batch_cases "{$session, \"expect\": {}}" 'expect: expected something to compare'
told kube_batch_cases "{$session, \"expect\": {\"binds\": {\"a\": []}}}" 'binds.a: expected a text'
told kube_batch_cases "{$session, \"expect\": {\"binds_\": {}}}" 'unknown: what is expected of binds_'
one='"kind": "session", "config": {"actions": ["allocate"], "tiers": []}, "queues": [], "nodes": [], "jobs": []'
told kube_batch_cases "{$one, \"tasks\": [{\"name\": \"a\", \"status\": \"Runing\"}], \"expect\": {\"bind_count\": 0}}" \
    'tasks[0].status: unknown: Runing'
printf '{"cases": [{%s, "tasks": [{"name": "a", "status": "Pending", "wants": 1}], "expect": {"bind_count": 0}}, %s]}' "$one" \
    "{$(echo "$one" | sed 's/allocate/allocat/'), \"tasks\": [], \"expect\": {\"bind_count\": 0}}" >"$scratch/one.json"
expect_status 0 "$BERTH_BUILD/kube_batch_cases" "$scratch/one.json"
grep -qxF 'not looked at: : tasks[0].wants' "$scratch/out" || fail "no line of a member: $(cat "$scratch/out")"
grep -qxF 'left out: : the action allocat' "$scratch/out" || fail "no line of an action: $(cat "$scratch/out")"
tail -n 1 "$scratch/out" | grep -qx '1 passed, 0 failed' || fail "$(cat "$scratch/out")"
cycles='"kind": "multi_cycle", "config": {"tiers": []}, "queues": [], "nodes": []'
told kube_batch_cases "{$cycles, \"cycles\": [{\"expect\": {\"bind\": 1}}]}" 'unknown: what is expected of bind'
told kube_batch_cases "{$cycles, \"cycles\": [{\"add_tasks\": [1], \"expect\": {\"bind_count\": 0}}]}" \
    'tasks[0]: expected an object'
sla='"kind": "plugin_order_and_enqueue", "plugin": "sla", "jobs": [{"name": "a"}]'
told kube_batch_cases "{$sla, \"expect\": {\"enqueueable(a)?\": true}}" 'unknown: what is expected of enqueueable(a)?'
told kube_batch_cases "{$sla, \"expect\": {\"enqueueable(a)\": false}}" 'job a is let in'
told kube_batch_cases '{"kind": "enqueueable", "config": {"tiers": []}, "jobs": [{"name": "a"}], "expect": {"enqueueable": 1}}' \
    'expect.enqueueable: expected true or false, or an object of these, by job'
told scoot_cases '{"kind": "spread", "totalWorkers": 5, "classes": [{"name": "a"}], "expect": 0}' \
    'classes[0].load_pct: expected a number'
told scoot_cases '{"kind": "task_selection", "start": 1, "expect": {}, "jobs": [{"waiting": 1000000000}]}' \
    'jobs[0].waiting: expected 10000000 in all at most'
told scoot_cases '{"kind": "targets", "totalWorkers": 1, "percents": {"a": 0}, "expect": {}}' \
    'classes are refused: classes: expected a percentage above 0, found none'

for runner in kube_batch_cases scoot_cases; do
    for text in '[]' '{}' '{"cases": {}}' '{"cases": [' '' 'x'; do
        printf '%s' "$text" >"$scratch/one.json"
        expect_status 1 "$BERTH_BUILD/$runner" "$scratch/one.json"
        [ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "$runner: $text: $(cat "$scratch/err")"
    done
    expect_status 2 "$BERTH_BUILD/$runner"
    printf '{"cases":\n [1,]}' >"$scratch/one.json"
    expect_status 1 "$BERTH_BUILD/$runner" "$scratch/one.json"
    grep -qF "one.json:2:5: " "$scratch/err" || fail "$runner: $(cat "$scratch/err")"
done
for runner in kube_batch_cases:proportion_deserved scoot_cases:spread; do
    printf '{"cases": [3, {"kind": "%s"}]}' "${runner#*:}" >"$scratch/one.json"
    expect_status 1 "$BERTH_BUILD/${runner%:*}" "$scratch/one.json"
    grep -qxF 'failed: case 2, which has no id' "$scratch/out" || fail "$runner: $(cat "$scratch/out")"
done

# Of cases that are right some values are lost, or others stand in their places: nothing ends a run.
for name in kube_variants:kube_batch_cases kube_gangs:kube_batch_cases scoot_variants:scoot_cases; do
    python3 -B "$BERTH_SOURCE/test/conformance/${name%:*}.py" >"$scratch/cases.json" || fail "no cases"
    python3 -B "$BERTH_SOURCE/test/conformance/odd_cases.py" "$scratch/cases.json" 150 >"$scratch/odd.json" ||
        fail "no odd cases"
    "$BERTH_BUILD/${name#*:}" "$scratch/odd.json" >"$scratch/out" 2>"$scratch/err"
    [ $? -le 1 ] || fail "${name%:*}: it ended with $?"
    tail -n 1 "$scratch/out" | grep -qE '^[0-9]+ passed, [0-9]+ failed$' || fail "$(tail -n 3 "$scratch/out")"
done
finish
