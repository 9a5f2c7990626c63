#!/bin/sh
# What berthd has open is deleted or replaced: its socket is made again, and nothing more is acknowledged into a store that
# nobody will find.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
machine 2
socket=$BERTH_DIR/berth.sock

a=$("$BERTH" submit -o /dev/null sh -c "until [ -e '$scratch/go' ]; do sleep 0.02; done; exit 3")
await_state "$a" running
pid=$(daemon_pid)

# The socket is deleted, moved, or written over by another one.
answers() {
    [ "$(http_status GET /v1/server)" = 200 ]
}
mode=$(stat -c %a "$socket")
rm "$socket"
await "the socket to be made again" test -S "$socket"
expect "its permissions" "$mode" "$(stat -c %a "$socket")"
await "berthd to answer" answers
mv "$socket" moved
await "it after it was moved" answers
expect "the socket that was moved" 'Connection refused' "$(BERTH_SOCKET=$scratch/moved "$BERTH" jobs 2>&1 | sed 's/.*: //')"
"$BERTH_BUILD/test/system/other_server" "$scratch/stale"
mv stale "$socket"
await "it after it was written over" answers
chmod 640 "$socket" # is no reason to make another one
inode=$(stat -c %i "$socket")
expect_status 0 "$BERTH" jobs
expect "the socket" "$inode" "$(stat -c %i "$socket")"
chmod "$mode" "$socket"

# Where it can't be made a line says so, and SIGHUP has it tried again.
rm -f file && echo text >file
mv -f file "$socket"
await "a word of it" grep -q "the socket is gone, send SIGHUP to recreate it: $socket exists and is not a socket" "$BERTH_DIR/berthd.log"
expect "the file" text "$(cat "$socket")"
rm "$socket"
kill -HUP "$pid"
await "it after a signal" answers
expect "the daemon" "$pid" "$(daemon_pid)"

# The log is moved aside: after a signal, what follows is in a new one. Who has changed something for all is in it.
mv "$BERTH_DIR/berthd.log" old.log
kill -HUP "$pid"
await "a new log" grep -q 'configuration reloaded' "$BERTH_DIR/berthd.log"
expect_status 0 "$BERTH" queues --stop batch
expect_status 0 "$BERTH" queues --start batch
expect_status 0 "$BERTH" server reload
me=$(id -u)
grep -q "Z user $me: PATCH /v1/queues/batch {\"started\":false}$" "$BERTH_DIR/berthd.log" || fail "no word of a queue that is stopped"
grep -q "Z user $me: POST /v1/server/reload" "$BERTH_DIR/berthd.log" || fail "no word of a reload"
grep -q 'queues/batch' old.log && fail "what follows is in the old log"

# The store is deleted: what would be written is refused in a line, what runs and what is shown goes on.
refused() { # WHAT FILE
    expect_status 1 "$BERTH" submit true
    expect_err "berth submit: cannot store the change: $2 was deleted or replaced while berthd has it open: stop berthd, put the right file in place and start it again"
    expect_status 1 "$BERTH" queues --stop batch
    expect_err "berth queues: cannot store the change yet; what is changed stays, but is lost if berthd ends before: $2 was deleted or replaced while berthd has it open: stop berthd, put the right file in place and start it again"
    expect_status 0 "$BERTH" show "$a"
    await "a word of it ($1)" grep -q "$2 was deleted or replaced" "$BERTH_DIR/berthd.log"
    : >"$BERTH_DIR/berthd.log"
}
db=$BERTH_DIR/berth.db
b=$("$BERTH" submit --hold true)
c=$("$BERTH" submit --hold true)
mv "$db" moved.db
refused deleted "$db"
# What has changed stays, is told so, and is stored once that works again.
expect_status 1 "$BERTH" cancel "$c"
grep -q '^berth cancel: .*cannot store the change yet; what is changed stays, but is lost if berthd ends before: ' err || fail "cancel: $(cat err)"
expect "the state of $c" '"cancelled"' "$(get "$c" state)"
mv moved.db "$db"
works() {
    "$BERTH" submit --hold true >id
}
await "it to work when the file is back" works
expect_status 0 "$BERTH" queues --start batch
mv "$db-wal" moved.wal
refused 'without its log' "$db-wal"
mv moved.wal "$db-wal"
await "it to work when the log is back" works
cp "$db" copy.db
mv -f copy.db "$db"
refused replaced "$db"
: >go
expect_status 0 "$BERTH" server stop
await "berthd to end" is_gone "$pid"
rm -f "$db"*
expect_status 0 "$BERTH" server start
expect "the number of the first job of a new store" 1 "$("$BERTH" submit -o new.out echo new)"
expect_status 0 "$BERTH" wait 1
expect "what it wrote" new "$(cat new.out)"
[ "$b" -gt 1 ] || fail "no second job"
finish
