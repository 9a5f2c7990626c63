#!/bin/sh
# A job can't open GPUs that are not its own, where root's server has cgroup v2: neither by hand nor by a library that
# does not care for variables. The device files are those of /dev/zero and /dev/full, in a /dev of this test's own, and a
# library stands in for NVIDIA's.
if [ -z "${BERTH_OWN_MOUNTS:-}" ]; then
    BERTH_OWN_MOUNTS=no
    unshare -m true 2>/dev/null && BERTH_OWN_MOUNTS=yes
    export BERTH_OWN_MOUNTS
    [ "$BERTH_OWN_MOUNTS" = no ] || exec unshare -m sh "$0"
fi
. "$BERTH_SOURCE/test/daemon.sh"
[ "$BERTH_OWN_MOUNTS" = yes ] || skip "only root has mounts of its own"
cd "$scratch" || exit 1

# cgroup v2 where it is looked for, as not all systems have it there.
if [ ! -e /sys/fs/cgroup/cgroup.controllers ]; then
    mount -t cgroup2 none /sys/fs/cgroup 2>mount.err || skip "no cgroup v2: $(cat mount.err)"
fi
mkdir dev
mount -t tmpfs -o mode=755 none dev || skip "no file system for devices"
for file in null:3 zero:5 urandom:9 nvidia0:5 nvidia1:7; do
    mknod -m 666 "dev/${file%:*}" c 1 "${file#*:}" || skip "no device files can be made"
done
mount --move dev /dev || skip "/dev can't be replaced"

LD_LIBRARY_PATH=$GPU_LIBRARY${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
STAND_IN_GPUS='GPU-aaaa=NVIDIA A100-SXM4-40GB;GPU-bbbb=NVIDIA A100-SXM4-40GB'
export LD_LIBRARY_PATH STAND_IN_GPUS
unset CUDA_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES
"$BERTH" server start >out 2>&1 || fail "start: $(cat out)"
case $("$BERTH" server status) in
*'limits are not enforced for:'*devices* | *'limits of memory, processes and cores are not enforced'*)
    skip "the kernel keeps nobody from devices here: $("$BERTH" server status | grep enforced)" ;;
esac

look='for i in 0 1; do head -c 1 /dev/nvidia$i >/dev/null 2>&1 && echo $i; done; true'
expect "whose job has none" '' "$("$BERTH" run sh -c "$look")"
expect "whose job has one" 0 "$("$BERTH" run -g 1 sh -c "$look")"
expect "whose job has two" '0 1' "$("$BERTH" run -g 2 sh -c "$look" | xargs)"
# Other devices are left alone.
expect "another device" 1 "$("$BERTH" run sh -c 'head -c 1 /dev/urandom | wc -c')"
# Two at a time have one each, and keep it while the server is started again.
mkfifo gate
one=$("$BERTH" submit -g 1 -o "$scratch/one" sh -c "$look; cat $scratch/gate; $look")
two=$("$BERTH" submit -g 1 -o "$scratch/two" sh -c "$look")
await_state "$two" done
"$BERTH" server stop >/dev/null 2>&1
"$BERTH" server start >out 2>&1 || fail "start again: $(cat out)"
echo >gate
await_state "$one" done
expect "the first, before and after" '0 0' "$(xargs <one)"
expect "the second" 1 "$(cat two)"
# Instances of a divided GPU have its device.
"$BERTH" server stop >/dev/null 2>&1
model='NVIDIA A100-SXM4-40GB'
STAND_IN_GPUS="GPU-aaaa=$model|MIG-cccc=$model MIG 3g.20gb|MIG-dddd=$model MIG 3g.20gb;GPU-bbbb=$model"
"$BERTH" server start >out 2>&1 || fail "start: $(cat out)"
expect "of a divided one" 0 "$("$BERTH" run -g 1 sh -c "$look")"
finish
