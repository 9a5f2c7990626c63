#!/bin/sh
# What an administrator does: a drain is named to whom it keeps, and is in the log; HUP has the log opened anew.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
machine 2
log=$BERTH_DIR/berthd.log

expect_status 0 "$BERTH" server start
expect_status 0 "$BERTH" drain node0 kernel upgrade
id=$("$BERTH" submit true)
expect_status 0 "$BERTH" explain "$id"
expect_line out 'It waits for cores: node0 is drained (kernel upgrade). Its start time is unknown.'
grep -q '"status":"drained","reason":"kernel upgrade"' "$log" || fail "the log has no drain: $(cat "$log")"
expect_status 0 "$BERTH" resume node0
expect_status 0 "$BERTH" wait "$id"

mv "$log" rotated
lines=$(wc -l <rotated)
kill -HUP "$(daemon_pid)"
await 'another log' test -s "$log"
expect_status 0 "$BERTH" server reload
await 'the reload to be in it' grep -q 'POST /v1/server/reload' "$log"
expect 'lines of the old log' "$lines" "$(wc -l <rotated)"

finish
