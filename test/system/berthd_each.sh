#!/bin/sh
# Many jobs by one command: one for each thing, jobs that wait for each other by name, and the last job.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
machine 4

# Without jobs there is no last one.
expect_status 0 "$BERTH" server start
expect_status 1 "$BERTH" show last
expect_err 'berth show: you have submitted no job yet'

# A job for each word, in the places of the marks; all ids are printed, in order.
expect_status 0 "$BERTH" submit -o 'out.{}' --name 'n{#}' echo '{#}' 'is {}' ::: a 'b c' d
expect "ids" "1 2 3 " "$(tr '\n' ' ' <out)"
expect_status 0 "$BERTH" wait 1-3
expect "the first" "1 is a" "$(cat out.a)"
expect "the second" "2 is b c" "$(cat 'out.b c')"
expect "a name" '"n3"' "$(get 3 name)"

# A job for each line that is not empty; without a mark the thing is the last argument, of a script too.
printf 'one\n\ntwo words\n' >things
expect_status 0 "$BERTH" submit --each things -o '%j.out' echo
expect_status 0 "$BERTH" wait 4-5
expect "lines" "one two words " "$(cat 4.out 5.out | tr '\n' ' ')"
# shellcheck disable=SC2016
printf '#!/bin/sh\necho "$# $1 $2 $FROM_HERE"\n' >script.sh
printf 'x\ny\n' | FROM_HERE=environment "$BERTH" submit --each - -o '%j.out' ./script.sh first >ids
expect "ids of scripts" "6 7 " "$(tr '\n' ' ' <ids)"
expect_status 0 "$BERTH" wait 6-7
expect "scripts" "2 first x environment 2 first y environment " "$(cat 6.out 7.out | tr '\n' ' ')"

# Flux's --cc has its own mark, and adds nothing.
expect_status 0 "$BERTH" submit --cc 3-4,9 -o 'cc.{cc}' echo same
expect_status 0 "$BERTH" wait 8-10
expect "cc" "same same same " "$(cat cc.3 cc.4 cc.9 | tr '\n' ' ')"

# All or none, and one way at a time.
expect_status 1 "$BERTH" submit -c '1' --name '{}' true ::: good bad/name fine
expect "lines of a refusal" 1 "$(wc -l <err)"
grep -q 'jobs\[1\]: key "name"' err || fail "no word of which: $(cat err)"
expect_status 1 "$BERTH" show 11
expect_status 2 "$BERTH" submit --each things --cc 1-2 echo
expect_status 2 "$BERTH" submit echo :::
expect_err "berth submit: nothing stands behind :::; see 'berth submit --help'"
expect_status 2 "$BERTH" submit echo ::: a ::: b
expect_status 2 "$BERTH" run --each things echo
expect_err "berth run: --each is for submit; see 'berth run --help'"
expect_status 1 "$BERTH" submit --each missing echo
expect_err "berth submit: missing: No such file or directory"
: >empty
expect_status 2 "$BERTH" submit --each empty echo

# Ten thousand, whose environment is sent once: more than it would fit into a request ten thousand times.
LARGE=$(head -c 60000 /dev/zero | tr '\0' x)
export LARGE
# shellcheck disable=SC2046  # words
expect_status 0 "$BERTH" submit --hold sh -c 'echo ${#LARGE} >last.{}' ::: $(seq 5000)
expect "so many" 5000 "$(wc -l <out)"
last=$(tail -n 1 out)
unset LARGE
expect_status 0 "$BERTH" release "$last"
expect_status 0 "$BERTH" wait "$last"
expect "the environment of the last" 60000 "$(cat last.5000)"
crash
expect_status 0 "$BERTH" server start
expect "none is lost" 4999 "$("$BERTH" jobs --no-header -s held -n 0 | wc -l)"
expect_status 0 "$BERTH" cancel --all

# A file of jobs: each starts after those that it names, wherever they stand.
cat >jobs.yaml <<'END'
defaults: {limit: 1h, append: true, output: order}
jobs:
  report: {after: {fit: any, fetch: ok}, command: echo report}
  fit: {after: [fetch], cores: 2, command: 'echo fit; exit 3'}
  fetch: {command: [sh, -c, 'sleep 0.2; echo fetch']}
  never: {after: fit, command: echo never}
