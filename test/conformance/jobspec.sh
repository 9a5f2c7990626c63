#!/bin/sh
# Recorded jobspecs: those of the folder `valid` are accepted and those of `invalid` refused, with one line that
# says where; and every jobspec that Fluxion was asked to match is one.
. "$BERTH_SOURCE/test/lib.sh"
need_shared conformance/jobspec
cd "$BERTH_SHARED/conformance" || exit 1

checked=0
for file in jobspec/valid/*.yaml; do
    expect_status 0 "$BERTH" jobspec check "$file"
    [ -s "$scratch/err" ] && fail "$file: $(cat "$scratch/err")"
    checked=$((checked + 1))
done
for file in jobspec/invalid/*.yaml; do
    expect_status 1 "$BERTH" jobspec check "$file"
    [ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "$file: not one line"
    grep -qE "^$file:[0-9]+:[0-9]+: " "$scratch/err" || fail "no position: $(cat "$scratch/err")"
    checked=$((checked + 1))
done
[ "$checked" -ge 48 ] || fail "only $checked files"

find fluxion/data/resource/jobspecs fluxion/cases -name '*.yaml' >"$scratch/matched"
[ "$(wc -l <"$scratch/matched")" -ge 700 ] || fail "only $(wc -l <"$scratch/matched") matched files"
xargs "$BERTH" jobspec check <"$scratch/matched" 2>"$scratch/err" || fail "$(head -n 5 "$scratch/err")"
finish
