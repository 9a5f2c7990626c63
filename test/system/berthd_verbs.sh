#!/bin/sh
# Each verb, on a machine of four cores that only the configuration has.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
machine 4

# submit prints an id and nothing else: decimals from 1.
expect_status 0 "$BERTH" submit -c 4 -t 1h --name first sleep 1000
expect_line out 1
await_state 1 running
expect_status 0 "$BERTH" submit -c 2 -t 30m --name second sleep 1000
expect_line out 2
await "a reservation of 2" sh -c "'$BERTH' show --json 2 | grep -q '\"estimate\": [0-9]'"

# jobs: an aligned table, and an array with all that is promised.
expect_status 0 "$BERTH" jobs
expect "rows of jobs" 3 "$(wc -l <out)"
grep -q '^ID  *NAME  *USER  *QUEUE  *STATE' out || fail "jobs has no heads"
grep -q '^ *1  *first .* running .* left ' out || fail "jobs: $(cat out)"
grep -q '^ *2  *second .* pending .* in ' out || fail "jobs: $(cat out)"
expect_status 0 "$BERTH" jobs --json
expect "first line of the array" '[' "$(head -n 1 out)"
expect "last line of the array" ']' "$(tail -n 1 out)"
for key in id name user queue state reason priority nodes cores gpus submit start end exit signal; do
    expect "objects with $key" 2 "$(grep -c "\"$key\":" out)"
done
expect_status 0 "$BERTH" jobs -s pending --json
expect "pending jobs" 1 "$(grep -c '"id":2' out)"
expect_status 0 "$BERTH" jobs -n 1 --no-header
expect "one row" 1 "$(wc -l <out)"
expect_status 0 "$BERTH" jobs -n 0 --no-header -s PENDING,Running
expect "all rows" 2 "$(wc -l <out)"
expect_status 2 "$BERTH" jobs -n -1
expect_err "berth jobs: --limit is '-1', expected a whole number; see 'berth jobs --help'"
expect_status 1 "$BERTH" jobs 99
expect_err 'berth jobs: there is no such job'
expect_status 2 "$BERTH" jobs -s weird
expect "lines of a state that is none" 1 "$(wc -l <err)"

# explain: why, who, when.
expect_status 0 "$BERTH" explain 2
[ "$(wc -c <out)" -gt 20 ] || fail "explain says nothing"
grep -q '^ *1  .*  node0/core' out || fail "explain says not who holds it: $(cat out)"
expect_status 0 "$BERTH" explain --json 2
grep -q '"holders"' out || fail "explain --json has no holders"

# show, hold, release, update.
expect_status 0 "$BERTH" show 2
grep -q '^name  *second$' out || fail "show has no name"
grep -q ' submitted' out || fail "show has no events"
expect_status 0 "$BERTH" hold 2
expect "a held job" held "$(state 2)"
expect_status 0 "$BERTH" release 2
expect "a released job" pending "$(state 2)"
expect_status 0 "$BERTH" update -t 10m --priority -3 2
expect "the new limit" 600 "$(get 2 duration)"
expect "the new priority" -3 "$(get 2 priority)"
expect_status 1 "$BERTH" update -q nowhere 2
expect "lines of a queue that is none" 1 "$(wc -l <err)"

# signal, cancel; what ended has a status.
expect_status 0 "$BERTH" signal -s USR1 1
await_state 1 failed
expect "the signal" 10 "$(get 1 signal)"
expect_status 138 "$BERTH" wait 1
await_state 2 running
expect_status 0 "$BERTH" cancel 2
await_state 2 cancelled
expect_status 1 "$BERTH" cancel 2
expect_err 'berth cancel: 2: job 2 has ended'
expect_status 1 "$BERTH" cancel 77
expect "lines of a job that is not there" 1 "$(wc -l <err)"
expect_status 143 "$BERTH" wait 2

# Arrays: members, their files and numbers; ranges of ids.
id=$("$BERTH" submit --array 4 -o 'a%a.txt' sh -c 'echo $BERTH_ARRAY_INDEX of $BERTH_ARRAY_SIZE; exit $BERTH_ARRAY_INDEX')
expect "an array" 3 "$id"
expect_status 3 "$BERTH" wait 3
expect_status 1 "$BERTH" wait '3[1]'
expect "member 2's file" '2 of 4' "$(cat a2.txt)"
expect_status 0 "$BERTH" log '3[2]'
expect_line out '2 of 4'
expect_status 1 "$BERTH" log 3
expect_err "berth log: 3 is an array, expected one of its members, 3[0]"
expect_status 0 "$BERTH" jobs '3[1-2]'
expect "rows of members" 3 "$(wc -l <out)"
held=$("$BERTH" submit --hold --array 3 sleep 1000)
expect_status 0 "$BERTH" cancel "$held[1]"
expect "members that are left" 2 "$("$BERTH" jobs -r --no-header -s held | wc -l)"
expect_status 0 "$BERTH" cancel "1-$held"
await_state "$held" cancelled

