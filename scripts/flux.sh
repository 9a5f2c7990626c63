#!/bin/sh
# Builds flux-core for the tests of the Flux module, once, in a cache outside of the checkout, and prints its prefix. Where that
# can't be done it prints none, and says why on standard error: the module is then not built, and its tests skip.
#
# usage: flux.sh
#
# The sources lie in the shared folder beside the checkout. A build takes a minute or two, on a machine that is slow or has much
# else to do a few times that; one that takes longer than 20 is given up. Its log is $cache/log.
set -u
cd "$(dirname "$0")/.." || exit 1

install=../shared/flux/install-flux.sh
patience=1200 # seconds
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
    timeout -k 10 "$patience" sh "$install" "$prefix" </dev/null
    status=$?
} >"$cache/log" 2>&1
case $status in
0)
    echo "$prefix"
    exit
    ;;
124 | 137) why="its build took longer than $patience s" ;;
*) why="its build failed" ;;
esac
echo "berth: no flux-core, so the Flux module is not built and its tests skip: $why. The end of $cache/log:" >&2
tail -n 5 "$cache/log" >&2
