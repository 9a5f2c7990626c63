# What the shell tests share: `. "$BERTH_SOURCE/test/lib.sh"`.
#
# Set by meson: BERTH (the program), BERTH_SOURCE, BERTH_BUILD, BERTH_SHARED and CC.
# shellcheck shell=sh
set -u

failures=0

# A scratch directory that is gone when the test ends.
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

fail() {
    echo "FAIL: $*"
    failures=$((failures + 1))
}

# Say why the test cannot run here, and end it as skipped.
skip() {
    echo "skipped: $*"
    exit 77
}

# need_shared PATH: skip unless it lies in the folder of recorded results beside the checkout.
need_shared() {
    [ -e "$BERTH_SHARED/$1" ] || skip "no shared/$1 beside the checkout"
}

# expect_status N COMMAND...: run it with output in $scratch/out and $scratch/err.
expect_status() {
    expected=$1
    shift
    "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
    if [ "$status" -ne "$expected" ]; then
        fail "status $status instead of $expected: $*"
        cat "$scratch/err"
    fi
}

# expect_line FILE TEXT: the file in $scratch is exactly this one line.
expect_line() {
    printf '%s\n' "$2" | cmp -s - "$scratch/$1" && return
    fail "expected in $1: $2"
    sed 's/^/    got: /' "$scratch/$1"
}

finish() {
    [ "$failures" -eq 0 ]
    exit
}
