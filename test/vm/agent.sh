#!/bin/sh
# In the virtual machine: runs what the host puts into the shared folder, one script after the other.
mkdir -p /share
modprobe 9pnet_virtio
until mount -t 9p -o trans=virtio,version=9p2000.L,cache=none,msize=131072 share /share; do sleep 0.2; done
while :; do
    for script in /share/do/*.sh; do
        name=${script%.sh}
        [ -e "$script" ] && [ ! -e "$name.status" ] || continue
        bash "$script" >"$name.out" 2>&1 </dev/null
        echo $? >"$name.status.new"
        mv "$name.status.new" "$name.status"
    done
    sleep 0.05
done
