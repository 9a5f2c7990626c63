#!/bin/sh
# An array that one stays with: its lines, its status, its end.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
machine 3

# Each line has its member before it, also the last one without its end; all members' lines are there.
expect_status 4 "$BERTH" run --array 5 sh -c 'echo "a $BERTH_ARRAY_INDEX"; echo; printf "last"; exit $BERTH_ARRAY_INDEX'
for i in 0 1 2 3 4; do
    printf '%s: a %s\n%s: \n%s: last\n' $i $i $i $i
done >expected
sort out >got
sort expected | cmp -s - got || fail "lines of an array: $(cat out)"
for i in 0 1 2 3 4; do
    expect "lines of member $i in their order" "$i: a $i,$i: ,$i: last," "$(grep "^$i:" out | tr '\n' ',')"
done
expect_status 137 "$BERTH" run --array 3 sh -c '[ $BERTH_ARRAY_INDEX != 1 ] || kill -9 $$'
expect_status 0 "$BERTH" run --array 2 true
[ -s out ] && fail "silent members say something"

# Members by their indices: there are no others.
expect_status 7 "$BERTH" run --array 7,1-5:2 sh -c 'echo "$BERTH_ARRAY_INDEX of $BERTH_ARRAY_SIZE"; exit $BERTH_ARRAY_INDEX'
expect "indices" '1: 1 of 4,3: 3 of 4,5: 5 of 4,7: 7 of 4,' "$(sort out | tr '\n' ',')"
id=$("$BERTH" submit --hold --array 0-999998:2 true)
held() { # of the array
    "$BERTH" jobs --no-header "$id" | awk '{ print $1 }'
}
expect "every other index" "$id[0-999998:2]" "$(held)"
expect_status 0 "$BERTH" cancel "$id[4-8:2,9]" # of which there is no 9
expect "without those" "$id[0,2,10-999998:2]" "$(held)"
crash
"$BERTH" server start || fail "server start"
expect "the same when it is back" "$id[0,2,10-999998:2]" "$(held)"
expect "what programs get" '"ranges":{"held":"0,2,10-999998:2","cancelled":"4-8:2"},"indices":"0-999998:2"' \
    "$("$BERTH" jobs --json "$id" | grep -o '"ranges".*[^}]')"
expect_status 0 "$BERTH" cancel "$id"
expect_status 0 "$BERTH" show "$id"
grep -q "^cancelled  *$id\[0-999998:2\]$" out || fail "members that were cancelled: $(cat out)"
expect_status 0 "$BERTH" run --array 5-5 sh -c 'echo $BERTH_ARRAY_INDEX'
expect_line out '5: 5'
id=$("$BERTH" submit --hold --array 2,999999 true)
expect "members by their indices" "$id[2,999999] " "$("$BERTH" jobs --no-header "$id" | awk '{ printf "%s ", $1 }')"
expect "a line for each" "$id[2] $id[999999] " "$("$BERTH" jobs -r --no-header "$id" | awk '{ printf "%s ", $1 }')"
expect_status 1 "$BERTH" cancel "$id[3]"
expect_err "berth cancel: $id[3]: there is no job $id[3]"
for verb in explain show; do
    expect_status 1 "$BERTH" $verb "$id[3]"
    expect_err "berth $verb: there is no job $id[3]"
done
expect_status 0 "$BERTH" cancel "$id[2]"
"$BERTH" server stop && "$BERTH" server start || fail "server stop and start"
expect "those that are left" "$id[999999] " "$("$BERTH" jobs --no-header -s held | awk '{ printf "%s ", $1 }')"
expect_status 0 "$BERTH" show "$id"
grep -q '2,999999' out || fail "no indices: $(cat out)"
expect_status 0 "$BERTH" cancel "$id[0-999999]"
after=$("$BERTH" submit --dependency afterany:"$id" true)
expect_status 0 "$BERTH" wait "$after"

