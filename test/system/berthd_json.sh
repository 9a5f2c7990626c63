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
expect_status 2 "$BERTH" run --json true

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
finish
