#!/bin/sh
# Waiting jobs that are put first, or off.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
machine 1
mkfifo gate
busy=$("$BERTH" submit sh -c "cat $scratch/gate")
await_state "$busy" running
a=$("$BERTH" submit -t 10 sh -c "echo a >>$scratch/order")
b=$("$BERTH" submit -t 10 sh -c "echo b >>$scratch/order")
c=$("$BERTH" submit -t 10 --priority 5 sh -c "echo c >>$scratch/order")
d=$("$BERTH" submit -t 10 --begin +9h sh -c "echo d >>$scratch/order")

# b goes before c, which had the highest priority; what is first already stays as it is.
expect_status 0 "$BERTH" update --first "$b"
expect 'first' 6 "$(get "$b" priority)"
expect_status 0 "$BERTH" update --first "$b"
expect 'first already' 6 "$(get "$b" priority)"

# a is put off, and d is not any more; both over a restart.
expect_status 0 "$BERTH" update --begin +8h "$a"
"$BERTH" explain "$a" | grep -q 'to start in 7h 59m\|to start in 8h' || fail "put off: $("$BERTH" explain "$a")"
expect_status 0 "$BERTH" update --begin now "$d"
crash
expect_status 0 "$BERTH" server start
"$BERTH" explain "$a" | grep -q 'to start in 7h 5\|to start in 8h' || fail "after a restart: $("$BERTH" explain "$a")"
echo >gate
for job in "$b" "$c" "$d"; do
    expect_status 0 "$BERTH" wait "$job"
done
expect 'the order' 'b c d' "$(tr '\n' ' ' <order | sed 's/ $//')"
expect 'the one put off' pending "$(state "$a")"
expect_status 0 "$BERTH" update --begin now "$a"
expect_status 0 "$BERTH" wait "$a"

# What can't be.
expect_status 1 "$BERTH" update --begin +1h "$a"
expect_status 2 "$BERTH" update --begin soon "$a"
expect_status 2 "$BERTH" update --cores=3 "$a"
expect_err "berth update: unknown option '--cores=3' (--cores-per-task is cores for each task); see 'berth update --help'"
expect_status 2 "$BERTH" update -c none "$a"
grep -q -- "--cores-per-task is 'none', expected a whole number" err || fail "no number: $(cat err)"
expect_status 2 "$BERTH" update --fist "$a"
expect_err "berth update: unknown option '--fist' (did you mean '--first'?); see 'berth update --help'"
many=$("$BERTH" submit --array 3 --hold true)
expect_status 1 "$BERTH" update --begin +1h "$many"
grep -q 'expected a job that is no array' err || fail "an array: $(cat err)"
expect_status 0 "$BERTH" update --first "$many"
expect_status 1 "$BERTH" update --first --priority 3 "$many"
grep -q 'either first or a priority' err || fail "both: $(cat err)"
expect 'no time' 400 "$(http_status PATCH "/v1/jobs/$many" -d '{"begin": "soon"}')"

