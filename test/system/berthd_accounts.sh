#!/bin/sh
# Accounts: what a job is charged to, what is told of it, and what accounts have used, which is kept.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
me=$(id -un)
mkdir -p "$BERTH_DIR"

configure() { # ACCOUNTS
    cat >"$BERTH_DIR/berth.yaml" <<END
resources: {nodes: 1, cores: 2}
shares: {half-life: 1h}
accounts: {$1}
queues:
  batch: {shares: {by: account, order: [usage, submit]}}
server: {processes-per-core: unlimited}
END
}
configure "physics: {users: [$me]}, optics: {under: physics, users: [$me]}, chemistry: {users: [nobody]}"

# usage_of ACCOUNT: what is stored for it, as "AT AMOUNT"
usage_of() {
    sqlite3 "$BERTH_DIR/berth.db" "SELECT substr(value, instr(value, ' ') + 1) FROM value
        WHERE name = 'usage' || char(9) || 'Qbatch' || char(9) || 'A$1'"
}

# A job is of its user's default account, or of the one that it names.
expect_status 0 "$BERTH" submit sleep 1000
expect_status 0 "$BERTH" submit -A optics sleep 1000
await_state 1 running
await_state 2 running
expect "the default" '"physics"' "$(get 1 account)"
expect "the one that is named" '"optics"' "$(get 2 account)"
expect_status 0 "$BERTH" show 2
grep -q '^account  *optics$' out || fail "show has no account: $(cat out)"

# As Slurm's tools ask for it
mkdir bin
ln -s "$BERTH" bin/sacctmgr
expect "sacctmgr, as Snakemake asks" physics "$(bin/sacctmgr -n -s list user "$me" format=account%256 | tr -d ' ')"
expect "in columns" "berth|physics|$me" "$(bin/sacctmgr -nP show assoc user="$me" format=cluster,account,user)"
expect "of others" "" "$(bin/sacctmgr -n list user nobody format=account)"
expect "a head" "User|DefaultAccount" "$(bin/sacctmgr -P list users format=User,DefaultAccount | head -n 1)"
expect_status 1 bin/sacctmgr -i add user ann account=physics
grep -q '^sacctmgr: error: here it only lists' err || fail "a change: $(cat err)"

# What is refused is one line, and leaves nothing.
expect_status 1 "$BERTH" submit -A biology true
expect_err "berth submit: key \"account\": account biology: not configured: expected one of user $me: physics or optics"
expect_status 1 "$BERTH" submit --account chemistry true
expect_err "berth submit: key \"account\": account chemistry: not this user's: expected one of user $me: physics or optics"
expect_status 1 "$BERTH" show 3

# What is used is kept when the daemon is killed, to the digit: nothing has changed since jobs started.
if command -v sqlite3 >/dev/null; then
    expect_status 0 "$BERTH" server stop
    kept=$(usage_of physics)
    [ -n "$kept" ] || fail "nothing is kept of physics"
    expect_status 0 "$BERTH" server start
    await_state 1 running
    expect_status 0 "$BERTH" submit --hold true
    crash
    expect "after a crash" "$kept" "$(usage_of physics)"
    expect_status 0 "$BERTH" server start
    await_state 2 running
fi

# It can be corrected, also of a user who has had no job. What is above changes by as much.
expect "correcting" 200 "$(http_status PATCH /v1/shares -d '{"queue": "batch", "account": "chemistry", "user": "nobody", "usage": 2.5}')"
expect "nobody's" 404 "$(http_status PATCH /v1/shares -d '{"queue": "batch", "account": "chemistry", "user": "root", "usage": 1}')"
expect "no account" 404 "$(http_status PATCH /v1/shares -d '{"queue": "batch", "account": "biology", "usage": 1}')"
"$BERTH" shares --json | grep -q '"name":"chemistry".*"usage":2[.][45]' || fail "chemistry has not used what is set"
expect_status 0 "$BERTH" shares set chemistry/nobody 1
"$BERTH" shares --json | grep -q '"name":"chemistry".*"usage":\(1\|0[.]99\)' || fail "chemistry has not used less"
expect_status 0 "$BERTH" shares set batch/physics/optics 0.5
expect_status 1 "$BERTH" shares set "$me" 0
grep -q "^berth shares: '$me' are several: batch/physics/.*$me, batch/physics/.*$me$" err || fail "several: $(cat err)"
expect_status 1 "$BERTH" shares set biology 0
expect_err "berth shares: there is no share 'biology': expected a path as in queue/account/user, or its end"
expect_status 2 "$BERTH" shares set optics -1
for wrong in 0x10 ' 3' 3x nan inf 1e16 ''; do
    expect_status 2 "$BERTH" shares set batch/physics/optics "$wrong"
    expect_err "berth shares: the usage is '$wrong', expected a number from 0 to 1e15; see 'berth shares --help'"
