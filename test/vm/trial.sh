#!/bin/sh
# berthd on a real Debian 12 with systemd and cgroup v2, in a virtual machine whose disk loses power. See README.md.
#
# usage: trial.sh [PART]...    parts: units cgroups private limits shutdown full power bare; all without any
#
# BERTH_VM_WORK  where the machine is made (/var/tmp/berth-vm); kept, so that a second run is quick
# BERTH_VM_CUTS  how often the power is cut (20)
# BERTH_VM_SEED  repeats the moments of the cuts and what the disk loses
set -u
here=$(cd "$(dirname "$0")" && pwd)
BERTH_SOURCE=$(cd "$here/../.." && pwd)
build=${BERTH_BUILD:-$BERTH_SOURCE/build}
work=${BERTH_VM_WORK:-/var/tmp/berth-vm}
share=$work/share
cuts=${BERTH_VM_CUTS:-20}
seed=${BERTH_VM_SEED:-$(date +%s)}
failures=0

for tool in qemu-system-x86_64 debootstrap mkfs.ext4 meson; do
    command -v $tool >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
[ -e /dev/kvm ] || { echo "skipped: no /dev/kvm"; exit 77; }
[ "$(id -u)" -eq 0 ] || { echo "skipped: needs root, for debootstrap"; exit 77; }
[ -x "$build/berthd" ] || { echo "skipped: no $build/berthd, make it first"; exit 77; }
. "$here/machine.sh"
trap 'kill "$qemu_pid" "$disk_pid" 2>/dev/null' EXIT
trap 'exit 1' INT TERM

failed() {
    echo "FAIL: $*"
    failures=$((failures + 1))
}

# A part that is a script in a machine under systemd
part() { # NAME SECONDS
    say "$1"
    make_data 1G
    boot
    guest "$2" "bash /share/vm/$1.sh" || failed "$1 (status $?; 124: it takes too long)"
    cut_power >/dev/null
}

# Shut down with jobs that run: fast, nothing in the way, --requeue comes again and others are lost.
shutdown_part() {
    say shutdown
    make_data 1G
    boot
    guest 60 '
        PATH=$PATH:/usr/local/bin
        runuser -u ann -- berth submit --name plain sleep 1000
        runuser -u ann -- berth submit --name again --requeue sleep 1000
        runuser -u bob -- berth submit --name waits -c 2 sleep 1000
        until berth jobs --no-header 2 | grep -q running; do sleep 0.2; done'
    shut_down 60 || failed "the machine does not shut down within a minute"
    grep -q 'Failed unmounting' "$work/console.log" && failed "a file system was held: see $work/console.log"
    boot
    guest 60 '
        until berth jobs --no-header 2 | grep -q running; do sleep 0.2; done
        berth jobs -a; cat /var/lib/berth/berthd.log' >"$work/after" || failed "the job does not come again"
    grep -q '1  *plain .* failed .*lost' "$work/after" || failed "plain: $(cat "$work/after")"
    grep -q '3  *waits .* pending' "$work/after" || failed "waits: $(cat "$work/after")"
    cut_power >/dev/null
}

# A whole number from 0 to N - 1 for a round
draw() { # ROUND N
    awk -v seed="$((seed + $1))" -v n="$2" 'BEGIN { srand(seed); print int(rand() * n) }'
}

