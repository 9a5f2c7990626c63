#!/bin/sh
# --json of the verbs that change jobs and wait for them: what a program reads in place of lines for people.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
machine 2

# field WORDS: what Python makes of the last output, as `a`
field() { /usr/bin/python3 -c "import json,sys; a = json.load(open('out')); print($1)"; }

expect_status 0 "$BERTH" submit --json -c 2 sleep 1000
expect "one job" "{'id': 1}" "$(field a)"
expect_status 0 "$BERTH" submit --json false ::: 1 2
expect "several" '[2, 3]' "$(field 'a["ids"]')"
cat >dag.yaml <<'END'
jobs:
  second: {after: first, command: exit 3}
  first: {command: "true"}
END
expect_status 0 "$BERTH" submit --json --file dag.yaml
expect "of a file" "['first', 'second']" "$(field 'sorted(a["names"])')"
expect "as many ids" 2 "$(field 'len(a["ids"])')"
second=$(field 'a["ids"][a["names"].index("second")]')
expect_status 0 "$BERTH" submit --json --test-only -c 2 true
expect "nothing is submitted" None "$(field 'a.get("id")')"
expect "it would wait" False "$(field 'a["now"]')"
expect_status 1 "$BERTH" submit --json -c 3 true
expect "a refused one prints nothing" '' "$(cat out)"

# What is done to several, of which one is not there.
expect_status 1 "$BERTH" hold --json 2 99
expect "held" '1 99' "$(field 'a["done"], a["refused"][0]["id"]' | tr -d '(,)')"
expect "no line for people" '' "$(cat err)"
expect_status 0 "$BERTH" release --json 2
expect "released" '1 []' "$(field 'a["done"]') $(field 'a["refused"]')"
expect_status 0 "$BERTH" cancel --json 1
expect "cancelled" 1 "$(field 'a["done"]')"
expect_status 0 "$BERTH" cancel --json --name nobody
expect "none of that name" 0 "$(field 'a["done"]')"

# How they ended.
expect_status 143 "$BERTH" wait --json 1 2 "$second"
expect "three ends" "[(1, 'cancelled', 143), (2, 'failed', 1), ($second, 'failed', 3)]" \
    "$(field '[(j["id"], j["state"], j["status"]) for j in a]')"
array=$("$BERTH" submit --array 0-1 sh -c 'exit $BERTH_ARRAY_INDEX')
expect_status 1 "$BERTH" wait --json "$array[1]"
expect "a member" "[($array, 1, 1)]" "$(field '[(j["id"], j["member"], j["status"]) for j in a]')"

# A job that is run: what became of it in place of its output, which is in a file.
echo input >in
"$BERTH" run --json -c 2 --name fit sh -c 'cat; echo error >&2; exit 4' <in >out 2>err
expect "its status" 4 $?
expect "nothing is shown" '' "$(cat err)"
expect "what became of it" "failed 4 4 fit 2 None" "$(field 'a["state"], a["exit"], a["status"], a["name"], a["cores"], a.get("request")' | tr -d "(,)'")"
expect "its output" 'input error' "$(tr '\n' ' ' <"$(field 'a["output"]')" | sed 's/ $//')"
expect_status 127 "$BERTH" run --json nothere
expect "no such program" "failed 127 nothere: No such file or directory" "$(field 'a["state"], a["status"], a["reason"]' | tr -d "(,)'")"
expect "no line for people" '' "$(cat err)"
expect_status 1 "$BERTH" run --json --array 0-1 sh -c 'exit $BERTH_ARRAY_INDEX'
expect "an array" "1 1 1" "$(field 'a["status"], a["summary"]["done"], a["summary"]["failed"]' | tr -d "(,)'")"
expect_status 1 "$BERTH" run --json -c 3 true
expect "a refused one prints nothing" '' "$(cat out)"
expect_status 2 "$BERTH" run --json --pty true
expect_err "berth run: a job with a terminal takes no --json; see 'berth run --help'"
expect_status 2 "$BERTH" alloc --json true
expect_err "berth alloc: --json is for submit and run; see 'berth alloc --help'"
printf '#!/bin/sh\n%s run --json true\n' "$BERTH" >step.sh
chmod +x step.sh
expect_status 2 "$BERTH" run ./step.sh
grep -q '^berth run: --json is for a job, and in a script this is a step of job [0-9]*' err || fail "a step: $(cat out err)"
finish