# An array is one line, with counts and which; -r spells it out.
id=$("$BERTH" submit --array 0-99 --name line sh -c 'case $BERTH_ARRAY_INDEX in 0) ;; 1) exit 3;; *) exec sleep 1000;; esac')
line() {
    "$BERTH" "$@" --no-header --name line | sed 's/  */ /g; s/^ //'
}
three_run() {
    line jobs | grep -q "^$id\[5-99\] line [^ ]* [^ ]* 95 pending, 3 running, 1 done, 1 failed 1 1 0 "
}
await "three of 100 to run" three_run
expect "those that run" "$id[2-4] line" "$(line jobs -s running | cut -d' ' -f1,2)"
expect "those that failed" "$id[1] line" "$(line jobs -s failed | cut -d' ' -f1,2)"
expect "lines of members" "98 100" "$(line jobs -r | wc -l) $(line jobs -r -a | wc -l)"
expect "one line of history" "$id[5-99]" "$("$BERTH" history --name line | sed -n '2s/^ *\([^ ]*\) .*/\1/p')"
expect "what programs get" '"summary":{"held":0,"pending":95,"running":3,"done":1,"failed":1,"cancelled":0,"timeout":0},"ranges":{"pending":"5-99","running":"2-4","done":"0","failed":"1"},"indices":"0-99"' \
    "$("$BERTH" jobs --json --name line | grep -o '"summary".*[^}]')"
expect_status 0 "$BERTH" show "$id"
expect "show" "95 pending, 3 running, 1 done, 1 failed $id[5-99] $id[1]" \
    "$(sed -n 's/^\(summary\|pending\|failed\)  *//p' out | tr '\n' ' ' | sed 's/ $//')"
expect_status 0 "$BERTH" explain "$id"
grep -q "^Of its members: 95 pending, 3 running, 1 done, 1 failed. The first waiting member is $id\[5\]. " out || fail "explain: $(cat out)"
# What waits of it is held, and counted so.
expect_status 0 "$BERTH" hold "$id"
expect "what is held" "95 held, 3 running, 1 done, 1 failed" "$(line jobs | sed 's/.* \(95 .* failed\) .*/\1/')"
expect "counts of the server" '"jobs":{"pending":0,"held":95,"running":3}' \
    "$("$BERTH" server status --json | tr -d ' \n' | grep -o '"jobs":{[^}]*}')"
expect_status 0 "$BERTH" release "$id"

# Members by themselves: until the whole is changed, they go by that.
state() { # of the array
    line jobs | sed 's/.* \([0-9]* pending.* failed\) .*/\1/'
}
expect_status 0 "$BERTH" hold "$id[5-6,90-99]" "$id[50]"
expect "members that are held" "82 pending, 13 held, 3 running, 1 done, 1 failed" "$(state)"
expect "which" "$id[5-6,50,90-99]" "$(line jobs -s held | cut -d' ' -f1)"
expect_status 0 "$BERTH" explain "$id[5]"
expect_line out "It is held: it waits for 'berth release $id[5]'."
expect_status 0 "$BERTH" explain "$id"
grep -q "The first waiting member is $id\[7\]. " out || fail "explain goes by one that is held: $(cat out)"
expect_status 0 "$BERTH" update --priority -7 "$id[60-62]"
expect_status 0 "$BERTH" update -t 5m "$id[61]"
values() { # MEMBER: priority and duration
    "$BERTH" jobs -r --json --name line |
        sed -n "s/.*\"member\":$1,.*\"priority\":\([-0-9]*\),.*\"duration\":\([0-9]*\),.*/\1 \2/p"
}
expect "their own values" "-7 3600 -7 300 0 3600" "$(values 60) $(values 61) $(values 63)"
queue=$("$BERTH" show "$id" | sed -n 's/^queue  *//p')
expect_status 1 "$BERTH" update -q "$queue" "$id[70-80]"
expect_err "berth update: $id[70]: the members of an array are in one queue: name job $id"
expect_status 1 "$BERTH" hold "$id[3]"
expect_err "berth hold: $id[3]: job $id[3] is already running"
crash
"$BERTH" server start || fail "server start"
expect "as before" "82 pending, 13 held, 3 running, 1 done, 1 failed" "$(state)"
expect "which are held" "$id[5-6,50,90-99]" "$(line jobs -s held | cut -d' ' -f1)"
expect "their own values" "-7 3600 -7 300 0 3600" "$(values 60) $(values 61) $(values 63)"
expect_status 0 "$BERTH" release "$id[50]"
expect "one less" "83 pending, 12 held, 3 running, 1 done, 1 failed" "$(state)"
expect_status 0 "$BERTH" hold "$id"
expect_status 0 "$BERTH" release "$id[7-9]"
expect "the other way round" "3 pending, 92 held, 3 running, 1 done, 1 failed" "$(state)"
expect_status 0 "$BERTH" release "$id[0-99]"
expect "all are released" "95 pending, 3 running, 1 done, 1 failed" "$(state)"
expect_status 0 "$BERTH" update --priority -1 "$id"
expect "all have one priority" "-1 3600 -1 300" "$(values 60) $(values 61)"
# A member with a lower priority is started after those behind it.
expect_status 0 "$BERTH" update --priority -9 "$id[5]"
expect_status 0 "$BERTH" cancel "$id[2]"
started() { # MEMBER
    "$BERTH" jobs -r --no-header "$id[$1]" | grep -q ' running '
}
await "the sixth to start" started 6
started 5 && fail "a member of low priority has started"
expect_status 0 "$BERTH" cancel "$id"
expect_status 143 "$BERTH" wait "$id"
expect "history when it is over" "$id[0-99] 1 done, 1 failed, 98 cancelled" \
    "$("$BERTH" history --name line | sed -n 's/  */ /g; s/^ *\([^ ]*\) .* \(1 done.* cancelled\) .*/\1 \2/p')"
