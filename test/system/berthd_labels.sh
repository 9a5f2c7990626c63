#!/bin/sh
# Labels of jobs, and jobs that are only looked at.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
machine 4

ids() { "$BERTH" "$@" | awk '{ print $1 }' | sort | tr '\n' ' ' | sed 's/ $//'; }

# Of jobs that wait, run and have ended, and of arrays; a text that looks like a label elsewhere is none.
expect_status 0 "$BERTH" submit --label project=climate --label 'note=a "b", \ c' sleep 1000
expect_status 0 "$BERTH" submit --label project=fish --array 3 --hold true
expect_status 0 "$BERTH" submit --name ',"labels":{"project":"climate"}' --hold true
expect_status 0 "$BERTH" submit --label project=climate true
expect_status 0 "$BERTH" wait 4
printf '#!/bin/sh\n#BERTH --label project=climate --label kind=script\ntrue\n' >work.sh
expect_status 0 "$BERTH" submit --hold ./work.sh
expect "by name and text" '1 5' "$(ids jobs --no-header --label project=climate)"
expect "with what has ended" '1 4 5' "$(ids jobs -a --no-header --label project=climate)"
expect "by name" '1 2[0-2] 5' "$(ids jobs --no-header --label project)"
expect "each member" '2[0] 2[1] 2[2]' "$(ids jobs -r --no-header --label project=fish)"
expect "of a script's line" '5' "$(ids jobs --no-header --label kind=script)"
expect "a text with quotes" '1' "$(ids jobs --no-header --label 'note=a "b", \ c')"
expect "no such text" '' "$(ids jobs --no-header --label project=clim)"
expect "ended ones" 'ID 4' "$(ids history --label project=climate | tr ' ' '\n' | sort -r | tr '\n' ' ' | sed 's/ $//')"
"$BERTH" jobs --json 1 | python3 -c '
import json, sys
job, = json.load(sys.stdin)
assert job["labels"] == {"project": "climate", "note": "a \"b\", \\ c"}, job' || fail "labels in JSON"
"$BERTH" show 1 | grep -q '^labels .*climate' || fail "show has no labels"
expect_status 0 "$BERTH" server stop
expect_status 0 "$BERTH" server start
expect "after a restart" '1 4 5' "$(ids jobs -a --no-header --label project=climate)"
expect_status 0 "$BERTH" resubmit 4
expect_status 0 "$BERTH" wait 6
expect "of what is submitted again" '1 4 5 6' "$(ids jobs -a --no-header --label project=climate)"

expect_status 2 "$BERTH" submit --label climate true
expect_line err "berth submit: --label is 'climate', expected a label such as project=climate; see 'berth submit --help'"
expect_status 1 "$BERTH" submit --label 'a b=c' true
expect_line err 'berth submit: key "labels": expected names of at most 63 letters, digits, '"'.', '_', '-' and '/'"

# An array that is held has no member that runs.
"$BERTH" explain 2 >told
grep -q 'The first waiting member is 2\[0\]' told || fail "explain of a held array: $(cat told)"

# --test-only submits nothing. Three cores are free, and nobody knows how long the sleeping job sleeps.
expect_status 0 "$BERTH" cancel --all
await_state 1 cancelled
expect_status 0 "$BERTH" submit -c 2 -t 1h sleep 1000
last=$(cat "$scratch/out")
await_state "$last" running
expect_status 0 "$BERTH" submit --test-only -c 2 true
expect_line out "It would start now."
expect_status 0 "$BERTH" submit --test-only -c 3 true
grep -q '^It would have a reservation and start in \(59:\|1:00:00\).*, at the latest\. It would wait: .*core' out || fail "a start that waits: $(cat out)"
# The queue promises one job a time: the next one is told only before when it does not start. As explain says of each.
expect_status 0 "$BERTH" submit -c 3 -t 10m true
first=$(cat "$scratch/out")
"$BERTH" explain "$first" | grep -q 'has a reservation and will start in .* at the latest' || fail "explain of a promise: $("$BERTH" explain "$first")"
expect_status 0 "$BERTH" submit --test-only -c 3 -t 10m true
grep -q '^It would not start within 1:\(09\|10\):.*, before .*, unless jobs end earlier than planned\.' out || fail "a start that is not promised: $(cat out)"
# One that goes before it takes its promise.
expect_status 0 "$BERTH" submit --test-only -c 3 -t 10m --priority 5 true
grep -q '^It would have a reservation and start in \(59:\|1:00:00\).*, at the latest\.' out || fail "a start before a promise: $(cat out)"
expect_status 0 "$BERTH" cancel "$first"
# Behind one without a limit it is only expected.
expect_status 0 "$BERTH" cancel "$last"
await_state "$last" cancelled
expect_status 0 "$BERTH" submit -c 2 sleep 1000
last=$(cat "$scratch/out")
await_state "$last" running
expect_status 0 "$BERTH" submit --test-only -c 3 true
grep -q '^It would be expected to start in \(59:\|1:00:00\).*, later if others take longer than expected\.' out || fail "a start that is expected: $(cat out)"
expect_status 0 "$BERTH" submit --test-only --json -c 3 true
grep -q '"not_before": *false' out && grep -q '"expected": *true' out || fail "a start that is expected, as JSON: $(cat out)"
expect_status 1 "$BERTH" submit --test-only -c 5 true
grep -q core err || fail "a job that can never start: $(cat err)"
expect_status 0 "$BERTH" submit true
expect "the next id" $((last + 1)) "$(cat out)"
expect_status 2 "$BERTH" submit --test-only true ::: a b
expect_status 2 "$BERTH" run --test-only true
api POST /v1/jobs -d '[{"command": ["true"], "test_only": true}]' >answer
grep -q '"key":"test_only"\|test_only' answer || fail "a list takes test_only: $(cat answer)"

# As sbatch has it
mkdir shims
ln -s "$BERTH" shims/sbatch
expect_status 0 shims/sbatch --test-only --wrap true
grep -q '^sbatch: Job 0 to start at 20..-..-..T..:..:..$' err || fail "sbatch --test-only: $(cat err)"
[ -s out ] && fail "sbatch --test-only submits: $(cat out)"
finish
