#!/bin/sh
# What README and the page about replays show is true: pictures and table are what their commands make, the two commands
# exist, and links lead somewhere.
. "$BERTH_SOURCE/test/lib.sh"
cd "$BERTH_SOURCE" || exit 1

command=$(sed -n 's/^    build\/berth \(sim .*\) --plot doc\/demo.svg$/\1/p' doc/replay.md)
[ -n "$command" ] || fail "no command for doc/demo.svg in doc/replay.md"
# shellcheck disable=SC2086  # a command line
expect_status 0 "$BERTH" $command --plot "$scratch/demo.svg"
cmp "$scratch/demo.svg" doc/demo.svg || fail "doc/demo.svg is not what the page's command makes"
[ "$(wc -c <doc/demo.svg)" -lt 200000 ] || fail "doc/demo.svg is too large"

# The speed is this machine's; all else is the model's and the scheduler's.
sed 's/  *$//; s/^/    /; s/^ *$//; /jobs simulated/d' "$scratch/out" >"$scratch/table"
sed -n '/^    Lublin model/,/^## /p' doc/replay.md | sed '/^## /d; /jobs simulated/d' | sed '$d' |
    cmp - "$scratch/table" || fail "the table of doc/replay.md is not what its command prints"

sh scripts/backfill.sh "$BERTH" >"$scratch/backfill.svg"
cmp "$scratch/backfill.svg" doc/backfill.svg || fail "doc/backfill.svg is not what scripts/backfill.sh draws"

# What `make replay` adds to it still fits 80 x 24 with a prompt.
[ "$(wc -l <"$scratch/out")" -le 21 ] || fail "the table is too long for a terminal"
[ "$(wc -L <"$scratch/out")" -le 80 ] || fail "the table is too wide for a terminal"

for target in demo check demo-cluster; do
    grep -q "^    make $target " README.md || fail "the README has no 'make $target'"
    grep -q "^$target:" Makefile || fail "the Makefile has no '$target'"
done
replay=$(sed -n 's/^REPLAY = //p' Makefile)
[ "sim $replay" = "$command" ] || fail "make replay runs something else than doc/replay.md shows"

for page in README.md doc/*.md examples/README.md test/README.md; do
    sed -n 's/](\([^)]*\))/\n\1\n/gp' "$page" | grep -E '^[A-Za-z./_-]+$' | while read -r link; do
        [ -e "$(dirname "$page")/$link" ] || echo "$page links to $link, which is not there"
    done
done >"$scratch/broken"
[ -s "$scratch/broken" ] && fail "$(cat "$scratch/broken")"
finish
