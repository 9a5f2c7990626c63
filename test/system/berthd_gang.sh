#!/bin/sh
# Gangs: as many members start together as `min` says, or none; and what becomes of the others when one fails.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
machine 4

# Wrong command lines say what is expected, and submit nothing.
expect_status 2 "$BERTH" submit --min 2 true
expect_err "berth submit: --min is of a gang, expected --gang N beside it; see 'berth submit --help'"
expect_status 2 "$BERTH" submit --failure all true
expect_err "berth submit: --failure is of a gang, expected --gang N beside it; see 'berth submit --help'"
expect_status 2 "$BERTH" submit --gang 3 --min 4 true
expect_err "berth submit: --min is 4, expected at most the 3 of --gang; see 'berth submit --help'"
expect_status 2 "$BERTH" submit --gang 1 true
expect_err "berth submit: --gang is '1', expected a whole number from 2 to 1000000; see 'berth submit --help'"
expect_status 2 "$BERTH" submit --gang 3 --failure some true
expect_err "berth submit: --failure is 'some', expected all, go-on or replace; see 'berth submit --help'"
"$BERTH" server start || fail "server start"
refused() { # JSON TEXT
    expect "the answer to $1" "$2" "$(api POST /v1/jobs -d "$1" | sed 's|\\"|"|g; s|.*"message":"||; s|","key".*||')"
}
refused '{"command": ["true"], "gang": 3, "array": 2}' 'key "gang": expected nothing beside an array, got 3'
refused '{"command": ["true"], "min": 3}' 'key "gang": expected the number of members, got none'
refused '{"command": ["true"], "gang": 3, "min": 4}' 'key "min": expected at most as many as are in the gang, got 4'

line() { # of a job: its members, and their states
    "$BERTH" jobs -a --no-header "$1" | sed 's/^ *//; s/  */ /g'
}
is_line() { # JOB WORDS: its line has them
    line "$1" | grep -qF " $2 "
}

# It starts whole or not at all, and says what it lacks; beyond its min it grows as there is room.
busy=$("$BERTH" submit -c 2 -t unlimited --estimate unknown sleep 1000)
await_state "$busy" running
gang=$("$BERTH" submit --gang 4 --min 3 --name whole sh -c 'echo "$BERTH_ARRAY_INDEX of $BERTH_ARRAY_SIZE"; touch "said.$BERTH_ARRAY_INDEX"; exec sleep 1000')
lacks() {
    "$BERTH" jobs --no-header "$gang" | grep -qF '2 of 3 members fit'
}
await "the gang to say what it lacks" lacks
expect "one line" 1 "$("$BERTH" jobs --no-header "$gang" | wc -l)"
expect "what programs get" '4 3 "all"' "$(get "$gang" gang) $(get "$gang" min) $(get "$gang" failure)"
other=$("$BERTH" submit -c 1 sleep 1000) # one member fits no more
await_state "$other" running
is_line "$gang" pending || fail "some of it run: $(line "$gang")"
expect_status 0 "$BERTH" cancel "$busy"
await "its min to run" is_line "$gang" '1 pending, 3 running'
expect_status 0 "$BERTH" cancel "$other"
await "all to run" is_line "$gang" running
await "all to say so" ls said.0 said.1 said.2 said.3
expect_status 0 "$BERTH" cancel "$gang"
expect_status 143 "$BERTH" wait "$gang"
expect "each member has run once" '0 of 4 1 of 4 2 of 4 3 of 4 ' \
    "$("$BERTH" log -f "$gang" | sed 's/^[0-9]*: //' | sort | tr '\n' ' ')"

# Those that are to start together are promised one time, the others none.
busy=$("$BERTH" submit -c 4 -t 1h sleep 1000)
await_state "$busy" running
gang=$("$BERTH" submit --gang 4 --min 3 -t 1h sleep 1000)
is_promised() {
    line "$gang" | grep -q ' reserved$'
}
await "the gang to be promised a time" is_promised
told() { # why each member waits
    "$BERTH" jobs -r --no-header | sed -n "s/^ *$gang\[\([0-9]\)\].*  /\1 /p" | tr '\n' ';'
}
expect "what each member waits for" '0 reserved;1 reserved;2 reserved;3 waits for its gang;' "$(told)"
estimates() {
    "$BERTH" jobs -r --json | grep "\"id\":$gang," | grep -o '"estimate":[0-9][0-9.]*'
}
expect "those that are promised one" 3 "$(estimates | wc -l)"
expect "when" 1 "$(estimates | sort -u | wc -l)"
expect_status 0 "$BERTH" cancel "$gang" "$busy"