acknowledged() {
    cat "$share"/log/acknowledged/* 2>/dev/null | wc -l
}

# Cut the power under load, again and again; then account for each job.
power_part() {
    say "power, $cuts cuts, BERTH_VM_SEED=$seed"
    make_data 1G
    rm -rf "$share/log"
    mkdir -p "$share/log/tried" "$share/log/acknowledged" "$share/log/ran"
    chmod -R 777 "$share/log"
    : >"$work/disk.log"
    round=0
    while [ "$round" -lt "$cuts" ]; do
        round=$((round + 1))
        boot "$((seed + round))" init=/usr/local/sbin/trial-init
        before=$(acknowledged)
        guest 60 "for c in 1 2; do setsid runuser -u ann -- bash /share/vm/load.sh $round \$c >/dev/null 2>&1 & done" ||
            failed "no load in round $round"
        left=600
        while [ "$(acknowledged)" -eq "$before" ] && [ "$left" -gt 0 ]; do
            left=$((left - 1))
            sleep 0.1
        done
        sleep "$(draw "$round" 6).$(draw "$((round + 1000))" 10)"
        cut_power
        echo "cut $round: $(acknowledged) acknowledged, $(ls "$share/log/ran" | wc -l) starts; $(tail -n 1 "$work/disk.log")"
    done
    boot "$seed" init=/usr/local/sbin/trial-init
    guest 1200 'PATH=$PATH:/usr/local/bin
        until [ "$(berth jobs --no-header | wc -l)" -eq 0 ]; do sleep 0.5; done
        berth jobs -a --json >/share/log/all.json' || failed "not all jobs end"
    guest 60 'PATH=$PATH:/usr/local/bin; berth server stop; sqlite3 /var/lib/berth/berth.db "pragma integrity_check"' >"$work/integrity"
    [ "$(cat "$work/integrity")" = ok ] || failed "the store: $(cat "$work/integrity")"
    cut_power >/dev/null
    sh "$here/account.sh" "$share/log" "$share/log/all.json" || failed power
}

# A small disk that fills up under load.
full_part() {
    say full
    make_data 24M
    boot 1 init=/usr/local/sbin/trial-init
    guest 300 'bash /share/vm/full.sh' || failed "full (status $?)"
    cut_power >/dev/null
}

# Run a command in a folder's Debian. Its mounts are seen by the command alone: were this machine's /dev left behind in the
# folder by a run that was interrupted, whoever removes the folder would remove /dev.
inside() { # FOLDER COMMAND...
    unshare --mount sh -c '
        root=$1
        shift
        mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" || exit 1
        exec nice chroot "$root" env -i PATH="$PATH" HOME=/root TERM=dumb "$@"' inside "$@"
}

# The two commands of the README on a bare Debian with git and make.
bare_part() {
    say bare
    bare=$work/bare
    make_debian "$bare" git,make,ca-certificates
    mkdir -p "$bare/src"
    rm -rf "$bare/src/berth"
    git clone -q --no-local "$BERTH_SOURCE" "$bare/src/berth" || die "git clone failed"
    cp /etc/resolv.conf "$bare/etc/"
    for target in demo check; do
        began=$(date +%s)
        inside "$bare" make -C /src/berth $target NINJAFLAGS="${NINJAFLAGS:--j1}" >"$work/$target.log" 2>&1 ||
            failed "make $target, see $work/$target.log"
        echo "make $target: $(($(date +%s) - began)) s; $(tail -n 1 "$work/$target.log")"
    done
}

mkdir -p "$share"
chmod 1777 "$share"
${CC:-cc} -std=c17 -D_GNU_SOURCE -O2 -o "$work/power_disk" "$here/power_disk.c" || die "power_disk.c does not compile"
[ $# -gt 0 ] || set -- units cgroups private limits shutdown full power bare
if [ "$*" != bare ]; then
    set_up_root
    install_berth "$work/root"
    chroot "$work/root" systemctl -q enable berthd
    rm -rf "$share/next" "$share/vm"
    install_berth "$share/next"
    cp -r "$here" "$share/vm"
    make_image
fi
for name in "$@"; do
    case $name in
    units | cgroups | private | limits) part "$name" 600 ;;
    shutdown) shutdown_part ;;
    full) full_part ;;
    power) power_part ;;
    bare) bare_part ;;
    *) die "no part $name" ;;
    esac
done
[ "$failures" -eq 0 ] && say "all is well"
[ "$failures" -eq 0 ]
