#!/bin/sh
# The verbs that change many jobs at once.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
machine 2
sed -i 's/^default-queue/  night: {policy: easy}\ndefault-queue/' "$BERTH_DIR/berth.yaml"

# 1 runs, 2 and 3 wait, 4 is held, 5 has three members that wait, 6 is in another queue.
"$BERTH" submit -c 2 --name front sleep 1000 >/dev/null
await_state 1 running
"$BERTH" submit -c 2 --name a true >/dev/null
"$BERTH" submit -c 2 --name b true >/dev/null
"$BERTH" submit -c 2 --hold --name a true >/dev/null
"$BERTH" submit -c 2 --array 3 --name c true >/dev/null
"$BERTH" submit -c 2 -q night --name a true >/dev/null
states() {
    "$BERTH" jobs -a -r --no-header | awk '{ printf "%s:%s ", $1, $5 }'
}
expect "states at first" '1:running 2:pending 3:pending 4:held 5[0]:pending 5[1]:pending 5[2]:pending 6:pending ' "$(states)"

# What they have in common, and ids.
expect_status 0 "$BERTH" hold --name a
expect "those called a are held" '1:running 2:held 3:pending 4:held 5[0]:pending 5[1]:pending 5[2]:pending 6:held ' "$(states)"
expect_status 0 "$BERTH" release -q night -s held
expect_status 0 "$BERTH" release 2-4
expect "they are released" '1:running 2:pending 3:pending 4:pending 5[0]:pending 5[1]:pending 5[2]:pending 6:pending ' "$(states)"
expect_status 0 "$BERTH" update --priority -7 2-4
expect "a priority" -7 "$(get 3 priority)"
expect_status 0 "$BERTH" cancel --name a 1-5
expect "a of 1-5 is gone" '1:running 2:cancelled 3:pending 4:cancelled 5[0]:pending 5[1]:pending 5[2]:pending 6:pending ' "$(states)"
expect_status 0 "$BERTH" cancel '5[1-2]' 3
expect "members are gone" '1:running 2:cancelled 3:cancelled 4:cancelled 5[0]:pending 5[1]:cancelled 5[2]:cancelled 6:pending ' "$(states)"

# One that is too late for is told when it was named itself; what else was named is done all the same.
expect_status 1 "$BERTH" cancel 2 99 6
expect "lines of what was refused" 'berth cancel: 2: job 2 has ended,berth cancel: 99: there is no job 99,' "$(tr '\n' ',' <err)"
is_state 6 cancelled || fail "what may be cancelled is not, beside what may not"
expect_status 1 "$BERTH" signal --state pending --all
expect_err "berth signal: no such job, or it is too late"
expect_status 0 "$BERTH" hold '5[0]'
expect "a member is held" '5[0]:held' "$("$BERTH" jobs -r --no-header 5 | awk '/\[0\]/ { print $1 ":" $5 }')"
expect_status 0 "$BERTH" release '5[0-2]'

# Wrong words.
expect_status 2 "$BERTH" cancel
expect_err "berth cancel: no job given; see 'berth cancel --help'"
expect_status 2 "$BERTH" cancel --all 3
expect_status 2 "$BERTH" cancel 3 x
expect_status 2 "$BERTH" cancel -s done
expect 'states of what has ended' 400 "$(http_status POST /v1/jobs/cancel -d '{"jobs": {"state": "done"}}')"
expect_status 0 "$BERTH" cancel -q nowhere
expect_status 0 "$BERTH" signal -s KILL --all
await_state 1 failed
expect_status 0 "$BERTH" cancel --all
expect_status 0 "$BERTH" cancel --all

# A wrong argument is told once, whatever the jobs are.
expect_status 2 "$BERTH" signal -s NOPE 1-6 1 2
expect 'no signal' 400 "$(http_status POST /v1/jobs/signal -d '{"jobs": {"ids": ["1"]}, "signal": "NOPE"}')"
expect_status 1 "$BERTH" update -q nowhere 1-6 1 2
expect_err 'berth update: there is no queue "nowhere"'

# Many: one request, of a few seconds.
awk 'BEGIN { print "["; for (i = 0; i < 20000; i++) print (i ? "," : "") "{\"command\":[\"true\"],\"hold\":true}"; print "]" }' >bulk.json
expect_status 0 "$BERTH" submit --bulk bulk.json
first=$(head -n 1 out)
expect_status 0 "$BERTH" cancel "$first-$((first + 9999))"
expect "those that are left" 10000 "$("$BERTH" jobs --no-header | wc -l)"
requests=$("$BERTH" jobs --no-header | awk '{ print $1 }' | tee ids | wc -l)
expect "ids" 10000 "$requests"
# shellcheck disable=SC2046 # a word an id
expect_status 0 "$BERTH" cancel $(head -n 5000 ids)
crash
"$BERTH" server start
expect "those that are left after a crash" 5000 "$("$BERTH" jobs --no-header | wc -l)"
expect_status 0 "$BERTH" cancel --state held
expect "none are left" 0 "$("$BERTH" jobs --no-header | wc -l)"

# The table of ids takes filters as well.
expect_status 0 "$BERTH" jobs -s cancelled --no-header 1-4 6
expect "rows of ids in a state" 4 "$(wc -l <out)"
expect_status 0 "$BERTH" jobs --name a --no-header 1-4 6
expect "rows of ids with a name" 3 "$(wc -l <out)"
finish
