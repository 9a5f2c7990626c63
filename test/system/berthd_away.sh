#!/bin/sh
# Where no server runs, or another than expected: one line, and soon.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
machine 2

for words in jobs 'show 1' 'log 1' 'log -f 1' 'cancel 1' 'cancel --all' 'hold 1' 'release 1' 'requeue 1' 'signal 1' \
    'update -t 5 1' 'wait 1' 'explain 1' queues 'queues --stop batch' resources 'drain node0' \
    'resume node0' 'block list' 'block add x all --end +1h' 'block remove x' history 'server status' 'server stop' 'server reload'; do
    # shellcheck disable=SC2086 # words of a command line
    expect_status 1 timeout 30 "$BERTH" $words
    expect_err "berth ${words%% *}: no server is running for $BERTH_DIR; 'berth server start' starts one"
done
BERTH_SOCKET=$scratch/nowhere
export BERTH_SOCKET
expect_status 1 "$BERTH" jobs
expect_err "berth jobs: $BERTH_SOCKET: No such file or directory"

# A socket that nobody listens at any more.
BERTH_SOCKET=$scratch/stale
"$BERTH_BUILD/test/system/other_server" "$BERTH_SOCKET"
[ -S "$BERTH_SOCKET" ] || fail "no stale socket"
expect_status 1 "$BERTH" jobs
expect_err "berth jobs: $BERTH_SOCKET: Connection refused"
unset BERTH_SOCKET
mv stale "$BERTH_DIR/berth.sock"
expect_status 1 "$BERTH" jobs
expect_status 0 "$BERTH" run echo fresh
expect_line out fresh

# A machine without GPUs leaves alone what says which ones a program may use.
expect_status 0 env CUDA_VISIBLE_DEVICES=3 "$BERTH" run sh -c 'echo "$CUDA_VISIBLE_DEVICES"'
expect_line out 3

# Another program, an older server, one that breaks off.
BERTH_SOCKET=$scratch/other
export BERTH_SOCKET
is_listening() {
    grep -q "$BERTH_SOCKET\$" /proc/net/unix
}
answered() { # REPLY STATUS MESSAGE WORD...
    rm -f "$BERTH_SOCKET"
    "$BERTH_BUILD/test/system/other_server" "$BERTH_SOCKET" "$(printf '%b' "$1")" &
    other=$!
    expected=$2
    message=$3
    shift 3
    await "a socket" is_listening
    expect_status "$expected" "$BERTH" "$@"
    expect_err "$message"
    wait $other
}
answered '220 mail.example ESMTP\r\nhello' 1 "berth jobs: the server's answer is not HTTP" jobs
answered 'HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno' 1 "berth jobs: the server answers with status 404" jobs
answered 'HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"jobs": [{"id"' 1 \
    "berth jobs: the connection to the server was lost: end of the connection" jobs
answered 'HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{"jobs": [1,' 1 "berth jobs: the server's answer is not a list" jobs
answered 'HTTP/1.1 404 Not Found\r\nContent-Length: 52\r\n\r\n{"error":{"message":"no such path: /v1","key":null}}' 1 \
    "berth cancel: the server is of an older version; restart it: berth server stop, berth server start" cancel 1
finish