# A jobspec says it as well: one gang of three of which two start, and one of two roles, each with a command of its own.
cat >gang.yaml <<'END'
version: 9999
resources: [{type: slot, count: 1, label: s, with: [{type: core, count: 2}]}]
tasks: [{command: [sh, -c, 'echo "$BERTH_ARRAY_INDEX of $BERTH_ARRAY_SIZE"; exec sleep 1000'], slot: s, count: {per_slot: 1}}]
attributes: {system: {gang: {members: 3, min: 2, failure: go-on}}}
END
cat >roles.json <<'END'
{"version": 9999, "resources": [{"type": "slot", "count": 1, "label": "server", "with": [{"type": "core", "count": 2}]},
 {"type": "slot", "count": 1, "label": "worker", "with": [{"type": "core", "count": 1}]}],
 "tasks": [{"command": ["sh", "-c", "echo serves $BERTH_ROLES"], "slot": "server", "count": {"per_slot": 1}},
 {"command": ["sh", "-c", "echo works $BERTH_ROLE_RANK"], "slot": "worker", "count": {"per_slot": 1}}],
 "attributes": {"system": {"gang": {"roles": {"server": 1, "worker": 2}}}}}
END
gang=$("$BERTH" submit --jobspec gang.yaml)
await "its min to run" is_line "$gang" '1 pending, 2 running'
expect "what programs get" '3 2 "go-on"' "$(get "$gang" gang) $(get "$gang" min) $(get "$gang" failure)"
expect_status 0 "$BERTH" cancel "$gang"
expect_status 143 "$BERTH" wait "$gang"
roles=$("$BERTH" submit --jobspec roles.json)
expect_status 0 "$BERTH" wait "$roles"
expect "each runs what its role does" 'serves server:1,worker:2 works 0 works 1 ' \
    "$("$BERTH" log -f "$roles" | sed 's/^[0-9]*: //' | sort | tr '\n' ' ')"
gang=$("$BERTH" submit --jobspec gang.yaml --gang 2) # what is said beside it goes before it
await "all of two to run" is_line "$gang" running
expect_status 0 "$BERTH" cancel "$gang"
expect_status 143 "$BERTH" wait "$gang"
refused '{"jobspec": {"version": 1}, "gang": 3}' 'jobspec: line 1, column 1: key "resources": expected in a jobspec, is missing'

# Gangs that are alike are jobs of their own.
many=$("$BERTH" submit --gang 2 --cc 1-3 sh -c 'echo "$BERTH_ARRAY_INDEX of {cc}"')
expect "three gangs" 3 "$(echo "$many" | wc -l)"
for id in $many; do
    expect_status 0 "$BERTH" wait "$id"
    expect "members of each" 2 "$(get "$id" gang)"
done
expect "the last of them" '0 of 3 1 of 3 ' "$("$BERTH" log -f "$(echo "$many" | tail -n 1)" | sed 's/^[0-9]*: //' | sort | tr '\n' ' ')"

# A member that fails: all of it does,
gang=$("$BERTH" submit --gang 3 sh -c '[ $BERTH_ARRAY_INDEX = 1 ] && exit 3; exec sleep 1000')
expect_status 3 "$BERTH" wait "$gang"
expect "its exit status is that of the one that failed" '3 null' "$(get "$gang" exit) $(get "$gang" signal)"
expect_status 3 "$BERTH" run --gang 3 sh -c '[ $BERTH_ARRAY_INDEX = 1 ] && exit 3; exec sleep 1000'
expect "all have failed" '"failed"' "$(get "$gang" state)"
expect "by the one that failed first" '"member 1 failed" null "member 1 failed"' \
    "$(get "$gang[0]" reason) $(get "$gang[1]" reason) $(get "$gang[2]" reason)"
