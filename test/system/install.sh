#!/bin/sh
# What is installed is complete: a program outside finds libberth with pkg-config, builds and runs.
. "$BERTH_SOURCE/test/lib.sh"

expect_status 0 meson install -C "$BERTH_BUILD" --no-rebuild --destdir "$scratch/root"
pc=$(find "$scratch/root" -name berth.pc)
[ -n "$pc" ] || fail "no berth.pc"
berth=$(find "$scratch/root" -path '*/bin/berth')
expect_status 0 "${berth:-berth-is-not-installed}" --version
[ -n "$(find "$scratch/root" -path '*/man/man1/berth.1*')" ] || fail "no berth.1"

cat >"$scratch/user.c" <<'END'
#include <berth/error.h>
int main(void)
{
    berth_error_t err = {.text = ""};
    return err.text[0];
}
END
flags=$(PKG_CONFIG_SYSROOT_DIR=$scratch/root PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --cflags --libs berth)
libdir=$(dirname "$(dirname "$pc")")
# shellcheck disable=SC2086  # the compiler and its flags are several words
expect_status 0 $CC "$scratch/user.c" -o "$scratch/user" $flags
expect_status 0 env LD_LIBRARY_PATH="$libdir" "$scratch/user"
finish
