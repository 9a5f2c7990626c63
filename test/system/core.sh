#!/bin/sh
# libberth is a function of its calls: it calls nothing outside but memory, text and arithmetic, and keeps no
# variable of its own. It shows its public functions, all of them and no others.
. "$BERTH_SOURCE/test/lib.sh"

allowed='malloc|calloc|realloc|reallocarray|free|aligned_alloc'
allowed="$allowed|mem(cpy|move|set|cmp|chr)|str(n?len|n?cmp|n?dup|r?chr|str|n?casecmp|spn|cspn|pbrk|toi?max|toll?|toull?)"
allowed="$allowed|v?snprintf|__isoc[0-9]*_str[a-z]*|__[a-z_]*_chk|__ctype_b_loc|__errno_location"
allowed="$allowed|qsort(_r)?|bsearch|abs|labs|llabs|ceil|floor|round|l?lround|fmod|sqrt|log2?|exp2?|pow"
allowed="$allowed|json_(loadb|delete|(array|object|string|integer)_[a-z_]*)|XML_[A-Za-z]*"
# bcmp is what clang makes of memcmp.
allowed="$allowed|bcmp|strtod|yaml_event_delete"
allowed="$allowed|yaml_parser_(initialize|set_encoding|set_input_string|parse|delete)"
allowed="$allowed|pcre2_[a-z_]*_8"
allowed="$allowed|__assert_fail|__stack_chk_fail|__cxa_finalize|__gmon_start__|_ITM_[A-Za-z]*"

nm -D --undefined-only "$BERTH_BUILD/libberth.so" | sed 's/.* //; s/@.*//' >"$scratch/called" ||
    fail "nm cannot read libberth.so"
grep -vxE "$allowed" "$scratch/called" >"$scratch/outside" &&
    fail "the core calls, against test/system/core.sh: $(tr '\n' ' ' <"$scratch/outside")"

size -A "$BERTH_BUILD/libberth.a" >"$scratch/sections" || fail "size cannot read libberth.a"
# Constant tables of pointers stand in .data.rel.ro, which nothing writes to once it is loaded.
awk '/:$/ { object = $1 }
     $1 ~ /^\.t?(data|bss)/ && $1 !~ /^\.data\.rel\.ro/ && $2 > 0 { print object, $1, $2 }' \
    "$scratch/sections" >"$scratch/state"
[ -s "$scratch/state" ] && fail "the core keeps state: $(cat "$scratch/state")"

nm -D --defined-only "$BERTH_BUILD/libberth.so" | sed 's/.* //' >"$scratch/shown"
cat "$BERTH_SOURCE"/include/berth/*.h >"$scratch/headers"
while read -r name; do
    grep -qw "$name" "$scratch/headers" || fail "libberth.so shows $name, which no public header declares"
done <"$scratch/shown"

# A prototype begins a line; comments and what continues one do not begin with a letter.
sed -nE 's/^[a-z][a-z0-9_ ]*[ *]([a-z0-9_]+)\(.*/\1/p' "$BERTH_SOURCE"/include/berth/*.h >"$scratch/declared"
[ -s "$scratch/declared" ] || fail "no prototypes found in the public headers"
while read -r name; do
    grep -qx "$name" "$scratch/shown" || fail "libberth.so hides $name, which a public header declares"
done <"$scratch/declared"
finish
