#!/bin/sh
# Who shares the machine, as people see it: predicted from weights, guarantees and jobs.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
me=$(id -un)

# No shares: a line that says so, and an empty list.
machine 4
expect_status 0 "$BERTH" submit -c 1 -t 1h sleep 1000
expect_status 0 "$BERTH" shares
expect_line out 'The configuration has no shares: jobs go by priority and submission.'
expect_status 0 "$BERTH" shares --json
expect_line out '[]'
expect_status 0 "$BERTH" cancel 1
await_state 1 cancelled
expect_status 0 "$BERTH" server stop

# Of 8 cores, lab asks for 4 and has weight 3, b asks for 6: lab deserves all that it asks for, b the other 4. What b was
# promised counts as received: 2 beyond what it deserves.
cat >"$BERTH_DIR/berth.yaml" <<END
resources: {nodes: 1, cores: 8, gpus: 2}
shares:
  divisions: {lab: {weight: 3, capability: {core: 12}}}
queues:
  a: {shares: {under: lab, by: user}}
  b: {shares: {guarantee: {core: 1}, capability: {gpu: 1}}}
default-queue: a
END
# Nobody asks for anything: nothing is deserved, and nothing lacks.
expect_status 0 "$BERTH" server start
expect_status 0 "$BERTH" shares
sed 's/^ *//; s/  */ /g' out | sed -n 2p >got
expect_line got 'machine 1 8 0 0 0 0 0.0 0 0'
expect_status 0 "$BERTH" submit -c 4 -t 1h sleep 1000
await_state 2 running
expect_status 0 "$BERTH" shares
sed 's/^ *//; s/  */ /g' out | sed -n 2p >got
expect_line got 'machine 1 8 4 4 4 4 0.0 0 1'
expect_status 0 "$BERTH" submit -q b -c 2 -g 1 -t 2h sleep 1000
await_state 3 running
expect_status 0 "$BERTH" submit -q b -c 4 -t 1h sleep 1000
await "a reservation of 4" sh -c "'$BERTH' show --json 4 | grep -q '\"estimate\": [0-9]'"
expect_status 0 "$BERTH" shares
cat >expected <<END
SHARE WEIGHT GUARANTEE CAPABILITY DESERVED IN USE RECEIVED DEMAND USAGE ERROR RUNNING
machine 1 8 8 6 10 10 0.0 +2 2
lab 3 12 4 4 4 4 0.0 0 1
a 1 4 4 4 4 0.0 0 1
$me 1 4 4 4 4 0.0 0 1
b 1 1 4 2 6 6 0.0 +2 1
END
sed 's/^ *//; s/  */ /g' out >got
cmp -s expected got || fail "shares: $(cat out)"
grep -q '^      [^ ]' out || fail "a user is not below the queue: $(cat out)"
expect "rows of one width" 1 "$(awk '{ print length }' out | sort -u | wc -l)"

# Of gpus; of what does not count.
expect_status 0 "$BERTH" shares -r gpu
sed 's/^ *//; s/  */ /g' out | tail -n 1 >got
expect_line got 'b 1 1 1 1 1 1 0.0 0 1'
head -n 1 out | grep -q 'WEIGHT  CAPABILITY' || fail "gpus: $(cat out)"
expect_status 1 "$BERTH" shares -r disk
expect_err "berth shares: --resource: 'disk' does not count for shares, expected one of core, gpu, memory"
expect_status 2 "$BERTH" shares lab
expect_status 2 "$BERTH" shares --json -r gpu

