#!/bin/sh
# What is installed is complete: a program outside finds libberth with pkg-config, builds and runs.
. "$BERTH_SOURCE/test/lib.sh"

expect_status 0 meson install -C "$BERTH_BUILD" --no-rebuild --destdir "$scratch/root"
pc=$(find "$scratch/root" -name berth.pc)
[ -n "$pc" ] || fail "no berth.pc"
berth=$(find "$scratch/root" -path '*/bin/berth')
expect_status 0 "${berth:-berth-is-not-installed}" --version
expect_status 0 "$(dirname "${berth:-/none/berth}")/resource-query" --help
grep -q '^usage: berth query' "$scratch/out" || fail "resource-query is not berth query"
sbatch=$(find "$scratch/root" -path '*/libexec/berth/slurm/sbatch')
expect_status 0 "${sbatch:-none}" --version
expect_line out 'slurm 23.02.0'
[ -n "$(find "$scratch/root" -path '*/lib*/berth/berth-hwloc.so')" ] || fail "no berth-hwloc.so"
for program in bin/berthd libexec/berth/berth-keeper libexec/berth/berth-limits libexec/berth/berth-agent libexec/berth/berth-gate libexec/berth/berth-slurm libexec/berth/berth-run; do
    [ -x "$(find "$scratch/root" -path "*/$program")" ] || fail "no $program"
done
[ ! -e "$BERTH_BUILD/berth-bridge" ] || [ -x "$(find "$scratch/root" -path '*/libexec/berth/berth-bridge')" ] || fail 'no berth-bridge'
for file in bash-completion/completions/berth fish/vendor_completions.d/berth.fish zsh/site-functions/_berth; do
    [ -n "$(find "$scratch/root" -path "*/share/$file")" ] || fail "no completion $file"
done
for unit in berthd berth-jobs; do
    [ -n "$(find "$scratch/root" -name $unit.service)" ] || fail "no unit $unit for systemd"
done
[ -n "$(find "$scratch/root" -path '*/libexec/berth/pam.d/berth')" ] || fail "no service for PAM"
# What is installed finds its parts.
mkdir "$scratch/dir"
expect_status 0 env BERTH_DIR="$scratch/dir" "${berth:-none}" run echo installed
expect_line out installed
expect_status 0 env BERTH_DIR="$scratch/dir" "${berth:-none}" server stop
for page in man1/berth.1 man1/berth-jobspec.1 man1/berth-query.1 man1/berth-sim.1 man3/berth_match.3 \
    man3/libberth.3; do
    [ -n "$(find "$scratch/root" -path "*/man/$page*")" ] || fail "no $page"
done

# The program is the example of the README, which the manual page shows too.
sed -n '/^```c$/,/^```$/p' "$BERTH_SOURCE/README.md" | sed '/^```/d' >"$scratch/user.c"
sed -n '/^\.Bd -literal$/,/^\.Ed$/p' "$BERTH_SOURCE/man/libberth.3" | sed '/^\./d; s/\\e/\\/g' |
    cmp - "$scratch/user.c" || fail "the example of libberth.3 is not that of the README"
flags=$(PKG_CONFIG_SYSROOT_DIR=$scratch/root PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --cflags --libs berth)
libdir=$(dirname "$(dirname "$pc")")
# shellcheck disable=SC2086  # the compiler and its flags are several words
expect_status 0 $CC -Wall -Wextra -Werror "$scratch/user.c" -o "$scratch/user" $flags
expect_status 0 env LD_LIBRARY_PATH="$libdir" "$scratch/user"
printf '%s\n' 'job 1: start at 0' 'job 2: reserved for 100' 'job 3: start at 0' | cmp - "$scratch/out" ||
    fail "the example prints something else"

# berth_match.3 shows a program, then what it prints.
sed -n '/^\.Bd -literal$/,/^\.Ed$/p' "$BERTH_SOURCE/man/berth_match.3" | sed '/^\./d; s/\\e/\\/g' >"$scratch/match.c"
sed -n '/^\.Bd -literal -offset/,/^\.Ed$/p' "$BERTH_SOURCE/man/berth_match.3" | sed '/^\./d' >"$scratch/printed"
# shellcheck disable=SC2086
expect_status 0 $CC -Wall -Wextra -Werror "$scratch/match.c" -o "$scratch/match" $flags
expect_status 0 env LD_LIBRARY_PATH="$libdir" "$scratch/match"
cmp "$scratch/printed" "$scratch/out" || fail "the example of berth_match.3 prints something else"
finish
