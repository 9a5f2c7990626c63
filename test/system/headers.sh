#!/bin/sh
# Every header stands alone in C; what users include does in C++ too, where a C++ compiler is there.
. "$BERTH_SOURCE/test/lib.sh"
cd "$BERTH_SOURCE" || exit 1

alone() { # COMPILER-AND-FLAGS HEADER
    printf '#include "%s"\n' "$2" >"$scratch/alone.$3"
    # shellcheck disable=SC2086  # the compiler may be several words
    $1 -Wall -Wextra -Werror -D_GNU_SOURCE -Iinclude -Isrc -fsyntax-only "$scratch/alone.$3" ||
        fail "$2 does not stand alone in $3"
}

# What includes flux-core's headers is looked at where those are.
flux=$(pkg-config --cflags flux-core 2>"$scratch/err" | sed 's/-I/-isystem /g')
find src -name '*.h' | sed 's|^src/||' >"$scratch/private"
while read -r header; do
    case $header in
    flux/jobs.h | flux/module.h | flux/fluxion/resource.h) [ -z "$flux" ] || alone "$CC -std=c17 $flux" "$header" c ;;
    *) alone "$CC -std=c17" "$header" c ;;
    esac
done <"$scratch/private"

cxx=
for candidate in "${CXX:-c++}" clang++; do
    # A clang++ without the C++ library is enough for headers of C.
    echo '#include <stdint.h>' >"$scratch/try.cc"
    if $candidate -fsyntax-only "$scratch/try.cc" 2>"$scratch/err"; then
        cxx=$candidate
        break
    fi
done
for header in include/berth/*.h; do
    alone "$CC -std=c99 -pedantic" "berth/$(basename "$header")" c
    [ -n "$cxx" ] && alone "$cxx -std=c++11 -pedantic" "berth/$(basename "$header")" cc
    grep -q "'berth/$(basename "$header")'" include/meson.build || fail "$header is not installed"
done
finish