END
expect_status 0 "$BERTH" submit --file jobs.yaml
cp out ids
expect "their order" "fetch fit report never " "$(awk '{ print $2 }' ids | tr '\n' ' ')"
never=$(awk '$2 == "never" { print $1 }' ids)
report=$(awk '$2 == "report" { print $1 }' ids)
expect_status 0 "$BERTH" wait "$report"
await_state "$never" failed
expect "how they ran" "fetch fit report " "$(tr '\n' ' ' <order)"
expect "their defaults" 3600 "$(get "$report" limit)"
# Options of the command line are for all; those of the file go before.
expect_status 0 "$BERTH" submit --hold --name all -t 5m --file jobs.yaml
expect "the file's" 3600 "$(get "$(head -n 1 out | cut -d' ' -f1)" limit)"
expect "the command line's" 4 "$("$BERTH" jobs --no-header -s held | wc -l)"
expect_status 0 "$BERTH" cancel --all

bad() { # MESSAGE: what the file is refused with
    expect_status 1 "$BERTH" submit --file bad.yaml
    [ "$(cat err)" = "berth submit: bad.yaml:$1" ] || fail "expected '$1', got '$(cat err)'"
}
next=$(($("$BERTH" submit true) + 1))
cat >bad.yaml <<'END'
jobs:
  a: {after: b, command: x}
  b: {after: [c], command: x}
  c: {after: {b: any}, command: x}
END
bad '4:15: jobs wait for each other: b -> c -> b'
printf 'jobs:\n  a: {after: a, command: x}\n' >bad.yaml
bad '2:14: jobs wait for each other: a -> a'
printf 'jobs:\n  a: {after: z, command: x}\n' >bad.yaml
bad "2:14: there is no job 'z'"
printf 'jobs:\n  a: {command: x}\n  b: {command: x, dependency: afterok:1}\n' >bad.yaml
bad "3:19: a job of a file takes no key 'dependency', expected after"
expect "nothing of these is there" "$next" "$("$BERTH" submit true)"

# The last job: without an id, by its word, with members, in a dependency; also when it has ended, also after a crash.
array=$("$BERTH" submit --array 2 -o 'm%a' sh -c 'echo member $BERTH_ARRAY_INDEX; exit 4')
expect_status 4 "$BERTH" wait
expect_status 0 "$BERTH" log 'last[1]'
expect_line out 'member 1'
expect_status 0 "$BERTH" show
grep -q "^id  *$array$" out || fail "show shows another: $(head -n 1 out)"
expect_status 0 "$BERTH" explain
crash
expect_status 0 "$BERTH" server start
expect_status 4 "$BERTH" wait last
held=$("$BERTH" submit --hold true)
id=$("$BERTH" submit --dependency afterok:last true)
expect "its dependency" "\"afterok:$held\"" "$(get "$id" dependency)"
expect_status 0 "$BERTH" cancel last
await_state "$id" cancelled
expect "the other" held "$(state "$held")"
expect_status 2 "$BERTH" cancel
expect_status 0 "$BERTH" jobs -a --no-header -o id,state last
expect_line out "$id  cancelled"
expect_status 0 "$BERTH" jobs -a --no-header -o id "$array[1]" last
expect "both" "$array[1] $id" "$(tr -d ' ' <out | tr '\n' ' ' | sed 's/ $//')"
expect_status 2 "$BERTH" jobs laster
expect_status 2 "$BERTH" show laster
expect_status 2 "$BERTH" log 'last[x]'
expect "the API" "{\"id\":$id}" "$(api GET /v1/jobs/last)"

# Numbers in a list of the API are for earlier jobs only.
expect "a later one" 400 "$(http_status POST /v1/jobs -d '[{"command": ["true"], "dependency": "afterok:#1"}, {"command": ["true"]}]')"
expect "itself" 400 "$(http_status POST /v1/jobs -d '[{"command": ["true"], "dependency": "afterok:#0"}]')"
expect "no environment before" 400 "$(http_status POST /v1/jobs -d '{"command": ["true"], "environment": true}')"
expect "an earlier one" 201 "$(http_status POST /v1/jobs -d '[{"command": ["true"]}, {"command": ["true"], "dependency": "afterok:#0"}]')"
finish