expect "those that failed when it is over" "$id[1]" "$("$BERTH" history -s failed --name line | awk 'NR == 2 { print $1 }')"
expect "lines of history" 101 "$("$BERTH" history -r -n 0 --name line | wc -l)"
expect_status 0 "$BERTH" explain "$id"
expect_line out 'It is over. Of its members: 1 done, 1 failed, 98 cancelled.'

# At most two at once: each waits until it has seen no third one.
cat >few.sh <<'EOS'
echo $$ >run.$BERTH_ARRAY_INDEX
[ "$(ls run.* | wc -l)" -le 2 ] || exit 1
sleep 0.1
rm run.$BERTH_ARRAY_INDEX
EOS
expect_status 0 "$BERTH" run --array '1-9:2,20%2' sh few.sh

# One member is no crowd. Errors that have files of their own come on standard error; one file for all as it is.
expect_status 0 "$BERTH" run --array 1 echo alone
expect_line out alone
expect_status 0 "$BERTH" run --array 2 -e 'err%a' sh -c 'echo out; echo err >&2'
expect "output of two" '0: out 1: out' "$(sort out | tr '\n' ' ' | sed 's/ $//')"
expect "errors of two" '0: err 1: err' "$(sort err | tr '\n' ' ' | sed 's/ $//')"
expect_status 0 "$BERTH" run -c 3 --array 2 --append -e errors sh -c 'echo err >&2'
expect "errors in one file" 'err err' "$(tr '\n' ' ' <err | sed 's/ $//')"
expect_status 0 "$BERTH" run --array 2 -o 'o%a' echo hidden
[ -s out ] && fail "output that goes to a file is shown"

# Lines come while the members run. The first SIGINT cancels all of them.
"$BERTH" run --array 5 --name five sh -c 'echo begun; sleep 1000' >lines 2>told &
runner=$!
all_begun() {
    [ "$(grep -c ': begun$' lines)" -eq 3 ]
}
await "three of five to begin" all_begun
id=$("$BERTH" jobs --no-header --name five | sed 's/^ *\([0-9]*\).*/\1/;q')
kill -TERM $runner
wait $runner
expect "the status of what was cancelled" 143 $?
grep -q "^berth run: cancelling job $id; once more leaves it$" told || fail "no word of the end: $(cat told)"
expect "members that were cancelled" 5 "$("$BERTH" jobs -r --no-header "$id" | grep -c ' cancelled ')"

# log -f of what is over already.
expect_status 0 "$BERTH" log -f "$id"
expect "lines of the log" 3 "$(grep -c '^[0-4]: begun$' out)"

# Of an array of whole nodes that is over, as many cores as one of it has had are told.
id=$("$BERTH" submit --array 2 -N 1 true)
expect_status 0 "$BERTH" wait "$id"
"$BERTH" history | grep -q "^ *$id\[0-1\] .* done  *3 " || fail "cores of an array: $("$BERTH" history)"
finish