# the others go on as long as there are enough,
gang=$("$BERTH" submit --gang 4 --min 2 --failure go-on sh -c '
    case $BERTH_ARRAY_INDEX in 0 | 1) exit 1 ;; 2) exit 0 ;; *) until [ -e go ]; do sleep 0.02; done ;; esac')
await "two to fail" is_line "$gang" '1 running, 1 done, 2 failed'
touch go
expect_status 0 "$BERTH" wait "$gang"
expect "its state" '"done" 0 null' "$(get "$gang" state) $(get "$gang" exit) $(get "$gang" signal)"
expect_status 0 "$BERTH" run --gang 3 --min 1 --failure go-on sh -c '[ $BERTH_ARRAY_INDEX = 2 ] || exit 5'
expect "two were enough" "$gang[0-3] 2 done, 2 failed" "$(line "$gang" | sed 's/ [^ ]* [^ ]* [^ ]* \(.*failed\).*/ \1/')"
gang=$("$BERTH" submit --gang 3 --min 3 --failure go-on sh -c '[ $BERTH_ARRAY_INDEX = 2 ] && exit 1; exec sleep 1000')
expect_status 1 "$BERTH" wait "$gang"
expect "one less is too few" '"2 of 3 members are left"' "$(get "$gang[0]" reason)"
# or it is replaced by itself.
gang=$("$BERTH" submit --gang 2 --failure replace sh -c '
    [ $BERTH_ARRAY_INDEX = 0 ] || [ $BERTH_ATTEMPT -gt 2 ] || exit 9; [ $BERTH_ARRAY_INDEX = 1 ] || until [ -e third ]; do sleep 0.02; done; touch third')
expect_status 0 "$BERTH" wait "$gang"
expect "replaced twice" 'replaced, exit 9 replaced, exit 9 ' \
    "$("$BERTH" show "$gang[1]" | sed -n 's/.* \(replaced, .*\)/\1/p' | tr '\n' ' ')"
gang=$("$BERTH" submit --gang 2 --failure replace sh -c '[ $BERTH_ARRAY_INDEX = 0 ] || exit 9; exec sleep 1000')
expect_status 9 "$BERTH" wait "$gang"
expect "as often as it has members" 3 "$(get "$gang[1]" attempts)"

# Two gangs, of which there is room for one, over a server that is killed: each is one gang after it.
cat >together.sh <<'EOS'
echo x >>"$1.$BERTH_ARRAY_INDEX"
until [ -e "$1.0" ] && [ -e "$1.1" ] && [ -e "$1.2" ] && [ -e "go.$1" ]; do sleep 0.02; done
touch "end.$1.$BERTH_ARRAY_INDEX"
EOS
first=$("$BERTH" submit --gang 3 sh together.sh first)
second=$("$BERTH" submit --gang 3 sh together.sh second)
await "the first to run" is_line "$first" running
crash
"$BERTH" server start || fail "server start"
expect "the first runs, the second waits" "$first running $second pending" \
    "$(for id in "$first" "$second"; do line "$id" | awk -v id="$id" '{ printf "%s%s %s", id == "'"$first"'" ? "" : " ", id, $5 }'; done)"
[ -e second.0 ] || [ -e second.1 ] || [ -e second.2 ] && fail "some of the second have started"
crash
touch go.first # it ends while nobody looks
await "its members to end" ls end.first.0 end.first.1 end.first.2
"$BERTH" server start || fail "server start"
expect_status 0 "$BERTH" wait "$first"
await "the second to run" is_line "$second" running
crash
touch go.second
"$BERTH" server start || fail "server start"
expect_status 0 "$BERTH" wait "$second"
# And many that come and go: a member ends only when it has seen the others.
many=
for i in 1 2 3 4 5 6 7 8; do
    touch "go.many$i"
    many="$many $("$BERTH" submit --gang 3 sh together.sh "many$i")"
done
for _ in 1 2 3; do
    sleep 0.1
    crash
    "$BERTH" server start || fail "server start"
done
for id in $many; do
    expect_status 0 "$BERTH" wait "$id"
done
for file in first.? second.? many?.?; do
    expect "starts of $file" x "$(cat "$file")"
done
expect "all of them" 30 "$(ls first.? second.? many?.? | wc -l)"

finish