# What a waiting job asks for, and its name: in its place, with its script and its environment, over a crash.
expect_status 0 "$BERTH" cancel --all
printf 'resources: {nodes: 2, cores: 4, memory: 8}\nserver: {imagined: yes}\n' >"$BERTH_DIR/berth.yaml"
expect_status 0 "$BERTH" server stop
expect_status 0 "$BERTH" server start
rm -f order
busy=$("$BERTH" submit -N 2 -x sh -c "cat $scratch/gate")
await_state "$busy" running
printf '#!/bin/sh\necho "$BERTH_JOB_NAME $BERTH_CORES $BERTH_MEM $X" >>%s/order\n' "$scratch" >script
a=$(X=kept "$BERTH" submit -n 2 -N 2 -c 4 --name old ./script)
b=$("$BERTH" submit -c 4 --array 2 sh -c "echo \$BERTH_CORES >>$scratch/array")
expect_status 0 "$BERTH" update -n 1 -N 1 -c 3 --mem 2G --name new -t 5m "$a"
expect_status 0 "$BERTH" update -c 1 "$b"
expect 'cores' 3 "$(get "$a" cores)"
expect 'its name' '"new"' "$(get "$a" name)"
expect 'its limit' 300 "$(get "$a" limit)"
expect 'cores of an array' 1 "$(get "$b" cores)"
expect_status 1 "$BERTH" update -c 5 "$a"
grep -q 'not together\|the machine has' err || fail "too many cores: $(cat err)"
expect_status 1 "$BERTH" update -c 2 "$busy"
expect_err "berth update: $busy: job $busy is already running"
expect_status 1 "$BERTH" update -c 2 "$b[1]"
grep -q "the members of an array ask for the same: name job $b" err || fail "a member: $(cat err)"
expect 'mixed with others' 400 "$(http_status PATCH "/v1/jobs/$a" -d '{"cores": 2, "priority": 1}')"
crash
expect_status 0 "$BERTH" server start
expect 'cores after a restart' 3 "$(get "$a" cores)"
"$BERTH" show --json "$a" | grep -q '"cores": 3,' || fail "what was asked for: $("$BERTH" show --json "$a")"
echo >gate
for job in "$a" "$b"; do
    expect_status 0 "$BERTH" wait "$job"
done
expect 'what it had' 'new 3 2147483648 kept' "$(cat order)"
expect 'what the members had' '1 1' "$(tr '\n' ' ' <array | sed 's/ $//')"
gang=$("$BERTH" submit --gang 2 --hold true)
expect_status 1 "$BERTH" update -c 2 "$gang"
grep -q 'is a gang: what its members ask for stays' err || fail "a gang: $(cat err)"
expect_status 1 "$BERTH" update --dependency none "$gang"
expect_err "berth update: $gang: job $gang is a gang: what its members ask for stays"

