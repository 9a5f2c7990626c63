#!/bin/sh
# One user takes all that a server for all gives; another works meanwhile, and so does root.
. "$BERTH_SOURCE/test/daemon.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
command -v setpriv >/dev/null || skip "no setpriv"
command -v curl >/dev/null || skip "no curl"
BAD=$BERTH_BUILD/test/system/bad_client
SOCKET=$BERTH_DIR/berth.sock
[ "$(ulimit -Hn)" = unlimited ] || [ "$(ulimit -Hn)" -ge 4096 ] || skip "too few descriptors"
cd "$scratch" || exit 1
chmod 755 "$scratch"
machine 4 'server: {max-stored-per-user: 20M}'
chmod 755 "$BERTH_DIR"

# as USER COMMAND...: users that each Debian has
as() {
    user=$1
    shift
    setpriv --reuid="$user" --regid="$(id -g "$user")" --init-groups env HOME=/ "$@"
}
# begin COMMAND...: nobody does so until `end`
begin() {
    setpriv --reuid=nobody --regid="$(id -g nobody)" --init-groups env HOME=/ "$@" >begun 2>&1 &
    begun=$!
}
end() {
    kill $begun
    wait $begun
}
as nobody test -x "$BERTH" || skip "other users can't reach $BERTH"
"$BERTHD" || fail "berthd does not start"

# What another and root can do, whatever nobody does: a small body, a large one, a stream, a list.
printf '{"hold": true, "directory": "/", "command": ["true"], "script": null}' >small
{
    printf '{"hold": true, "directory": "/", "script": "'
    head -c 1000000 /dev/zero | tr '\0' x
    printf '"}'
} >large
sed -i 's/, "script": null//' small
others_work() { # WHILE
    for user in games root; do
        for body in small large; do
            got=$(as "$user" curl -sS --max-time 60 --unix-socket "$SOCKET" -o answer.$user -w '%{http_code}' \
                -X POST --data-binary "@$body" http://b/v1/jobs)
            expect "$1: $user submits, $body" 201 "$got"
        done
        expect "$1: $user follows events" 200 "$(as "$user" "$BAD" "$SOCKET" many 1 '/v1/events?follow=1&since=0' | cut -d' ' -f1)"
        expect "$1: $user lists" 200 "$(as "$user" "$BAD" "$SOCKET" many 1 /v1/jobs | cut -d' ' -f1)"
    done
}
chmod 644 small large
touch answer.games refused && chown games answer.games && chown nobody refused
others_work "alone"

# Bodies that are sent, but for their end: five of the largest.
begin "$BAD" "$SOCKET" bodies 5 67108864
await "bodies to be sent" grep -q sent begun
# nobody's own share is used up, but for small ones.
large_is_refused() {
    [ "$(as nobody curl -sS --unix-socket "$SOCKET" -o /dev/null -w '%{http_code}' \
        -X POST --data-binary @large http://b/v1/jobs)" = 503 ]
}
await "nobody's share to be used up" large_is_refused
others_work "beside bodies"
expect "a small body of nobody's" 201 \
    "$(as nobody curl -sS --unix-socket "$SOCKET" -o /dev/null -w '%{http_code}' -X POST --data-binary @small http://b/v1/jobs)"
end
is_free() { ! large_is_refused; }
await "nobody's share to be given back" is_free

# Streams and lists that are not read, as many as there are connections.
for path in '/v1/events?follow=1&since=0' '/v1/jobs?history=1'; do
    begin "$BAD" "$SOCKET" keep 256 "$path"
    await "streams to be there" grep -q kept begun
    others_work "beside $path"
    case $path in
    *follow*) expect "nobody's streams" '200 128 503 128' "$(grep -v kept begun | xargs)" ;;
    esac
    end
done

# Scripts of 2 MB, two dozen, each cancelled when it is there: nobody's history goes for them, and nobody else's.
others=$(as games "$BERTH" jobs --no-header -u games | wc -l)
head -c 2000000 /dev/zero | tr '\0' x >script
for n in $(seq 24); do
    { printf '{"hold": true, "directory": "/", "script": "%s' "$n" && cat script && printf '"}'; } >body
    id=$(as nobody curl -sS --unix-socket "$SOCKET" -X POST --data-binary @body http://b/v1/jobs | tr -dc 0-9)
    [ "$n" -eq 1 ] && first=$id
    expect "script $n is cancelled" 200 \
        "$(as nobody curl -sS --unix-socket "$SOCKET" -o /dev/null -w '%{http_code}' -X DELETE "http://b/v1/jobs/$id")"
done
size=$(stat -c %s "$BERTH_DIR/berth.db")
[ "$size" -lt 40000000 ] || fail "the store has $size bytes"
expect "the first of the scripts" 404 "$(http_status GET "/v1/jobs/$first")"
expect "the last of them" 200 "$(http_status GET "/v1/jobs/$id")"
expect "another's jobs" "$others" "$(as games "$BERTH" jobs --no-header -u games | wc -l)"
others_work "beside a full share"
# Jobs that wait stay, and then nothing more is taken of nobody.
status=201
for n in $(seq 30 50); do
    [ "$status" = 201 ] || break
    { printf '{"hold": true, "directory": "/", "script": "%s' "$n" && cat script && printf '"}'; } >body
    status=$(as nobody curl -sS --unix-socket "$SOCKET" -o refused -w '%{http_code}' -X POST --data-binary @body http://b/v1/jobs)
done
expect "a full share" 507 "$status"
expect "what is said of it" \
    '{"error":{"message":"the store is full for user nobody: at most 20971520 bytes, and no history is left to drop","key":null}}' \
    "$(cat refused)"
others_work "beside a share full of what waits"
expect_status 0 as nobody "$BERTH" cancel --all
finish
