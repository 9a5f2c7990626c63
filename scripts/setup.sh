#!/bin/sh
# Sets a build directory up, unless it is, and says nothing unless that fails.
#
# usage: setup.sh BUILD [MESON-OPTION]...
set -u

build=$1
[ -f "$build/build.ninja" ] && exit 0
said=$(meson setup "$@" 2>&1) && exit 0
printf '%s\n' "$said" >&2
echo "berth: cannot set up $build" >&2
exit 1
