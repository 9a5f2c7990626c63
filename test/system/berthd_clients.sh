#!/bin/sh
# The API with curl, streams that go on where they ended, and clients that behave badly.
. "$BERTH_SOURCE/test/daemon.sh"
command -v curl >/dev/null || skip "no curl"
BAD=$BERTH_BUILD/test/system/bad_client
cd "$scratch" || exit 1
machine 4
"$BERTHD" || fail "berthd does not start"

# These take as long as the server bears them; the rest goes on meanwhile.
"$BAD" "$BERTH_DIR/berth.sock" slow >slow 2>&1 &
slow=$!
"$BAD" "$BERTH_DIR/berth.sock" garbage >garbage 2>&1 &
garbage=$!

# Requests and their statuses.
expect "the server" 200 "$(http_status GET /v1/server)"
expect "a submission" '{"id":1}' "$(api POST /v1/jobs -d '{"command": ["true"], "directory": "/"}')"
expect_status 0 "$BERTH" wait 1
expect "its status" 201 "$(http_status POST /v1/jobs -d '{"command": ["true"], "directory": "/"}')"
expect "no such path" 404 "$(http_status GET /v1/nonsense)"
expect "no such job" 404 "$(http_status GET /v1/jobs/99)"
expect "a job that has ended" 409 "$(http_status DELETE /v1/jobs/1)"
expect "no JSON" 400 "$(http_status POST /v1/jobs -d '{')"
expect "no command" 400 "$(http_status POST /v1/jobs -d '{}')"
expect "an unknown key" 400 "$(http_status POST /v1/jobs -d '{"command": ["true"], "colour": 1}')"
api POST /v1/jobs -d '{"command": ["true"], "colour": 1}' | grep -q '"key": *"colour"' || fail "the key is not named"
head -c 70000000 /dev/zero >large
expect "too large" 413 "$(http_status POST /v1/jobs --data-binary @large)"
expect "too large, in chunks" 413 \
    "$(http_status POST /v1/jobs -H 'Transfer-Encoding: chunked' --data-binary @large)"
rm large
# Deep JSON, and many keys.
awk 'BEGIN { for (i = 0; i < 100000; i++) printf "["; }' >deep
expect "deep JSON" 400 "$(http_status POST /v1/jobs --data-binary @deep)"

# A query of many parts, for which there may be no room; a path that would be cut off.
parts=$(awk 'BEGIN { for (i = 0; i < 480; i++) printf "a%d=1&", i }')
api GET "/v1/jobs?$parts" -w '%{http_code}' >answer
expect "a query of many parts" '{"error":{"message":"the query is too long, expected at most 64 parts and 24 KiB","key":null}} 414' \
    "$(xargs -d '\n' <answer)"
expect "a query of as many as may be" 400 "$(http_status GET "/v1/jobs?$(echo "$parts" | cut -d'&' -f1-64)")"
expect "a NUL in a path" 400 "$(http_status GET /v1/server%00x)"

# A stream of events goes on where it ended. Nothing else happens meanwhile.
expect_status 0 "$BERTH" wait 2
api GET '/v1/events?since=0' >all
grep -q '^event: submitted$' all || fail "no event of a submission: $(head -5 all)"
first=$(sed -n 's/^id: //p' all | head -n 1)
last=$(sed -n 's/^id: //p' all | tail -n 1)
api GET "/v1/events?since=$first" >later
expect "events behind the first" "$(grep -c '^id:' all)" "$(($(grep -c '^id:' later) + 1))"
api GET /v1/events -H "Last-Event-ID: $first" >resumed
cmp -s later resumed || fail "Last-Event-ID is not as since"
curl -sSN --unix-socket "$BERTH_DIR/berth.sock" "http://berth/v1/events?follow=1&since=$last" >stream &
stream=$!
id=$("$BERTH" submit true)
await "events in a stream" grep -q '^event: done$' stream
kill $stream
expect "the stream's first event" "$((last + 1))" "$(sed -n 's/^id: //p' stream | head -n 1)"
expect "events that came twice" "" "$(sed -n 's/^id: //p' stream | sort | uniq -d)"

# Pages of a list.
for _ in 1 2 3 4 5; do "$BERTH" submit --hold true; done >/dev/null
next=
rows=0
while :; do
    page=$(api GET "/v1/jobs?limit=2${next:+&after=$next}")
    rows=$((rows + $(echo "$page" | grep -o '"id":' | wc -l)))
    next=$(echo "$page" | sed -n 's/.*"next": *"\([^"]*\)".*/\1/p')
    [ -z "$next" ] && break
done
expect "rows of all pages" 5 "$rows"

# Bad clients.
"$BAD" "$BERTH_DIR/berth.sock" half || fail "half-closed connections"
if [ "$(ulimit -Hn)" = unlimited ] || [ "$(ulimit -Hn)" -ge 4096 ]; then
    "$BAD" "$BERTH_DIR/berth.sock" many 1000 /v1/server >many || fail "a thousand at once: $(cat many)"
    expect "a thousand at once" '200 1000' "$(cat many)"
    "$BAD" "$BERTH_DIR/berth.sock" many 3000 /v1/server >many || fail "three thousand at once: $(cat many)"
    grep -q '^503 ' many || fail "connections are not bounded: $(cat many)"
fi
"$BAD" "$BERTH_DIR/berth.sock" deaf '/v1/jobs?history=1' >deaf &
deaf=$!
await "a deaf client's request" grep -q asked deaf
expect "the server beside it" 200 "$(http_status GET /v1/server)"
kill $deaf
wait $slow || fail "slow clients: $(cat slow)"
wait $garbage || fail "garbage: $(cat garbage)"
expect_status 0 "$BERTH" run echo unharmed
expect_line out unharmed

# A full reply, a closed output: the client says so.
if [ -w /dev/full ]; then
    "$BERTH" jobs >/dev/full 2>err && fail "a full disk goes unnoticed"
fi
# Idle, the daemon takes no time, once it is done with what was before.
pid=$(daemon_pid)
used() { cut -d' ' -f14,15 "/proc/$pid/stat"; }
is_idle() {
    before=$(used)
    sleep 1
    [ "$(used)" = "$before" ]
}
tries=0
until is_idle; do
    tries=$((tries + 1))
    [ "$tries" -lt 15 ] || { fail "an idle daemon takes time: $before, then $(used)"; break; }
done
grep -q __asan_init "/proc/$pid/exe" ||
    [ "$(sed -n 's/^VmRSS:[[:space:]]*\([0-9]*\) kB/\1/p' "/proc/$pid/status")" -lt 40000 ] || fail "memory of an idle daemon"
finish
