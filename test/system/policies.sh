#!/bin/sh
# A policy is a row of src/sched/config/policy.c: no text elsewhere in src/ has its name, but in a file of its own,
# src/sched/config/NAME.c, and the manual says of it what its row does.
. "$BERTH_SOURCE/test/lib.sh"
cd "$BERTH_SOURCE" || exit 1

tr -d '\\\n' <src/sched/config/policy.c | grep -o 'ROW("[^"]*",[^"]*"[^"]*"' |
    sed 's/ROW("\([^"]*\)",[^"]*"\([^"]*\)"/\1 \2/' >"$scratch/rows"
[ "$(wc -l <"$scratch/rows")" -ge 4 ] || fail "src/sched/config/policy.c: no rows found"
"$BERTH" sim --help | sed -n 's/.*--policy LIST *of \([^ ]*\).*/\1/p' | tr , '\n' >"$scratch/told"
cut -d' ' -f1 "$scratch/rows" | cmp -s - "$scratch/told" || fail "the rows found are not the policies that there are"

# The law must see what it forbids.
printf 'int x; /* "easy" */ // "easy"\nchar c = %s, *s = "a\\"b easy";\n' "'\"'" >"$scratch/sample.c"
[ "$(texts "$scratch/sample.c" | sed 's/^[^ ]* //')" = 'a\"b easy' ] || fail "texts are not found in a sample"

while read -r name summary; do
    # Options of Fluxion's qmanager have names of their own, which are the same.
    grep -rlw --include='*.[ch]' -e "$name" src | grep -vxE "src/(sched/config/(policy|$name)|flux/fluxion/qmanager_options)\.c" |
        while read -r file; do texts "$file"; done | grep -w -e "$name" >"$scratch/known" &&
        fail "only src/sched/config/policy.c may name the policy '$name': $(cat "$scratch/known")"
    sed -n "/^\.It Cm $name\$/,/^\.It/p" man/berth-sim.1 | tr '\n' ' ' | grep -qF "Cm $name $summary. " ||
        fail "berth-sim.1 does not say of '$name': $summary."
    for page in berth-config.5 libberth.3; do
        grep -qE "^\.Cm (.* )?$name( .*)?\$" "man/$page" || fail "$page does not name the policy '$name'"
    done
done <"$scratch/rows"
finish
