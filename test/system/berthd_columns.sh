#!/bin/sh
# Lists of jobs as their reader wants them: columns, CSV, one's own.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
machine 4
TZ=UTC
export TZ

a=$("$BERTH" submit -c 2 -t 1h --name 'one, "two"' sh -c 'exit 3')
expect_status 3 "$BERTH" wait "$a"
b=$("$BERTH" submit --hold -t 90 --priority -2 --name later true)

# Columns in the order asked for; numbers on the right.
expect_status 0 "$BERTH" jobs -o state,id,name,priority,limit
expect_line out "$(printf 'STATE  ID  NAME   PRIORITY  LIMIT\nheld    %s  later        -2   1:30' "$b")"
expect_status 0 "$BERTH" history -o id,exit,cores
expect_line out "$(printf 'ID  EXIT  CORES\n %s     3      2' "$a")"
expect_status 0 "$BERTH" jobs --no-header -o id
expect "an id alone" "$b" "$(tr -d ' ' <out)"

# CSV has values as the API has them, quotes where they must be, and the keys as its first line.
expect_status 0 "$BERTH" history --format csv -o name,id,limit,signal,state
expect_line out "$(printf 'name,id,limit,signal,state\n"one, ""two""",%s,3600,,failed' "$a")"
expect_status 0 "$BERTH" jobs --format csv
expect "its usual columns" "id,name,user,queue,state,exit,signal,nodes,cores,gpus,submit,start,end,reason" "$(head -n 1 out)"
expect "a row" "$b,later,$(id -un),batch,held," "$(sed -n 2p out | cut -d, -f1-6)"
expect_status 0 "$BERTH" jobs --no-header --format csv -o submit "$a"
expect "a time" "$(get "$a" submit | cut -d. -f1)" "$(cut -d. -f1 out)"
expect_status 0 "$BERTH" jobs --format json
expect "JSON" '[' "$(head -n 1 out)"
expect_status 0 "$BERTH" jobs --format table
grep -q '^ID  *NAME' out || fail "no table: $(cat out)"

# An array is one line in each of them.
c=$("$BERTH" submit --hold --array 3 true)
expect_status 0 "$BERTH" jobs --no-header --format csv -o id,state,members "$c"
expect_line out "$c[0-2],held,3"

# One's own jobs: on a server of one's own all of them.
expect_status 0 "$BERTH" jobs --me --no-header -o id
expect "own jobs" 2 "$(wc -l <out)"

expect_status 2 "$BERTH" jobs -o id,nothing
grep -q "^berth jobs: there is no column 'nothing', expected some of id, name, user" err || fail "$(cat err)"
expect "lines" 1 "$(wc -l <err)"
expect_status 2 "$BERTH" jobs -o id,,name
expect_status 2 "$BERTH" jobs -o ''
expect_status 2 "$BERTH" jobs -o id,id,id,id,id,id,id,id,id,id,id,id,id,id,id,id
expect_err "berth jobs: expected at most 15 columns; see 'berth jobs --help'"
expect_status 2 "$BERTH" history --format xml
expect_err "berth history: --format is 'xml', expected table, json or csv; see 'berth history --help'"
finish