# The output of what has not started, or never will.
a=$("$BERTH" submit --hold true)
expect_status 1 "$BERTH" log "$a"
expect_err "berth log: job $a has not started yet"
expect_status 0 "$BERTH" cancel "$a"
a=$("$BERTH" submit -o "$scratch/%n/x" --name nowhere true)
await_state "$a" failed
expect_status 1 "$BERTH" log "$a"
expect_err "berth log: job $a did not start: output $scratch/nowhere/x: No such file or directory"

# Dependencies.
a=$("$BERTH" submit --hold sh -c 'exit 0')
b=$("$BERTH" submit --dependency "afterok:$a" true)
c=$("$BERTH" submit --dependency "afternotok:$a" true)
expect "a job that waits for another" pending "$(state "$b")"
expect_status 0 "$BERTH" release "$a"
expect_status 0 "$BERTH" wait "$b"
await_state "$c" failed

# Begin times, priorities.
late=$("$BERTH" submit --begin +1h true)
expect "a job that begins later" pending "$(state "$late")"
"$BERTH" jobs "$late" | grep -qE 'begin 20[0-9]{2}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}$' || fail "jobs: when it begins"
expect_status 0 "$BERTH" cancel "$late"

# Time limits, with a warning and without; those that ignore it.
expect_status 143 "$BERTH" run -t 1 sleep 1000
grep -q 'timeout' err || fail "no word of the time limit: $(cat err)"
expect_status 5 "$BERTH" run -t 2 --signal USR1 sh -c 'trap "exit 5" USR1; while :; do sleep 0.05; done'
expect_status 1 "$BERTH" submit -t 1h --signal USR1@2h true
expect_err 'berth submit: signal: key "before": expected less than the time limit, got 7200'
expect_status 1 "$BERTH" submit -t unlimited --signal USR1 true
expect_err 'berth submit: signal: key "signal": expected a time limit, before which it is sent, got "USR1"'
expect_status 5 "$BERTH" run -t 1 --signal USR1@0.5 sh -c 'trap "exit 5" USR1; while :; do sleep 0.05; done'

# log, log -f.
mkfifo fifo
id=$("$BERTH" submit sh -c "echo one; cat '$scratch/fifo'; echo two")
"$BERTH" log -f "$id" >followed &
follower=$!
await "the first line" grep -q one followed
echo between >fifo
wait $follower || fail "log -f"
expect "followed output" 'one between two' "$(tr '\n' ' ' <followed | sed 's/ $//')"

# requeue: the same job again.
id=$("$BERTH" submit sh -c "echo \$BERTH_ATTEMPT >>'$scratch/attempts'; [ -e '$scratch/enough' ] || sleep 1000")
await "the first attempt" test -s attempts
: >enough
expect_status 0 "$BERTH" requeue "$id"
expect_status 0 "$BERTH" wait "$id"
expect "attempts" '1 2' "$(tr '\n' ' ' <attempts | sed 's/ $//')"

# queues, resources, drain, resume.
expect_status 0 "$BERTH" queues
grep -q '^batch .* open$' out || fail "queues: $(cat out)"
expect_status 0 "$BERTH" queues --stop batch
id=$("$BERTH" submit true)
expect "a job in a stopped queue" pending "$(state "$id")"
expect_status 0 "$BERTH" queues --start batch
expect_status 0 "$BERTH" wait "$id"
expect_status 0 "$BERTH" queues --disable batch
expect_status 1 "$BERTH" submit true
expect "lines of a disabled queue" 1 "$(wc -l <err)"
expect_status 0 "$BERTH" queues --enable batch
expect_status 0 "$BERTH" resources
grep -q '^cores   0 of 4 in use$' out || fail "resources: $(cat out)"
expect_status 0 "$BERTH" drain node0 for a test
id=$("$BERTH" submit true)
expect "a job on a drained machine" pending "$(state "$id")"
expect "the reason why it waits" "It waits for cores: node0 is drained (for a test). Its start time is unknown." \
    "$("$BERTH" explain "$id")"
"$BERTH" resources | grep -q 'drained node0 since .*: for a test' || fail "no word of what is drained"
expect_status 0 "$BERTH" resume node0
expect_status 0 "$BERTH" wait "$id"

# What a job holds, not what it asked for: a node that it has to itself counts whole, also when it is over, and after a restart.
id=$("$BERTH" submit --hold -N 1 -x sleep 1000)
expect "what it asks for" 0 "$(get "$id" cores)"
expect_status 0 "$BERTH" release "$id"
await_state "$id" running
expect "cores of a job that has its node to itself" 4 "$("$BERTH" jobs --no-header "$id" | awk '{ print $7 }')"
"$BERTH" resources | grep -q '^cores   4 of 4 in use$' || fail "resources: $("$BERTH" resources)"
expect_status 0 "$BERTH" server stop
expect_status 0 "$BERTH" server start
expect "cores after a restart" 4 "$(get "$id" cores)"
"$BERTH" resources | grep -q '^cores   4 of 4 in use$' || fail "resources: $("$BERTH" resources)"
expect_status 0 "$BERTH" cancel "$id"
await_state "$id" cancelled
expect "cores of a job that is over" 4 "$(get "$id" cores)"

