#!/bin/sh
# Every verb has a man page with the options of its help, and every page is installed.
. "$BERTH_SOURCE/test/lib.sh"

[ "$(verbs | wc -l)" -ge 30 ] || fail "berth --help lists too few verbs"
for verb in $(verbs); do
    [ -f "$BERTH_SOURCE/man/berth-$verb.1" ] || fail "no man/berth-$verb.1"
    grep -q "berth-$verb 1" "$BERTH_SOURCE/man/berth.1" || fail "berth.1 does not refer to berth-$verb"
done
mkdir -p "$scratch/pages/man1" "$scratch/pages/man3" "$scratch/pages/man5" "$scratch/pages/man7" "$scratch/pages/man8"
for page in "$BERTH_SOURCE"/man/*.[1-9]; do
    grep -q "'$(basename "$page")'" "$BERTH_SOURCE/man/meson.build" || fail "$page is not installed"
    [ ! -f "$BERTH_BUILD/man/$(basename "$page")" ] || page=$BERTH_BUILD/man/$(basename "$page")
    ln -s "$page" "$scratch/pages/man${page##*.}/"
done

# Pages seen also are in the order of their sections and names, as mandoc wants them.
for page in "$BERTH_SOURCE"/man/*.[1-9]; do
    sed -n '/^\.Sh SEE ALSO/,/^\.Sh [^S]/s/^\.Xr \([^ ]*\) \([1-9]\).*/\2 \1/p' "$page" >"$scratch/seen"
    LC_ALL=C sort -c -u "$scratch/seen" || fail "$(basename "$page"): pages seen also are not in order"
done

# mandoc finds no fault with the pages that are installed. It looks among the system's for those that they refer to: what it
# does not find there is one of ours.
is_ours() { # NAME SECTION
    [ -f "$scratch/pages/man$2/$1.$2" ]
}
[ "$(ls "$scratch"/pages/man*/* | wc -l)" -ge 40 ] || fail "there are too few pages"
[ -z "${CI:-}" ] || command -v mandoc >/dev/null || fail "no mandoc"
if command -v mandoc >/dev/null 2>&1; then
    mandoc -T lint "$scratch"/pages/man*/* 2>/dev/null | while read -r line; do
        name=${line##*referenced manual not found: Xr }
        # shellcheck disable=SC2086 # a name and a section
        [ "$name" != "$line" ] && is_ours ${name%% (*} || echo "$line"
    done >"$scratch/lint"
    [ ! -s "$scratch/lint" ] || {
        fail "mandoc finds fault"
        cat "$scratch/lint"
    }
fi

# The long options of a page as it is built, and of a help.
of_page() { # PAGE
    sed -n '/^\.Sh OPTIONS/,/^\.Sh [^O]/s/^\.It //p' "$BERTH_BUILD/man/$1.1" |
        awk '{ for (i = 1; i < NF; i++) if ($i == "Fl" && $(i + 1) ~ /^-[a-z]/) print "-" $(i + 1) }' | LC_ALL=C sort -u
}
of_help() { # VERB: not of an example, which may have options of its command
    "$BERTH" "$1" --help | grep -v '^Example' |
        awk '{ n = split($0, word, /[^A-Za-z0-9-]+/); for (i = 1; i <= n; i++) if (word[i] ~ /^--[a-z][a-z-]+$/) print word[i] }' |
        LC_ALL=C sort -u
}

# Help and page have the same options. Run and alloc refer to those of submit, and name some of them.
of_page berth-submit >"$scratch/submit"
for verb in $(verbs); do
    of_page "berth-$verb" >"$scratch/page"
    of_help "$verb" >"$scratch/help"
    case $verb in
    run | alloc)
        LC_ALL=C sort -u -m "$scratch/page" "$scratch/submit" | LC_ALL=C comm -13 - "$scratch/help" >"$scratch/differ"
        LC_ALL=C comm -23 "$scratch/page" "$scratch/help" >>"$scratch/differ"
        ;;
    *) LC_ALL=C comm -3 "$scratch/page" "$scratch/help" | tr -d '\t' >"$scratch/differ" ;;
    esac
    grep -qx -e --help "$scratch/help" || fail "berth $verb --help does not have --help"
    for option in $(cat "$scratch/differ"); do
        fail "berth-$verb(1) and berth $verb --help do not both have $option"
    done
done
finish