# How many members of an array run at once: more, so that others start, also over a crash; and fewer, for which none is stopped.
expect_status 0 "$BERTH" cancel --all
some=$("$BERTH" submit -c 1 -t 1h --array 1-8%2 sleep 1000)
await_state "$some[2]" running
runs() { # INDICES
    [ "$("$BERTH" show --json "$some" | sed -n 's/.*"running": "\([^"]*\)".*/\1/p')" = "$1" ]
}
await "two at once" runs 1-2
expect_status 0 "$BERTH" update --at-once 3 "$some"
await "three at once" runs 1-3
expect 'so many' 3 "$(get "$some" at_once)"
crash
expect_status 0 "$BERTH" server start
expect 'after a restart' 3 "$(get "$some" at_once)"
expect_status 0 "$BERTH" cancel "$some[1]"
await "the next one" runs 2-4
expect_status 0 "$BERTH" update --at-once 1 "$some"
expect_status 0 "$BERTH" cancel "$some[2]"
await "those that run, and no other" runs 3-4
expect_status 0 "$BERTH" update --at-once unlimited "$some"
await "all of them" runs 3-8
expect 'any number' '' "$(get "$some" at_once)"
expect_status 1 "$BERTH" update --at-once 2 "$some"
expect_err "berth update: $some: job $some has no members that wait"
expect_status 2 "$BERTH" update --at-once 0 "$some"
expect_err "berth update: --at-once is '0', expected a number from 1 to 1000000, or unlimited; see 'berth update --help'"
expect 'no number' 400 "$(http_status PATCH "/v1/jobs/$some" -d '{"at_once": 0}')"
single=$("$BERTH" submit --hold true)
expect_status 1 "$BERTH" update --at-once 2 "$single"
expect_err "berth update: $single: job $single is no array"

# Whom a job waits for: others from now on, over a crash, also an array; and nobody.
expect_status 0 "$BERTH" cancel --all
first=$("$BERTH" submit --hold true)
second=$("$BERTH" submit --hold true)
failed=$("$BERTH" submit false)
well=$("$BERTH" submit true)
expect_status 1 "$BERTH" wait "$failed"
expect_status 0 "$BERTH" wait "$well"
a=$("$BERTH" submit --dependency "afterok:$first" true)
b=$("$BERTH" submit --array 2 true)
expect_status 0 "$BERTH" wait "$b"
b=$("$BERTH" submit --array 2 --dependency "afterok:$first" true)
behind=$("$BERTH" submit --dependency "afterok:$a" true)
expect_status 0 "$BERTH" update --dependency "afterok:$second,afternotok:$failed" "$a" "$b"
expect 'what it waits for' "\"afterok:$second,afternotok:$failed\"" "$(get "$a" dependency)"
expect_status 0 "$BERTH" release "$first"
expect_status 0 "$BERTH" wait "$first"
expect 'it waits' 'pending pending' "$(state "$a") $(state "$b")"
crash
expect_status 0 "$BERTH" server start
expect 'after a restart' "\"afterok:$second,afternotok:$failed\"" "$(get "$a" dependency)"
expect 'it still waits' 'pending pending' "$(state "$a") $(state "$b")"
expect_status 0 "$BERTH" release "$second"
for job in "$a" "$b" "$behind"; do
    expect_status 0 "$BERTH" wait "$job"
done
a=$("$BERTH" submit --hold true)
b=$("$BERTH" submit --dependency "afterok:$a" true)
expect_status 0 "$BERTH" update --dependency none "$b"
expect_status 0 "$BERTH" wait "$b"
b=$("$BERTH" submit --hold true)
expect_status 1 "$BERTH" update --dependency afterok:last "$b"
expect_err "berth update: $b: dependency $b: no such job"
expect_status 0 "$BERTH" update --dependency "afterok:$well" -c 2 -t 5m --name late "$b"
expect 'all of it' '2 300 "late"' "$(get "$b" cores) $(get "$b" limit) $(get "$b" name)"
expect_status 1 "$BERTH" update --dependency "afterok:$b" "$a"
expect_err "berth update: $a: dependency $b: it was submitted after $a"
expect_status 1 "$BERTH" update --dependency "afterok:$failed" "$b"
expect_err "berth update: $b: dependency afterok:$failed: it can never be met"
expect_status 1 "$BERTH" update --dependency after:99 "$b"
expect_err "berth update: $b: dependency 99: no such job"
expect_status 1 "$BERTH" update --dependency odd "$b"
grep -q "expected after, afterany, afterok, afternotok or singleton, found 'odd'" err || fail "odd: $(cat err)"
expect 'together' 400 "$(http_status PATCH "/v1/jobs/$b" -d '{"dependency": null, "cores": 1}')"
expect 'no text' 400 "$(http_status PATCH "/v1/jobs/$b" -d '{"dependency": 17}')"
expect 'nothing has changed' "\"afterok:$well\" 2" "$(get "$b" dependency) $(get "$b" cores)"
array=$("$BERTH" submit --array 2 --dependency singleton --hold true)
expect_status 1 "$BERTH" update --dependency none "$array"
expect_err "berth update: $array: whether an array is a singleton stays"

# What it was promised is given up, also in the store.
expect_status 0 "$BERTH" cancel --all
busy=$("$BERTH" submit -N 2 -x -t 1h sleep 1000)
await_state "$busy" running
first=$("$BERTH" submit --hold true)
a=$("$BERTH" submit -N 2 -x -t 5m true)
promised() { # JOB
    "$BERTH" show --json "$1" | grep -q '"estimate": [0-9]'
}
await 'a promise' promised "$a"
expect_status 0 "$BERTH" update --dependency "afterok:$first" "$a"
expect 'no promise' null "$(get "$a" estimate)"
crash
expect_status 0 "$BERTH" server start
expect 'none after a restart' null "$(get "$a" estimate)"
expect_status 0 "$BERTH" update --dependency none "$a"
await 'a promise again' promised "$a"
finish
