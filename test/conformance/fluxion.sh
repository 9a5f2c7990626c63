#!/bin/sh
# Fluxion's recorded sessions: berth query answers them as resource-query did, but for those that doc/fluxion.md
# names as GROUP/NUMBER, with the reason. The lists have to agree both ways.
. "$BERTH_SOURCE/test/lib.sh"

sessions=conformance/fluxion
need_shared $sessions/run
command -v python3 >/dev/null 2>&1 || skip "no python3"

python3 "$BERTH_SHARED/$sessions/run" --query "$BERTH query" --list --show 5 >"$scratch/log"
[ $? -le 1 ] || fail "the sessions could not be run"
grep -q '^ok ' "$scratch/log" || fail "no session passed"
grep -v '^ok ' "$scratch/log"

sed -n 's/^FAIL //p' "$scratch/log" | sort -u >"$scratch/differ"
named='(fuzz|t[0-9]{4})(-[A-Za-z0-9]+)+/[0-9]{3}'
cat "$BERTH_SOURCE"/doc/fluxion.md 2>/dev/null | grep -oE "$named" | sort -u >"$scratch/named"
for name in $(comm -23 "$scratch/differ" "$scratch/named"); do
    fail "$name differs, and doc/fluxion.md does not say why"
done
for name in $(comm -13 "$scratch/differ" "$scratch/named"); do
    fail "$name is the same, against doc/fluxion.md"
done
finish
