#!/bin/sh
# Arrays of gangs: for each index a gang, all of them submitted or none, each with an id of its own and its place in the array.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
machine 4

# Wrong command lines say what is expected, and submit nothing.
expect_status 2 "$BERTH" submit --gang 4 --array 1-100001 true
expect_err "berth submit: --array is '1-100001': expected at most 100000 gangs; see 'berth submit --help'"
expect_status 2 "$BERTH" submit --gang 2 --array 1-4 --cc 1-2 true
expect_err "berth submit: only one of --each, --cc, ::: and --array of gangs at a time; see 'berth submit --help'"
expect_status 2 "$BERTH" submit --gang 2 --array 1-4 --test-only true
expect_err "berth submit: --test-only looks at one job; see 'berth submit --help'"
expect_status 2 "$BERTH" run --gang 2 --array 1-4 true
expect_err "berth run: --array of gangs is for submit; see 'berth run --help'"
expect_status 2 "$BERTH" alloc --gang 2 --array 1-4
"$BERTH" server start || fail "server start"
expect "nothing is there" "" "$("$BERTH" jobs -a --no-header)"

# Each gang knows its index and how many there are, whatever these are; each member which one it is of its gang.
say='echo "$BERTH_GANG_INDEX of $BERTH_GANG_COUNT: $BERTH_ARRAY_INDEX of $BERTH_ARRAY_SIZE, $BERTH_MEMBER_COUNT together" '
ids=$("$BERTH" submit --gang 2 --array 3,7-8 --name three sh -c "$say")
expect "three gangs" 3 "$(echo "$ids" | wc -l)"
for id in $ids; do
    expect_status 0 "$BERTH" wait "$id"
    expect "members of each" '2 3' "$(get "$id" gang) $(get "$id" gang_count)"
done
said() {
    for id; do
        "$BERTH" log -f "$id" | sed 's/^[0-9]*: //' | sort
    done
}
expect "what they say" '3 of 3: 0 of 2, 2 together
3 of 3: 1 of 2, 2 together
7 of 3: 0 of 2, 2 together
7 of 3: 1 of 2, 2 together
8 of 3: 0 of 2, 2 together
8 of 3: 1 of 2, 2 together' "$(said $ids)"
last=$(echo "$ids" | tail -n 1)
expect "shown" 'gang_index 8 gang_count 3' "$("$BERTH" show "$last" | grep '^gang_' | tr -s ' \n' ' ' | sed 's/ $//')"

# A number is how many gangs there are; roles and jobspecs make gangs as well.
ids=$("$BERTH" submit --array 2 --role a --role b:2 sh -c 'echo "$BERTH_GANG_INDEX $BERTH_ROLE $BERTH_ROLE_RANK"')
for id in $ids; do
    expect_status 0 "$BERTH" wait "$id"
done
expect "what their members say" '0 a 0
0 b 0
0 b 1
1 a 0
1 b 0
1 b 1' "$(said $ids)"
cat >gang.yaml <<'END'
version: 9999
resources: [{type: slot, count: 1, label: s, with: [{type: core, count: 1}]}]
tasks: [{command: [sh, -c, 'echo "$BERTH_GANG_INDEX $BERTH_MEMBER_RANK"'], slot: s, count: {per_slot: 1}}]
attributes: {system: {gang: {members: 2}}}
END
ids=$("$BERTH" submit --array 1-2 --jobspec gang.yaml)
for id in $ids; do
    expect_status 0 "$BERTH" wait "$id"
done
expect "what those of a jobspec say" '1 0
1 1
2 0
2 1' "$(said $ids)"

# One that fails fails alone, and is submitted again as the one that it was.
ids=$("$BERTH" submit --gang 2 --array 1-3 sh -c '[ "$BERTH_GANG_INDEX$BERTH_MEMBER_RANK" != 21 ] || exit 4; until [ -e go ]; do sleep 0.02; done')
second=$(echo "$ids" | sed -n 2p)
expect_status 4 "$BERTH" wait "$second"
touch go
again=$("$BERTH" resubmit "$second")
expect_status 4 "$BERTH" wait "$again"
expect "its index" '2 of 3' "$(get "$again" gang_index) of $(get "$again" gang_count)"
for id in $ids; do
    [ "$id" = "$second" ] || expect_status 0 "$BERTH" wait "$id"
done

# One at a time: of those that wait the one of the highest priority is next, of equal ones the first. So it is after a crash.
line() { # of a gang: its state
    "$BERTH" jobs -a --no-header "$1" | awk '{ print $5 }'
}
is_line() { # JOB STATE
    [ "$(line "$1")" = "$2" ]
}
keeps() { # JOB: the array does
    "$BERTH" jobs --no-header "$1" | grep -qF "the array's limit: 1 running"
}
ids=$("$BERTH" submit --gang 2 --array '1-5%1' sh -c 'until [ -e "turn.$BERTH_GANG_INDEX" ]; do sleep 0.02; done')
# shellcheck disable=SC2086
set -- $ids
await "the first to run" is_line "$1" running
for id in "$2" "$3" "$4" "$5"; do
    await "the array to keep $id" keeps "$id"
done
expect "what programs get" '1 1' "$(get "$1" gang_at_once) $(get "$2" gang_at_once)"
"$BERTH" explain "$2" | grep -qF 'of this array, at most 1 may run at once' || fail "explain: $("$BERTH" explain "$2")"
crash
expect_status 0 "$BERTH" server start
expect "after a crash" 'running pending pending pending pending' \
    "$(for id; do line "$id"; done | tr '\n' ' ' | sed 's/ $//')"
expect_status 0 "$BERTH" update --priority -1 "$2" "$3"
touch turn.1
expect_status 0 "$BERTH" wait "$1"
await "the fourth to run" is_line "$4" running
expect_status 0 "$BERTH" cancel "$5" # it waits, and is in nobody's way
expect_status 0 "$BERTH" update --priority 0 "$2" "$3"
expect "who waits" 'pending pending' "$(line "$2") $(line "$3")"
touch turn.4
await "the second to run" is_line "$2" running
expect "and the third waits" pending "$(line "$3")"
expect_status 0 "$BERTH" cancel "$2"
await "the third to run" is_line "$3" running
touch turn.3
expect_status 0 "$BERTH" wait "$3"

# None is there where one can't be.
before=$("$BERTH" jobs -a --no-header | wc -l)
expect_status 1 "$BERTH" submit --gang 2 -c 9 true
cp err alone
expect_status 1 "$BERTH" submit --gang 2 --array 1-3 -c 9 true
expect "why, as for one gang" "$(cat alone)" "$(cat err)"
expect "none of them" "$before" "$("$BERTH" jobs -a --no-header | wc -l)"
refused() { # JSON TEXT
    expect "the answer to $1" "$2" "$(api POST /v1/jobs -d "$1" | sed 's|\\"|"|g; s|.*"message":"||; s|","key".*||; s|"}}*$||')"
}
refused '{"command": ["true"], "gang_index": 1, "gang_count": 2}' 'key "gang_index": expected a gang beside it'
refused '{"command": ["true"], "gang": 2, "gang_index": 1}' 'key "gang_count": expected how many there are beside gang_index'
refused '{"command": ["true"], "gang": 2, "gang_at_once": 1}' 'key "gang_at_once": expected the gang'"'"'s index beside it'
refused '{"command": ["true"], "gang": 2, "gang_count": 1}' 'key "gang_index": expected the gang'"'"'s index beside gang_count'
finish
