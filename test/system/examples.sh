#!/bin/sh
# The examples: configurations are right, scenarios come out as they expect, and the script runs.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
n=0
for config in "$BERTH_SOURCE"/examples/*.yaml; do
    expect_status 0 "$BERTH" config check "$config"
    events=${config%.yaml}.jsonl
    n=$((n + 1))
    [ -e "$events" ] || continue
    expect_status 0 "$BERTH" sim --config "$config" --scenario "$events" --decisions -
    grep -q '"expect"' "$events" || fail "$events expects nothing"
done
[ "$n" -gt 0 ] || fail "no examples"

machine 8
expect_status 0 "$BERTH" submit "$BERTH_SOURCE/examples/sweep.sh"
expect_status 0 timeout 60 "$BERTH" wait 1
for i in 1 8; do
    grep -q "^part $i of 8 runs on cores" "sweep.1.$i.out" || fail "part $i: $(cat "sweep.1.$i.out")"
done
for file in "$BERTH_SOURCE"/examples/*; do
    file=${file##*/}
    [ "$file" = README.md ] || [ "$file" = "${file%.jsonl}.jsonl" ] ||
        grep -q "]($file)" "$BERTH_SOURCE/examples/README.md" || fail "examples/README.md does not list $file"
done
finish
