#!/bin/sh
# A function's name means one thing in all of src/: no name is given in more than two files. Flux asks each of its modules for
# a mod_main, and programs have a main.
. "$BERTH_SOURCE/test/lib.sh"
cd "$BERTH_SOURCE" || exit 1

# definitions FILE...: name and file of each function. Its header begins a line, its body is a brace on a line of its own.
definitions() {
    awk '/^[a-z_].*\(/ { header = $0 }
        /^[{]$/ && header {
            name = header
            sub(/__attribute__ *\(\(.*\)\) */, "", name)
            sub(/\(.*/, "", name)
            sub(/.*[^A-Za-z0-9_]/, "", name)
            print name, FILENAME
            header = ""
        }
        /^[}]/ { header = "" }' "$@"
}

cat >"$scratch/sample.c" <<'EOF'
static int take(const char *text,
                int n)
{
    return call(text)
}
struct list *list_new(void)
{
}
EOF
[ "$(definitions "$scratch/sample.c" | cut -d' ' -f1 | tr '\n' ' ')" = 'take list_new ' ] || fail "functions are not found in a sample"

find src -name '*.[ch]' | sort >"$scratch/files"
# shellcheck disable=SC2046
definitions $(cat "$scratch/files") | sort -u >"$scratch/all"
[ "$(wc -l <"$scratch/all")" -ge 5000 ] || fail "too few functions are found"
cut -d' ' -f1 "$scratch/all" | sort | uniq -c | awk '$1 > 2 && $2 !~ /^(mod_)?main$/ { print $2 }' >"$scratch/often"
while read -r name; do
    fail "$name is given in $(sed -n "s/^$name //p" "$scratch/all" | tr '\n' ' ')"
done <"$scratch/often"
finish
