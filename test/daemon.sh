# What tests of the daemon share: `. "$BERTH_SOURCE/test/daemon.sh"`, in place of test/lib.sh.
#
# Each test has a directory of its own, and what it started is gone when it ends. Nothing waits for a time: `await` looks until
# something is so.
# shellcheck shell=sh disable=SC2034
. "$BERTH_SOURCE/test/lib.sh"

PATIENCE=${BERTH_PATIENCE:-60} # seconds

BERTH_DIR=$scratch/berth
export BERTH_DIR
unset BERTH_SOCKET NOTIFY_SOCKET
BERTHD=$BERTH_BUILD/berthd
[ -x "$BERTHD" ] || skip "no berthd"

# What the daemon answers is noted, and looked at when the test ends: it is as doc/openapi.json says. REPLIES is set by meson.
if [ -n "${REPLIES:-}" ]; then
    BERTH_REPLIES=$scratch.replies
    LD_PRELOAD=$REPLIES
    export BERTH_REPLIES LD_PRELOAD
fi

check_replies() {
    unset LD_PRELOAD
    [ -s "${BERTH_REPLIES:-}" ] || return
    wrong=$(/usr/bin/python3 -B "$BERTH_SOURCE/test/replies/check.py" "$BERTH_SOURCE/doc/openapi.json" "$BERTH_REPLIES") ||
        fail "replies are not as doc/openapi.json says: $wrong"
}

# Under sanitizers, what a program dies of is kept: nobody reads what those say that the server starts.
if [ -n "${BERTH_FEW:-}" ]; then
    ASAN_OPTIONS=log_path=$scratch.fault${ASAN_OPTIONS:+:$ASAN_OPTIONS}
    UBSAN_OPTIONS=log_path=$scratch.fault:print_stacktrace=1
    export ASAN_OPTIONS UBSAN_OPTIONS
fi
check_faults() {
    for fault in "$scratch".fault.*; do
        [ -e "$fault" ] || continue
        fail "a program has died of a fault"
        head -n 40 "$fault"
    done
}

finish() {
    check_replies
    check_faults
    [ "$failures" -eq 0 ]
    exit
}

# Every process that was started with our directory in its environment or its command line: the daemon, its keeper, their
# jobs, clients.
ours() {
    {
        grep -lzxF "BERTH_DIR=$BERTH_DIR" /proc/[0-9]*/environ
        grep -lzF "$BERTH_DIR" /proc/[0-9]*/cmdline
    } 2>/dev/null | cut -d/ -f3 | sort -u
}

# Those of them that are called so
called() { # NAME
    for pid in $(ours); do
        [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = "$1" ] && echo "$pid"
    done
}

# And have started no others. All are found before one is killed: whoever starts that one again has none for a moment.
childless() { # NAME
    for pid in $(called "$1"); do
        pgrep -P "$pid" >/dev/null || echo "$pid"
    done
}

clean_up() {
    for _ in 1 2 3; do
        pids=$(ours | grep -vx "$$")
        [ -z "$pids" ] && break
        # shellcheck disable=SC2086  # one word a process
        kill -9 $pids 2>/dev/null
    done
    rm -rf "$scratch" "$scratch.replies" "$scratch".fault.*
}
trap clean_up EXIT
trap 'exit 1' INT TERM

# await WHAT COMMAND...: until the command succeeds
await() {
    what=$1
    shift
    tries=$((PATIENCE * 50))
    latest=$(($(date +%s) + 3 * PATIENCE)) # where a command takes long
    until "$@" >/dev/null 2>&1; do
        tries=$((tries - 1))
        if [ "$tries" -le 0 ] || { [ $((tries % 50)) -eq 0 ] && [ "$(date +%s)" -gt "$latest" ]; }; then
            fail "gave up waiting: $what"
            "$BERTH" jobs -a 2>&1 | tail -n 20
            tail -n 20 "$BERTH_DIR/berthd.log"
            finish
        fi
        sleep 0.02
    done
}

# state JOB: the word for its state
state() {
    "$BERTH" jobs --no-header "$1" | awk '{ print $5 }' | sort -u
}

is_state() { # JOB STATE
    [ "$(state "$1")" = "$2" ]
}

await_state() { # JOB STATE
    await "job $1 to be $2" is_state "$1" "$2"
}

# get JOB KEY: a value of its record, as JSON
get() {
    "$BERTH" show --json "$1" | sed -n "s/^  \"$2\": \(.*[^,]\),*$/\1/p" | head -n 1
}

daemon_pid() {
    cat "$BERTH_DIR/berthd.lock"
}

is_gone() { # PID
    ! kill -0 "$1" 2>/dev/null || grep -q '^State:.*Z' "/proc/$1/status"
}

# kill -9 the daemon, and wait until it is gone
crash() {
    crashed=$(daemon_pid)
    kill -9 "$crashed"
    await "berthd to die" is_gone "$crashed"
}

api() { # METHOD PATH [CURL OPTION]...
    method=$1
    path=$2
    shift 2
    curl -sS --max-time 60 -X "$method" --unix-socket "$BERTH_DIR/berth.sock" "$@" "http://berth$path"
}

http_status() { # METHOD PATH [CURL OPTION]...
    api "$@" -o /dev/null -w '%{http_code}'
}

# expect WHAT EXPECTED GOT
expect() {
    [ "$2" = "$3" ] || fail "$1: expected '$2', got '$3'"
}

# expect_err TEXT: standard error is exactly this one line
expect_err() {
    expect_line err "$1"
}

# A machine of so many cores, which may be more than this one has: jobs are then not bound to cores.
machine() { # CORES [MORE]
    mkdir -p "$BERTH_DIR"
    cat >"$BERTH_DIR/berth.yaml" <<END
resources: {nodes: 1, cores: $1}
queues:
  batch: {policy: easy}
default-queue: batch
${2:-}
END
}
