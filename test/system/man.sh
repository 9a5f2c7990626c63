#!/bin/sh
# Every verb has a man page, and every page is installed.
. "$BERTH_SOURCE/test/lib.sh"

for verb in $(verbs); do
    [ -f "$BERTH_SOURCE/man/berth-$verb.1" ] || fail "no man/berth-$verb.1"
    grep -q "berth-$verb 1" "$BERTH_SOURCE/man/berth.1" || fail "berth.1 does not refer to berth-$verb"
done
for page in "$BERTH_SOURCE"/man/*.[1-9]; do
    grep -q "'$(basename "$page")'" "$BERTH_SOURCE/man/meson.build" || fail "$page is not installed"
done

# Pages seen also are in the order of their sections and names, as mandoc wants them.
for page in "$BERTH_SOURCE"/man/*.[1-9]; do
    sed -n '/^\.Sh SEE ALSO/,/^\.Sh [^S]/s/^\.Xr \([^ ]*\) \([1-9]\).*/\2 \1/p' "$page" >"$scratch/seen"
    LC_ALL=C sort -c -u "$scratch/seen" || fail "$(basename "$page"): pages seen also are not in order"
done
if command -v mandoc >/dev/null 2>&1; then
    mandoc -T lint -W warning "$BERTH_SOURCE"/man/*.[1-9] || fail "mandoc finds fault"
fi
finish