done
expect_status 2 "$BERTH" shares set optics
expect "no usage" 400 "$(http_status PATCH /v1/shares -d '{"queue": "batch", "usage": -1}')"

# Another configuration leaves an account out: its job goes on, what others have used is kept.
configure "physics: {users: [$me]}, chemistry: {users: [nobody]}"
expect_status 0 "$BERTH" server reload
expect_status 1 "$BERTH" submit -A optics true
expect_err "berth submit: key \"account\": account optics: not configured: expected one of user $me: physics"
if command -v sqlite3 >/dev/null; then
    expect_status 0 "$BERTH" server stop
    [ -n "$(usage_of physics)" ] || fail "what physics has used is gone"
    expect "optics" "" "$(usage_of optics)"
    expect_status 0 "$BERTH" server start
fi
await_state 2 running
expect "still told" '"optics"' "$(get 2 account)"
expect_status 0 "$BERTH" cancel --all

# What an account may have at once holds for all its jobs, and is shown.
"$BERTH" shares | grep -q LIMITS && fail "limits where there are none"
configure "physics: {users: [$me], limits: {running: 1, pending: 1}}, optics: {under: physics, limits: {core: 2}}"
expect_status 0 "$BERTH" server reload
"$BERTH" shares >out
grep -q ' RUNNING  LIMITS$' out && grep -q '^ *physics .* running=1 pending=1$' out && grep -q '^ *optics .* core=2$' out ||
    fail "limits of accounts: $(cat out)"
"$BERTH" shares --json | grep -q '"name":"physics",.*"limits":{"running":1,"pending":1},' || fail "no limits in JSON"
"$BERTH" shares --json | grep -q '"name":"batch",.*"limits":{},' || fail "a queue has limits of an account"
a=$("$BERTH" submit -t 1h sleep 1000)
await_state "$a" running
b=$("$BERTH" submit -t 1h sleep 1000)
await "a reservation" sh -c "'$BERTH' show --json $b | grep -q '\"estimate\": [0-9]'"
"$BERTH" explain "$b" | grep -q '^It waits for jobs to end: jobs of account physics may run, at most 1 at once[.]' || fail "$("$BERTH" explain "$b")"
expect_status 1 "$BERTH" submit true
expect_err "berth submit: jobs of account physics may wait, at most 1 at once"
expect_status 0 "$BERTH" cancel "$a" "$b"

# A job that waits is charged to another account: it is under the limits of that, has its place there, also after a crash.
configure "physics: {users: [$me], limits: {running: 1}}, chemistry: {users: [$me], limits: {pending: 1}}, biology: {users: [nobody]}"
expect_status 0 "$BERTH" server reload
a=$("$BERTH" submit -t 1h sleep 1000)
await_state "$a" running
b=$("$BERTH" submit -t 1h sleep 1000)
c=$("$BERTH" submit --hold --array 2 true)
expect 'the default' '"physics"' "$(get "$b" account)"
expect_status 0 "$BERTH" update --account chemistry "$b"
await_state "$b" running
expect 'the new one' '"chemistry"' "$(get "$b" account)"
d=$("$BERTH" submit --hold -A chemistry true)
expect_status 1 "$BERTH" update -A chemistry "$c"
grep -q "jobs of account chemistry may wait, at most 1 at once\|limit account chemistry pending 1" err || fail "too many: $(cat err)"
expect 'it stays' '"physics"' "$(get "$c" account)"
expect_status 1 "$BERTH" update -A biology "$c"
expect_err "berth update: $c: key \"account\": account biology: not this user's: expected one of user $me: physics or chemistry"
expect_status 1 "$BERTH" update -A physics "$b"
expect_err "berth update: $b: job $b is already running"
expect_status 0 "$BERTH" cancel "$d"
expect_status 0 "$BERTH" update -A chemistry -t 5m "$c"
crash
expect_status 0 "$BERTH" server start
expect 'after a restart' '"chemistry" 300' "$(get "$c" account) $(get "$c" limit)"
expect_status 1 "$BERTH" submit --hold -A chemistry true
expect_status 0 "$BERTH" update -A physics "$c"
expect_status 0 "$BERTH" submit --hold -A chemistry true
finish
