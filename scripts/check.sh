#!/bin/sh
# Builds everything in a build directory and runs the tests there.
#
# usage: check.sh BUILD [MESON-OPTION]...   the options count when the directory is first set up
#
# Ends with the line "N passed, N failed" and a status to match; a build that fails is one failure.
set -u

build=$1
shift

give_up() {
    echo "berth: $1" >&2
    echo "0 passed, 1 failed"
    exit 1
}

# Set up by `make` on a machine that had no cmocka then? Meson looks again, with the options it was given.
if [ -f "$build/build.ninja" ] && ! grep -q cmocka "$build/build.ninja"; then
    rm "$build/build.ninja"
    set -- --reconfigure "$@"
fi
sh scripts/setup.sh "$build" -Dtests=enabled "$@" || give_up "no build in $build"
# shellcheck disable=SC2086  # NINJAFLAGS is several words
ninja -C "$build" ${NINJAFLAGS:-} all meson-test-prereq || give_up "$build does not build"

log=$build/meson-logs/testlog.json
rm -f "$log"
# Two more than there are processors, as tests of the daemon and of Flux wait a good deal.
meson test -C "$build" --no-rebuild --print-errorlogs --num-processes $(($(nproc) + 2))
status=$?
[ -f "$log" ] || give_up "the tests did not run"

# One line a test. Quotes inside a test's output are escaped there, so only the result itself matches.
with_result() { grep -E "\"result\": \"($1)\"" "$log"; }
count() { with_result "$1" | wc -l | tr -d ' '; }

passed=$(count 'OK|EXPECTEDFAIL')
skipped=$(count 'SKIP')
failed=$(($(wc -l <"$log") - passed - skipped))
[ "$status" -ne 0 ] && [ "$failed" -eq 0 ] && failed=1

if [ "$skipped" -gt 0 ]; then
    names=$(with_result SKIP | sed 's/^{"name": "\([^"]*\)".*/\1/; s/.* [/:] //' | tr '\n' ' ')
    echo "$skipped skipped, for want of what they need: $names"
fi
echo "the slowest, in seconds:$(sed -n 's/^{"name": "[^"]* [/:] \([^" ]*\)".* "duration": \([0-9]*\)[.0-9]*,.*/\2 \1/p' "$log" |
    sort -rn | head -n 12 | sed 's/\(.*\) \(.*\)/ \2 \1/' | tr '\n' ',' | sed 's/,$//')"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