# As JSON: one object a line, and the error of the dominant resource.
expect_status 0 "$BERTH" shares --json
expect "objects" 5 "$(grep -c '"kind":' out)"
grep -q '^{"name":null,"kind":"machine","above":null,"depth":0,.*"capability":{"core":8,"gpu":2,' out || fail "the machine: $(cat out)"
grep -q '^{"name":"lab","kind":"division","above":0,"depth":1,"weight":3,' out || fail "a division: $(cat out)"
grep -q "^{\"name\":\"$me\",\"kind\":\"user\",\"above\":2,\"depth\":3," out || fail "a user: $(cat out)"
b=$(grep '^{"name":"b"' out)
for part in '"above":0,' '"guarantee":{"core":1,"gpu":0,' '"capability":{"gpu":1}' '"deserved":{"core":4,"gpu":1,' \
    '"received":{"core":6,"gpu":1,' '"in_use":{"core":2,"gpu":1,' '"demand":{"core":6,"gpu":1,' '"dominant":"core"' '"share":1.5,' '"error":2,' \
    '"running":1,"promised":1,"waiting":0'; do
    case $b in *"$part"*) ;; *) fail "queue b has not $part: $b" ;; esac
done

# Queues in short: what they run on now, promises apart, and deserve.
expect_status 0 "$BERTH" queues
sed 's/  */ /g' out >got
grep -q '^QUEUE POLICY PRIORITY WEIGHT CORES DESERVED ESTIMATE' got || fail "queues: $(cat out)"
grep -q '^a [a-z]* 0 1 4 4 ' got || fail "queue a: $(cat out)"
grep -q '^b [a-z]* 0 1 2 4 ' got || fail "queue b: $(cat out)"
expect_status 0 "$BERTH" queues --json
tr -d ' \n' <out | grep -q '"received":{"core":6,"gpu":1,[^}]*},"in_use":{"core":2,"gpu":1,' || fail "queues --json: $(cat out)"
expect_status 0 "$BERTH" queues -r gpu
sed 's/  */ /g' out >got
grep -q '^QUEUE POLICY PRIORITY WEIGHT GPUS DESERVED ESTIMATE' got || fail "queues by gpu: $(cat out)"
grep -q '^b [a-z]* 0 1 1 1 ' got || fail "queue b by gpu: $(cat out)"
expect_status 1 "$BERTH" queues -r disk
expect_err "berth queues: --resource: 'disk' does not count for shares"
expect_status 2 "$BERTH" queues -r gpu --json

# With another job in a that is promised a time, lab has 8 and b 6; both ask for more than 8 by 3 : 1, so for 6 and 2.
for queue in a a b; do
    expect_status 0 "$BERTH" submit -q $queue -c 4 -t 1h sleep 1000
done
await "a reservation of 5" sh -c "'$BERTH' show --json 5 | grep -q '\"estimate\": [0-9]'"
expect_status 0 "$BERTH" explain 7
grep -qF ' Queue b has received 6 of the 2 cores that it deserves: division lab goes first (8 of 6 cores).' out || fail "explain: $(cat out)"
expect_status 0 "$BERTH" explain --json 7
tr -d ' \n' <out | grep -qF '"turns":[{"kind":"queue","own":"b","by":"share","count":1,"first":["lab"],"own_has":{"resource":"core","received":6,"deserved":2},"first_have":[{"resource":"core","received":8,"deserved":6}]}],"own_first":0,"entitled_to":[]' ||
    fail "explain --json: $(cat out)"
expect_status 0 "$BERTH" explain 6
grep -q 'goes first' out && fail "explain 6: $(cat out)"
expect_status 0 "$BERTH" cancel 5-7

# What has run fades: within seconds with a half-life of one, and what runs all the time comes to what it holds.
expect_status 0 "$BERTH" cancel 4
sed -i 's/^shares:/&\n  half-life: 1s/' "$BERTH_DIR/berth.yaml"
expect_status 0 "$BERTH" server reload
await "usage of 4 cores" sh -c "'$BERTH' shares | awk '\$1 == \"lab\" && \$(NF - 2) > 3 { found = 1 } END { exit !found }'"
expect_status 0 "$BERTH" cancel 2
await_state 2 cancelled
await "usage to fade" sh -c "'$BERTH' shares | awk '\$1 == \"lab\" && \$(NF - 2) < 2 { found = 1 } END { exit !found }'"

