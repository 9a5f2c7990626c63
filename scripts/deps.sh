#!/bin/sh
# Names the packages that a task needs and this machine lacks, and installs them where apt-get is there.
#
# usage: deps.sh build|cluster|check|ci
#
# Silent and quick when nothing is missing. What is looked for is the tool, not the package, so any system
# that has the tools will do; the names are Debian's.
set -u

missing=
need() { # PACKAGE COMMAND...: the package is missing if the command fails
    package=$1
    shift
    "$@" >/dev/null 2>&1 || missing="$missing $package"
}

has_library() { pkg-config --exists "$1"; }

clang_has_runtime() {
    for runtime in "$(clang -print-runtime-dir)"/libclang_rt.fuzzer*.a; do
        [ -e "$runtime" ] && return 0
    done
    return 1
}

need_slurm() {
    need slurmctld command -v /usr/sbin/slurmctld
    need slurmd command -v /usr/sbin/slurmd
    need slurm-client command -v sbatch
    need munge command -v munge
}

look() {
    missing=
    need gcc command -v "${CC:-cc}"
    need meson command -v meson
    need ninja-build command -v ninja
    need pkg-config command -v pkg-config
    need libjansson-dev has_library jansson
    need libpcre2-dev has_library libpcre2-8
    need zlib1g-dev has_library zlib
    need libexpat1-dev has_library expat
    need libyaml-dev has_library yaml-0.1
    need libhwloc-dev has_library hwloc
    need libuv1-dev has_library libuv
    need libmicrohttpd-dev has_library libmicrohttpd
    need libsqlite3-dev has_library sqlite3
    need libpam0g-dev has_library pam
    need libsodium-dev has_library libsodium
    case $1 in
    build) return ;;
    cluster)
        need_slurm
        return
        ;;
    esac
    need libcmocka-dev has_library cmocka
    need curl command -v curl
    need procps command -v pgrep
    case $1 in
    check) return ;;
    esac
    need clang command -v clang
    need libclang-rt-dev clang_has_runtime
    need mold command -v mold
    need clang-format command -v clang-format
    need mandoc command -v mandoc
    need_slurm
    need libslurm-dev test -e /usr/include/slurm/slurm.h
    need sqlite3 command -v sqlite3
    need libopenmpi-dev command -v mpicc
    need openmpi-bin command -v mpirun
    need python3-prometheus-client /usr/bin/python3 -c "import prometheus_client"
    need python3-jsonschema /usr/bin/python3 -c "import jsonschema"
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif [ -n "${CI:-}" ]; then
        sudo -n "$@"
    else
        sudo "$@"
    fi
}

case ${1:-} in
build | cluster | check | ci) ;;
*)
    echo "usage: deps.sh build|cluster|check|ci" >&2
    exit 2
    ;;
esac

look "$1"
[ -z "$missing" ] && exit 0

echo "berth: missing packages:$missing" >&2
if ! command -v apt-get >/dev/null 2>&1; then
    echo "berth: no apt-get here; install what these Debian packages hold, then try again" >&2
    exit 1
fi
if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null 2>&1; then
    echo "berth: neither root nor sudo; run as root: apt-get install$missing" >&2
    exit 1
fi
if [ "$(id -u)" -eq 0 ]; then
    echo "berth: installing them with apt-get" >&2
else
    echo "berth: installing them with sudo apt-get" >&2
fi

log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
# Without an update the lists may name packages that the mirror no longer has; without a network they may
# still do.
as_root apt-get update >"$log" 2>&1
# shellcheck disable=SC2086  # one word a package
if ! as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing \
    </dev/null >>"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "berth: apt-get failed; install by hand:$missing" >&2
    exit 1
fi

look "$1"
if [ -n "$missing" ]; then
    echo "berth: still missing after apt-get:$missing" >&2
    exit 1
fi