# history, newest first.
expect_status 0 "$BERTH" history -n 2
expect "rows of history" 3 "$(wc -l <out)"
expect_status 0 "$BERTH" history -n 0 -s failed --json
grep -q '"state":"failed"' out || fail "history has no failed job"
grep -q '"state":"done"' out && fail "history -s failed has others"
expect_status 2 "$BERTH" history -s failed,running
expect_status 2 "$BERTH" history -s weird
expect_status 0 "$BERTH" history -n 0 --json
grep '"id":1,' out | grep -q '"how":"immediate"' || fail "history says not how job 1 was started"
grep "\"id\":$late," out | grep -q '"how":null' || fail "a job that never ran was started somehow"
expect_status 0 "$BERTH" history --since 1h -n 0
[ "$(wc -l <out)" -gt 5 ] || fail "history --since"

# Jobspecs.
cat >job.yaml <<'END'
version: 1
resources: [{type: slot, count: 1, label: s, with: [{type: core, count: 2}]}]
tasks: [{command: [echo, from, a, jobspec], slot: s, count: {per_slot: 1}}]
attributes: {system: {duration: 60}}
END
expect_status 0 "$BERTH" run --jobspec job.yaml
expect_line out 'from a jobspec'

# Bulk: all or none.
echo '[{"command": ["true"]}, {"command": ["true"], "cores": 2}]' >bulk.json
expect_status 0 "$BERTH" submit --bulk bulk.json
expect "ids of bulk" 2 "$(wc -l <out)"
expect_status 0 "$BERTH" wait "$(tail -n 1 out)"
echo '[{"command": ["true"]}, {"command": ["true"], "cores": 2000}]' >bulk.json
before=$("$BERTH" jobs -a --json | grep -c '"id"')
expect_status 1 "$BERTH" submit --bulk bulk.json
expect "jobs after a bulk that was refused" "$before" "$("$BERTH" jobs -a --json | grep -c '"id"')"

# reload, and a configuration that is wrong.
sed -i 's/default-queue/  night: {policy: easy}\ndefault-queue/' "$BERTH_DIR/berth.yaml"
expect_status 0 "$BERTH" server reload
"$BERTH" queues | grep -q '^night' || fail "a queue that was added is not there"
echo 'nonsense: [' >>"$BERTH_DIR/berth.yaml"
expect_status 1 "$BERTH" server reload
expect "lines of a wrong configuration" 1 "$(wc -l <err)"
expect_status 0 "$BERTH" run echo still
expect_line out still

# One that has come since the server was started.
expect_status 0 "$BERTH" server stop
rm "$BERTH_DIR/berth.yaml"
expect_status 0 "$BERTH" server start
printf 'resources: local\nqueues: {day: {policy: easy}\n' >"$BERTH_DIR/berth.yaml"
expect_status 1 "$BERTH" server reload
grep -q 'berth.yaml' err || fail "a wrong configuration that has come is not named"
printf 'resources: local\nqueues: {default: {policy: easy}, day: {policy: ageing}}\ndefault-queue: default\n' >"$BERTH_DIR/berth.yaml"
expect_status 0 "$BERTH" server reload
"$BERTH" queues | grep -q '^day' || fail "a configuration that has come is not taken"
"$BERTH" queues --json | grep -q '"policy":"ageing"' || fail "a queue has not the policy of the configuration"
expect_status 0 "$BERTH" run -q day echo aged
expect_line out aged


# All the memory that the system has can be had, whatever its NUMA nodes tell, and no more.
total=$(($(sed -n 's/^MemTotal: *\([0-9]*\) kB/\1/p' /proc/meminfo) / 1024))
expect_status 0 "$BERTH" submit --hold --mem ${total}M true
expect_status 1 "$BERTH" submit --hold --mem $((total + 1))M true

# A machine that can't be read: hwloc 2.9 crashes on this one.
expect_status 0 "$BERTH" server stop
echo "resources: {file: $BERTH_SOURCE/test/system/no_complete_cpuset.xml}" >"$BERTH_DIR/berth.yaml"
if ! "$BERTH" config check "$BERTH_DIR/berth.yaml" >out 2>why; then
    expect_status 1 "$BERTH" server start
    grep -q 'no_complete_cpuset.xml: hwloc' err || fail "a machine that can't be read: $(cat err)"
    expect "lines for a machine that can't be read" 1 "$(wc -l <err)"
fi
finish
