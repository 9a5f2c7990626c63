# What scripts use that run in an instance of Flux (test/flux.sh).
# shellcheck shell=sh disable=SC2154  # scratch comes from outside
inside_failures=0

fail() {
    echo "FAIL: $*"
    inside_failures=$((inside_failures + 1))
}

# check WHAT COMMAND...: it must succeed
check() {
    what=$1
    shift
    "$@" >"$scratch/check" 2>&1 && return
    fail "$what: $*"
    cat "$scratch/check"
}

# until_true WHAT COMMAND...: it must succeed within 60 seconds
until_true() {
    what=$1
    shift
    last=$(($(date +%s) + 60))
    until "$@" >"$scratch/check" 2>&1; do
        if [ "$(date +%s)" -gt "$last" ]; then
            fail "$what: $*"
            cat "$scratch/check"
            return
        fi
        sleep 0.2
    done
}

# started JOB, ended JOB: wait for that
started() { check "start of $1" flux job wait-event -t 200 "$1" alloc; }
ended() { check "end of $1" flux job wait-event -t 200 "$1" clean; }

# has JOB FIELD TEXT: what `flux jobs` says of it
has() { [ "$(flux jobs -n -o "{$2}" "$1")" = "$3" ]; }

# expect JOB FIELD TEXT: that, at once; and within a while
expect() { has "$@" || fail "$1: $2 is $(flux jobs -n -o "{$2}" "$1"), not $3"; }
expect_soon() { until_true "$1: $2 is $3" has "$@"; }

# promised JOB: it gets an estimate of its start
has_estimate() { [ -n "$(flux jobs -n -o '{annotations.sched.t_estimate}' "$1")" ]; }
promised() { until_true "$1 has an estimate" has_estimate "$1"; }

# reason JOB: why a job was refused
reason() { flux job eventlog "$1" | sed -n 's/.*exception.*note="\(.*\)" userid.*/\1/p'; }

# What a failure is to be understood by: why jobs failed, and the log without the store's lines.
tell() {
    for id in $(flux jobs -n -f failed -o '{id}' 2>"$scratch/check"); do
        echo "$id:"
        flux job eventlog "$id"
    done
    flux dmesg | grep -v ' kvs\.' | tail -n 60
}

# No resources were given to two jobs, and the module has complained of nothing.
end() {
    flux dmesg | grep -E 'sched-(berth|fluxion).*(err|crit|warning)|alloc-check' && fail "complaints in the log"
    [ "$inside_failures" -eq 0 ] && exit
    tell
    exit 1
}

check "alloc-check" flux jobtap load alloc-check.so
