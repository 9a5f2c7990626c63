#!/bin/sh
# A server of root's for all users: who may do what to whose jobs.
. "$BERTH_SOURCE/test/daemon.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
command -v setpriv >/dev/null || skip "no setpriv"
cd "$scratch" || exit 1
chmod 755 "$scratch"
machine 4 'server: {administrators: [daemon]}'
chmod 755 "$BERTH_DIR"

# as USER COMMAND...: users that each Debian has
as() {
    user=$1
    shift
    setpriv --reuid="$user" --regid="$(id -g "$user")" --init-groups env HOME=/ "$@"
}
# What a group may write, somebody else than root may replace.
chmod 775 "$BERTH_DIR"
"$BERTHD" 2>/dev/null && fail "root serves a directory that a group may write"
chmod 755 "$BERTH_DIR"
as nobody test -x "$BERTH" || skip "other users can't reach $BERTH"

"$BERTHD" || fail "berthd does not start"
[ "$(stat -c %a "$BERTH_DIR/berth.sock")" = 666 ] || fail "the socket is not for all"
[ "$(stat -c %a "$BERTH_DIR/berth.db")" = 600 ] || fail "the store is not root's alone"

# Jobs run as their user, with that user's groups.
cd /
expect "the user of a job" "$(as nobody id)" "$(as nobody "$BERTH" run id)"
expect "root's" "$(id)" "$("$BERTH" run id)"
expect_status 0 as nobody "$BERTH" submit --name secret --env KEY=hidden sh -c 'echo private; exec sleep 1000'
id=$(cat "$scratch/out")
await_state "$id" running
expect "its owner sees it" '"secret"' "$(as nobody "$BERTH" show --json "$id" | sed -n 's/^  "name": \(.*\),$/\1/p')"
await "its output" sh -c "'$BERTH' log '$id' | grep -q private"
expect "its owner's log" private "$(as nobody "$BERTH" log "$id")"

# Others see that it is there, and no more.
as games "$BERTH" jobs --json >"$scratch/seen"
grep -q "\"id\":$id," "$scratch/seen" || fail "others don't see that the machine is taken"
grep -q 'secret\|hidden\|sleep\|private' "$scratch/seen" && fail "others see too much: $(cat "$scratch/seen")"
as games "$BERTH" show --json "$id" >"$scratch/seen" 2>&1
grep -q 'secret\|hidden\|sleep' "$scratch/seen" && fail "others see too much: $(cat "$scratch/seen")"
expect_status 1 as games "$BERTH" log "$id"
file=$(get "$id" output | tr -d '"')
as games cat "$file" >/dev/null 2>&1 && fail "others can read its output"
as games cat "$BERTH_DIR/berth.db" >/dev/null 2>&1 && fail "others can read the store"
curl -sS --unix-socket "$BERTH_DIR/berth.sock" "http://b/v1/events?since=0" >"$scratch/root-events"
grep -q '"job":'"$id" "$scratch/root-events" || fail "root sees no events"
as games curl -sS --unix-socket "$BERTH_DIR/berth.sock" "http://b/v1/events?since=0" >"$scratch/seen"
grep -q 'secret\|hidden' "$scratch/seen" && fail "others see events"

# Nor may they do anything to it, or to the server.
for verb in cancel hold release requeue 'signal -s KILL' 'update -t 1'; do
    # shellcheck disable=SC2086  # a verb and its options
    expect_status 1 as games "$BERTH" $verb "$id"
    [ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "$verb: $(cat "$scratch/err")"
done
expect_status 1 as games "$BERTH" server stop
expect_status 1 as games "$BERTH" server reload
expect_status 1 as games "$BERTH" queues --stop batch
expect_status 1 as games "$BERTH" drain node0
expect_status 1 as games "$BERTH" block add mine all --duration 1h
expect_line err 'berth block: only the server'"'"'s owner, root and administrators may do that'
expect_status 0 as games "$BERTH" block list
expect_status 1 as games "$BERTH" submit --priority 10 true
expect "it runs" running "$(state "$id")"

# Administrators may; so may the owner.
expect_status 0 as daemon "$BERTH" update -t 2h "$id"
expect_status 0 as daemon "$BERTH" cancel "$id"
await_state "$id" cancelled

# Files are made as the user, not as root.
expect_status 1 as nobody "$BERTH" run -o /etc/berth-test-file true
[ -e /etc/berth-test-file ] && fail "a job wrote as root"
mkdir -m 777 "$scratch/open"
expect_status 0 as nobody "$BERTH" run -o "$scratch/open/file" echo mine
expect "the owner of its output" nobody "$(stat -c %U "$scratch/open/file")"

# cancel --all takes one's own.
a=$(as nobody "$BERTH" submit --hold true)
b=$(as games "$BERTH" submit --hold true)
expect_status 0 as nobody "$BERTH" cancel --all
expect "one's own" cancelled "$(state "$a")"
expect "another's" held "$(state "$b")"

# A user's limits, as PAM has them: with a service and limits of this test's own, beside copies of the programs.
[ -e /etc/pam.d/berth ] && echo "limits are not tested: this machine has a service berth" && finish
cd "$scratch" || exit 1
no_keeper() { [ -z "$(called berth-keeper)" ]; }
expect_status 0 "$BERTH" server stop
await "the keeper to end" no_keeper
mkdir -p bin/pam.d
cp "$BERTHD" "$BERTH_BUILD/berth-keeper" "$BERTH_BUILD/berth-limits" bin
cat >bin/pam.d/berth <<END
account required pam_unix.so broken_shadow
session required pam_limits.so conf=$scratch/limits.conf
END
cat >limits.conf <<'END'
nobody soft nofile 321
nobody hard nofile 654
nobody hard stack 4096
nobody - priority 3
@games hard fsize 7
END
bin/berthd || fail "the copy of berthd does not start"
for time in first again; do
    expect "limits of a user, $time" '321 654 4096 3' \
        "$(as nobody "$BERTH" run sh -c 'echo $(ulimit -Sn) $(ulimit -Hn) $(ulimit -Hs) $(nice)')"
done
expect "limits of a group" 14 "$(as games "$BERTH" run sh -c 'ulimit -f')" # blocks of 512 bytes
expect "root's" "$(sh -c 'ulimit -Sn; ulimit -Hs; nice')" "$("$BERTH" run sh -c 'ulimit -Sn; ulimit -Hs; nice')"
# Who may not have a session, or whose limits can't be known, has no job, and hears why in a line.
echo 'session required pam_deny.so' >>bin/pam.d/berth
expect_status 1 as daemon "$BERTH" run true
grep -q 'limits of the user: no session for daemon' err || fail "no word of the session: $(cat err)"
expect "lines of it" 1 "$(wc -l <err)"
mv bin/berth-limits bin/away
expect_status 1 as daemon "$BERTH" run true
grep -q 'limits of the user: .*berth-limits: No such file' err || fail "no word of berth-limits: $(cat err)"
finish
