#!/bin/sh
# Builds flux-core for the tests of the Flux module, once, in a cache outside of the checkout, and prints its prefix. Prints
# nothing where that can't be done: the module is then not built, and its tests skip.
#
# usage: flux.sh
#
# The sources lie in the shared folder beside the checkout. A build takes a minute or two; one that takes longer than
# four is given up. Its end is in $cache/log.
set -u
cd "$(dirname "$0")/.." || exit 1

install=../shared/flux/install-flux.sh
cache=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/berth
prefix=$cache/flux-core
[ -f "$install" ] || exit 0
mkdir -p "$cache" || exit 0

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        sudo -n "$@"
    fi
}

{
    # shellcheck disable=SC2046  # one word a package
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
        $(sh "$install" --packages) jq </dev/null
    timeout -k 10 240 sh "$install" "$prefix" </dev/null && built=yes
} >"$cache/log" 2>&1
if [ "${built:-}" = yes ]; then
    echo "$prefix"
else
    echo "berth: no flux-core: the end of $cache/log:" >&2
    tail -n 5 "$cache/log" >&2
fi
