# What the parts share that run in the machine: `. /share/vm/guest.sh`.
# shellcheck shell=bash
failures=0
PATH=/usr/local/bin:$PATH

fail() {
    echo "FAIL: $*"
    failures=$((failures + 1))
}

expect() { # WHAT EXPECTED GOT
    [ "$2" = "$3" ] || fail "$1: expected '$2', got '$3'"
}

as() { # USER COMMAND...
    runuser -u "$1" -- "${@:2}"
}

# get JOB KEY: a value of its record, as JSON
get() {
    berth show --json "$1" | sed -n "s/^  \"$2\": \(.*[^,]\),*$/\1/p" | head -n 1
}

state() {
    get "$1" state | tr -d '"'
}

await() { # WHAT COMMAND...: a minute, as an emulated processor is slow
    local what=$1
    shift
    for _ in $(seq 300); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.2
    done
    fail "gave up waiting: $what"
    berth jobs -a | tail -n 20
}

is_state() { # JOB STATE
    [ "$(state "$1")" = "$2" ]
}

await_state() {
    await "job $1 to be $2" is_state "$1" "$2"
}

finish() {
    [ "$failures" -eq 0 ]
    exit
}
