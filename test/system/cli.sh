#!/bin/sh
# berth itself: help, version, wrong command lines.
. "$BERTH_SOURCE/test/lib.sh"

version=$(sed -n "s/^  version: '\(.*\)',$/\1/p" "$BERTH_SOURCE/meson.build")
for option in --version -V; do
    expect_status 0 "$BERTH" $option
    expect_line out "berth $version"
done

for option in --help -h help; do
    expect_status 0 "$BERTH" $option
    grep -q '^usage: berth VERB' "$scratch/out" || fail "$option prints no usage"
    [ -s "$scratch/err" ] && fail "$option writes to standard error"
done

wrong() { # MESSAGE ARG...: one line on standard error, nothing on standard output, status 2
    message=$1
    shift
    expect_status 2 "$BERTH" "$@"
    expect_line err "$message"
    [ -s "$scratch/out" ] && fail "writes to standard output: berth $*"
}
wrong "berth: no verb given; see 'berth --help'"
wrong "berth: unknown verb 'simm' (did you mean 'sim'?); see 'berth --help'" simm
wrong "berth: unknown verb 'cancle' (did you mean 'cancel'?); see 'berth --help'" cancle
wrong "berth: unknown verb 'squeue' (did you mean 'jobs'?); see 'berth --help'" squeue
wrong "berth: unknown verb 'ls' (did you mean 'jobs'?); see 'berth --help'" ls
wrong "berth: unknown verb 'status' (did you mean 'server status'?); see 'berth --help'" status
wrong "berth: unknown verb 'jabs' (did you mean 'jobs'?); see 'berth --help'" jabs
wrong "berth: unknown verb 'frobnicate'; see 'berth --help'" frobnicate
wrong "berth: unknown verb ''; see 'berth --help'" ''
wrong "berth: unknown verb 'a?b'; see 'berth --help'" 'a
b'
wrong "berth: unknown verb 'simm' (did you mean 'sim'?); see 'berth --help'" help simm
wrong "berth: help takes one verb, not 2; see 'berth --help'" help a b
wrong "berth: unknown option '--verbose'; see 'berth --help'" --verbose
wrong "berth: --version takes no argument, got 'x'; see 'berth --help'" --version x

if [ -w /dev/full ]; then
    "$BERTH" --help >/dev/full 2>"$scratch/err"
    [ $? -eq 1 ] || fail "a full disk goes unnoticed"
    expect_line err 'berth: standard output: No space left on device'
fi

# Berth and each verb explain themselves within a screen of 80 x 24, with an example.
fits_a_screen() {
    [ "$(wc -l <"$scratch/out")" -le 24 ] || fail "$* --help is longer than a screen"
    [ "$(wc -L <"$scratch/out")" -le 80 ] || fail "$* --help is wider than a screen"
    grep -qi 'example' "$scratch/out" || fail "$* --help has no example"
}
expect_status 0 "$BERTH" --help
fits_a_screen berth
[ "$(verbs | wc -l)" -ge 23 ] || fail "berth --help lists too few verbs"
for verb in $(verbs); do
    expect_status 0 "$BERTH" "$verb" --help
    fits_a_screen "berth $verb"
    cp "$scratch/out" "$scratch/direct"
    expect_status 0 "$BERTH" help "$verb"
    cmp -s "$scratch/out" "$scratch/direct" || fail "help $verb differs from $verb --help"
    expect_status 2 "$BERTH" "$verb" --no-such-option
    [ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "$verb --no-such-option is not answered with one line"
done
finish