# Accounts stand below their queue or their account, also those without jobs, and users below their accounts.
sed -i "s/by: user/by: account/; \$ a accounts: {phys: {users: [$me]}, opt: {under: phys, weight: 2}}" "$BERTH_DIR/berth.yaml"
expect_status 0 "$BERTH" server reload
id=$("$BERTH" submit -c 3 -t 1h sleep 1000)
await_state "$id" running
expect_status 0 "$BERTH" shares
cat >expected <<END
SHARE WEIGHT GUARANTEE CAPABILITY DESERVED IN USE RECEIVED DEMAND ERROR RUNNING
machine 1 8 5 5 5 5 0 2
lab 3 12 3 3 3 3 0 1
a 1 3 3 3 3 0 1
phys 1 3 3 3 3 0 1
opt 2 0 0 0 0 0 0
$me 1 3 3 3 3 0 1
b 1 1 2 2 2 2 0 1
END
awk '{ $(NF - 2) = ""; $1 = $1; print }' out | sed 's/  */ /g' >got
cmp -s expected got || fail "accounts: $(cat out)"
expect_status 0 "$BERTH" shares --json
grep -q '^{"name":"opt","kind":"account","above":3,"depth":4,"weight":2,' out || fail "an account: $(cat out)"

# A deadline is told, and outlives a restart: the job's own, and the one that its jobspec names.
cat >spec.yaml <<'END'
version: 1
resources: [{type: slot, label: s, count: 1, with: [{type: core, count: 1}]}]
tasks: [{command: [sleep, "1"], slot: s, count: {per_slot: 1}}]
attributes: {system: {sla-waiting-time: 7200}}
END
own=$("$BERTH" submit --hold --deadline 2040-01-01T08:30:30 sleep 1)
spec=$("$BERTH" submit --hold --jobspec spec.yaml)
for round in first second; do
    expect_status 0 "$BERTH" show "$own"
    grep -q '^deadline  *2040-01-01[ T]08:30' out || fail "deadline, $round: $(cat out)"
    expect_status 0 "$BERTH" show --json "$spec"
    expect "deadline of a jobspec, $round" 7200 "$(awk -F '[:,]' '
        /"submit":/ { submit = $2 } /"deadline":/ { deadline = $2 } END { printf "%.0f", deadline - submit }' out)"
    expect_status 0 "$BERTH" server stop
    expect_status 0 "$BERTH" server start
done
expect_status 2 "$BERTH" submit --deadline soon sleep 1
head -n 1 "$scratch/err" | grep -qF "berth submit: --deadline is 'soon', expected a time such as +1h" ||
    fail "a wrong deadline: $(cat "$scratch/err")"

# Names are whole, however long they are and however deep they stand: 16 divisions one in the other, and 16 accounts.
long=a-name-of-which-the-end-says-which-of-two-queues-it-is
{
    echo 'resources: {nodes: 1, cores: 8, gpus: 2}'
    echo 'shares: {resources: [core], divisions: {'
    for i in $(seq 16); do echo "  division$i: {$([ "$i" = 1 ] || echo "under: division$((i - 1))")},"; done
    echo '}}'
    echo 'accounts: {'
    for i in $(seq 16); do echo "  account$i: {users: [$me]$([ "$i" = 1 ] || echo ", under: account$((i - 1))")},"; done
    echo '}'
    echo "queues: {$long-1: {shares: {under: division16, by: account}}, $long-2: {}}"
    echo "default-queue: $long-1"
} >"$BERTH_DIR/berth.yaml"
expect_status 0 "$BERTH" cancel --all
no_jobs() { [ -z "$("$BERTH" jobs --no-header)" ]; }
await "all jobs to end" no_jobs
expect_status 0 "$BERTH" server reload
expect_status 0 "$BERTH" shares
for name in division16 account16 "$long-1" "$long-2"; do
    grep -q "^ *$name " out || fail "shares cut $name: $(cat out)"
done
expect "rows of one width, with long names" 1 "$(awk '{ print length }' out | sort -u | wc -l)"
expect_status 0 "$BERTH" queues
expect "names of queues" "$long-1 $long-2" "$(awk 'NR > 1 { print $1 }' out | xargs)"
finish
