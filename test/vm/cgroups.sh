# Real controllers of cgroup v2: memory, cores, processes, hidden processes, usage; nothing stays behind.
. /share/vm/guest.sh
folders() { find /sys/fs/cgroup/berth -mindepth 1 -type d ! -name 'keeper-*' | wc -l; }
no_folders() { [ "$(folders)" -eq 0 ]; }

# More memory than it asked for: killed, all of it, and told so.
id=$(as ann berth submit --mem 64M sh -c 'sleep 1000 & exec python3 -c "b = bytearray(200 << 20)"')
await_state "$id" failed
expect "why" '"out of memory: it had 64 MiB"' "$(get "$id" reason)"
expect "the signal" 9 "$(get "$id" signal)"
expect "the most it had" $((64 << 20)) "$(get "$id" peak_memory)"
expect "what it left behind" '' "$(pgrep -u ann -x sleep)"
# As much as it asked for.
id=$(as ann berth submit --mem 128M python3 -c 'b = bytearray(60 << 20); b[::4096] = bytes(len(b[::4096]))')
await_state "$id" done
peak=$(get "$id" peak_memory)
[ "$peak" -ge $((60 << 20)) ] && [ "$peak" -le $((128 << 20)) ] || fail "peak memory: $peak"
[ "$(get "$id" cpu_time | tr -d '"')" != null ] || fail "no CPU time"

# Cores: the run's cgroup has them, and nobody in it gets out.
expect "cores" '0 1' "$(as ann berth run sh -c 'cat "/sys/fs/cgroup$(sed s/0::// /proc/self/cgroup)/cpuset.cpus.effective"; taskset -p -c 0-1 $$ >/dev/null 2>&1; nproc' | xargs)"

# A process that hides: a session of its own, no environment, another name, another parent.
id=$(as bob berth submit sh -c 'setsid env -i bash -c "exec -a hidden sleep 1111" </dev/null >/dev/null 2>&1 & sleep 1; exit 5')
await_state "$id" failed
expect "its status" 5 "$(get "$id" exit)"
expect "what hid" '' "$(pgrep -u bob -x sleep)"
# Many that fork and ignore signals are ended by a cancel.
id=$(as bob berth submit sh -c 'trap "" TERM INT HUP; for i in 1 2 3 4 5; do setsid sh -c "trap \"\" TERM; while :; do sleep 0.3; done" & done; wait')
await "them to be there" sh -c '[ "$(pgrep -c -u bob -x sh)" -ge 6 ]'
berth cancel "$id"
await_state "$id" cancelled
expect "what is left of them" '' "$(pgrep -u bob)"

# Others can't write to a run's cgroup, nor can the user take its limits away.
id=$(as ann berth submit --mem 64M sleep 1000)
await_state "$id" running
group=/sys/fs/cgroup$(sed s/0::// "/proc/$(pgrep -u ann -x sleep)/cgroup")
as ann sh -c "echo max >$group/memory.max" 2>/dev/null && fail "a user takes away a limit"
as ann sh -c "echo \$\$ >/sys/fs/cgroup/cgroup.procs" 2>/dev/null && fail "a user leaves"
systemctl daemon-reload
expect "the limit after a reload of systemd" $((64 << 20)) "$(cat "$group/memory.max")"
berth cancel "$id"
await "the folders to be gone" no_folders

finish
