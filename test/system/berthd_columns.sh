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
expect_status 0 "$BERTH" history --no-header -o state,exit
expect 'no header' 'failed 3' "$(tr -s ' ' <out)"
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
expect_err "berth jobs: there is no column 'nothing'; man berth-jobs lists them; see 'berth jobs --help'"
expect_status 2 "$BERTH" jobs -o id,,name
expect_status 2 "$BERTH" jobs -o ''
expect_status 2 "$BERTH" jobs -o id,id,id,id,id,id,id,id,id,id,id,id,id,id,id,id
expect_err "berth jobs: expected at most 15 columns; see 'berth jobs --help'"
# In the order of a column, numbers as numbers, those without a value last.
"$BERTH" submit --hold --name b --priority 10 true >/dev/null
"$BERTH" submit --hold --name a --priority 9 true >/dev/null
ids() { tr -d ' ' <out | tr '\n' ' ' | sed 's/ $//'; }
expect_status 0 "$BERTH" jobs --no-header -o id --sort priority
expect "by priority" "$b $c[0-2] 5 4" "$(ids)"
expect_status 0 "$BERTH" jobs --no-header -o id --sort -priority
expect "the other way round" "4 5 $c[0-2] $b" "$(ids)"
expect_status 0 "$BERTH" jobs --no-header -o id --sort name
expect "by name" "5 4 $b $c[0-2]" "$(ids)"
expect_status 0 "$BERTH" jobs -a --no-header -o id --sort -exit
expect "those without one last" "$a $b $c[0-2] 4 5" "$(ids)"
expect_status 0 "$BERTH" jobs --json --sort name
expect "JSON in that order" '5 4' "$(sed -n 's/.*"id":\([0-9]*\),.*/\1/p' out | head -n 2 | tr '\n' ' ' | sed 's/ $//')"
expect_status 2 "$BERTH" jobs --sort weight
expect_err "berth jobs: --sort: there is no column 'weight'; man berth-jobs lists them; see 'berth jobs --help'"

# What waits, in the order in which it is expected to start: the whole machine after 100 and 300 seconds.
"$BERTH" cancel --all
"$BERTH" submit -c 4 -t 100 sleep 1000 >/dev/null
d=$("$BERTH" submit -c 4 -t 200 --name long true)
e=$("$BERTH" submit -c 4 -t 50 --priority 5 --name first true)
await "a promise" sh -c "'$BERTH' jobs -o estimate --no-header '$e' | grep -q :"
expect_status 0 "$BERTH" jobs --start
expect "the heads" "ID NAME USER QUEUE CORES GPUS EXPECTED REASON" "$(head -n 1 out | tr -s ' ')"
expect_status 0 "$BERTH" jobs --start --no-header -o id
expect "the order" "$e $d" "$(ids)"
expect_status 2 "$BERTH" jobs --start -s running

# REASON is there at 80 columns, whatever the rest.
"$BERTH" submit -c 4 -t 50 --begin +1h --name a-name-of-twenty-lett true >/dev/null
printf 'await ready\nsize 24 80\ntype x\\n\n' | "$BERTH_BUILD/test/system/terminal" sh -c "echo ready; read x; '$BERTH' jobs" >seen
grep -q 'REASON' seen || fail "no REASON at 80 columns: $(cat seen)"
grep -q 'begin [0-9-]* [0-9:]*' seen || fail "no reason at 80 columns: $(cat seen)"
[ "$(tr -d '\r' <seen | wc -L)" -le 80 ] || fail "a line is longer than 80 columns: $(cat seen)"

expect_status 2 "$BERTH" history --format xml
expect_err "berth history: --format is 'xml', expected table, json or csv; see 'berth history --help'"
finish
