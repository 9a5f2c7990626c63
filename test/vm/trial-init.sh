#!/bin/sh
# In the machine, in place of systemd where only berthd is tried: as little as it needs, so that a boot is short.
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t cgroup2 cgroup /sys/fs/cgroup
mountpoint -q /dev || mount -t devtmpfs dev /dev
mount -t tmpfs run /run
hostname berthvm
ip link set lo up 2>/dev/null
modprobe virtio_blk
mount /dev/vdb /var/lib/berth || echo "trial: no disk for berthd" >/dev/console
berthd || echo "trial: berthd does not start: $(tail -n 1 /var/lib/berth/berthd.log)" >/dev/console
exec /usr/local/sbin/trial-agent
