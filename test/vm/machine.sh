# What makes, boots and talks to the virtual machine: `. machine.sh`, with BERTH_SOURCE and work set.
# shellcheck shell=sh disable=SC2154
set -u
memory=2048 # MiB
cores=2
packages=systemd-sysv,dbus,libpam-systemd,libpam-modules,linux-image-amd64,zstd,curl,procps,libjansson4,libexpat1
packages=$packages,libyaml-0-2,libhwloc15,libuv1,libmicrohttpd12,libsqlite3-0,zlib1g,sqlite3,python3-minimal
qemu_pid=
disk_pid=

say() { echo "--- $*"; }

die() {
    echo "trial: $*" >&2
    exit 1
}

# The root of a bare Debian, made once.
make_debian() { # FOLDER PACKAGES
    [ -e "$1/.made" ] && return
    ! grep -q " $(realpath -m "$1")/" /proc/mounts || die "something is mounted in $1: unmount it first"
    rm -rf "$1"
    mkdir -p "$work/cache"
    say "debootstrap into $1"
    unshare --mount debootstrap --variant=minbase --cache-dir="$work/cache" --include="$2" bookworm "$1" \
        "${BERTH_VM_MIRROR:-http://deb.debian.org/debian}" >"$1.log" 2>&1 || die "debootstrap failed, see $1.log"
    : >"$1/.made"
}

# What the tests need in it: two users, an agent, a disk of its own for /var/lib/berth.
set_up_root() {
    root=$work/root
    make_debian "$root" "$packages"
    grep -q ^ann: "$root/etc/passwd" || {
        chroot "$root" groupadd team
        chroot "$root" useradd -m -s /bin/bash -G team ann
        chroot "$root" useradd -m -s /bin/bash bob
        echo berthvm >"$root/etc/hostname"
    }
    install -m 755 "$BERTH_SOURCE/test/vm/agent.sh" "$root/usr/local/sbin/trial-agent"
    install -m 755 "$BERTH_SOURCE/test/vm/trial-init.sh" "$root/usr/local/sbin/trial-init"
    cat >"$root/etc/systemd/system/trial-agent.service" <<'END'
[Unit]
After=multi-user.target
[Service]
ExecStart=/usr/local/sbin/trial-agent
KillMode=process
[Install]
WantedBy=default.target
END
    chroot "$root" systemctl -q enable trial-agent
    cat >"$root/etc/fstab" <<'END'
/dev/vda / ext4 defaults 0 1
/dev/vdb /var/lib/berth ext4 defaults,nofail 0 2
END
    mkdir -p "$root/var/lib/berth"
    # A small initial disk and no chores: an emulated processor is slow.
    printf '%s\n' virtio_pci virtio_blk ext4 9pnet_virtio 9p >"$root/etc/initramfs-tools/modules"
    sed -i 's/^MODULES=.*/MODULES=list/; s/^BUSYBOX=.*/BUSYBOX=n/' "$root/etc/initramfs-tools/initramfs.conf"
    echo RESUME=none >"$root/etc/initramfs-tools/conf.d/resume"
    chroot "$root" update-initramfs -u >"$work/initramfs.log" 2>&1 || die "see $work/initramfs.log"
    chroot "$root" systemctl -q mask apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer \
        e2scrub_reap.service fstrim.timer systemd-pstore.service systemd-timesyncd.service
    rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/usr/share/doc "$root"/lib/modules/*/kernel/drivers/gpu \
        "$root"/lib/modules/*/kernel/sound
}

# Install the build there, as `make install` does.
install_berth() { # ROOT
    meson install -C "$build" --no-rebuild --destdir "$1" >"$work/install.log" 2>&1 || die "see $work/install.log"
    [ "$1" != "$work/root" ] || chroot "$1" ldconfig
}

# The image of the root is never written to; that of /var/lib/berth begins empty.
make_image() {
    rm -f "$work/root.img"
    truncate -s 3G "$work/root.img"
    mkfs.ext4 -q -F -d "$work/root" "$work/root.img" || die "mkfs.ext4 failed"
}

make_data() { # SIZE
    rm -f "$work/data.img"
    truncate -s "$1" "$work/data.img"
    mkfs.ext4 -q -F "$work/data.img" || die "mkfs.ext4 failed"
}

# A kernel that itself runs in a machine without nested paging offers a /dev/kvm that is slower than no /dev/kvm.
if [ -w /dev/kvm ] && [ ! -d /sys/module/kvm_pvm ]; then
    accelerator='kvm -cpu host'
else
    accelerator='tcg,thread=multi,tb-size=512 -cpu max'
fi
accelerator=${BERTH_VM_ACCEL:-$accelerator}

# boot [SEED [KERNEL OPTION]...]: until the agent answers
boot() {
    rm -rf "$share/do"
    mkdir -p -m 777 "$share/do"
    seed=${1:-1}
    [ $# -eq 0 ] || shift
    "$work/power_disk" "$work/disk.sock" "$work/data.img" "$seed" >>"$work/disk.log" &
    disk_pid=$!
    until [ -S "$work/disk.sock" ]; do sleep 0.02; done
    kernel=$(echo "$work"/root/boot/vmlinuz-*)
    # shellcheck disable=SC2086  # several words
    qemu-system-x86_64 -accel $accelerator -m "$memory" -smp "$cores" -nodefaults -no-reboot \
        -display none -monitor none -serial "file:$work/console.log" \
        -kernel "$kernel" -initrd "$work/root/boot/initrd.img-${kernel##*/vmlinuz-}" \
        -append "root=/dev/vda rw console=ttyS0 quiet panic=-1 mitigations=off nokaslr audit=0 $*" \
        -drive "file=$work/root.img,format=raw,if=virtio,snapshot=on,cache=unsafe" \
        -drive "file=nbd:unix:$work/disk.sock,format=raw,if=virtio,cache=none" \
        -virtfs "local,path=$share,mount_tag=share,security_model=none,multidevs=remap" \
        -device virtio-rng-pci >>"$work/qemu.log" 2>&1 &
    qemu_pid=$!
    count=0
    guest 300 true || die "the machine does not come up, see $work/console.log"
}

# guest SECONDS COMMAND: a bash script there; its output and exit status. 124: it takes longer
count=0
guest() {
    count=$((count + 1))
    script=$(printf '%s/do/%06d' "$share" "$count")
    printf '%s\n' "$2" >"$script.new"
    mv "$script.new" "$script.sh"
    left=$(($1 * 20))
    until [ -e "$script.status" ]; do
        left=$((left - 1))
        [ "$left" -gt 0 ] || return 124
        kill -0 "$qemu_pid" 2>/dev/null || return 125
        sleep 0.05
    done
    cat "$script.out"
    return "$(cat "$script.status")"
}

# Pull the plug.
cut_power() {
    kill -9 "$qemu_pid"
    wait "$qemu_pid" 2>/dev/null
    wait "$disk_pid" 2>/dev/null
    qemu_pid=
    rm -f "$work/disk.sock"
}

# Shut it down as people do; SECONDS that it may take
shut_down() {
    guest 5 'systemctl --no-block poweroff' >/dev/null
    left=$(($1 * 10))
    while kill -0 "$qemu_pid" 2>/dev/null; do
        left=$((left - 1))
        [ "$left" -gt 0 ] || return 1
        sleep 0.1
    done
    wait "$qemu_pid" "$disk_pid" 2>/dev/null
    qemu_pid=
    rm -f "$work/disk.sock"
}
