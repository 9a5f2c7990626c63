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

# A server of an ordinary user's: within a delegated session, and without.
uid=$(id -u ann)
loginctl enable-linger ann
await "ann's systemd" test -S "/run/user/$uid/systemd/private"
cat >/tmp/private.sh <<'END'
cd
unset BERTH_SOCKET
export BERTH_DIR=$HOME/private$1
berthd || exit 1
berth run sh -c 'cat /proc/self/cgroup'
berth run --mem 64M python3 -c 'b = bytearray(200 << 20)'
echo "status $?"
berth jobs -a | grep -c 'out of memory'
curl -s --unix-socket "$BERTH_DIR/berth.sock" http://b/v1/server | sed 's/.*"notices"/"notices"/'
berth server stop
END
chmod 644 /tmp/private.sh
echo "--- delegated"
mkdir -p /home/ann/.config/systemd/user
cat >/home/ann/.config/systemd/user/private.service <<'END'
[Service]
Type=oneshot
Delegate=yes
ExecStart=/bin/bash /tmp/private.sh 1
StandardOutput=file:/tmp/private.ann
StandardError=inherit
END
chown -R ann: /home/ann
as ann env XDG_RUNTIME_DIR="/run/user/$uid" systemctl --user daemon-reload
as ann env XDG_RUNTIME_DIR="/run/user/$uid" systemctl --user --no-block start private
await "the private server to have been" grep -q '"notices"' /tmp/private.ann
cp /tmp/private.ann /tmp/private.out
cat /tmp/private.out
grep -q '^0::/user.slice/.*berth\|^0::/user.slice/.*/private.service/[0-9a-f]*\.1$' /tmp/private.out || fail "a private run has no cgroup of its own"
grep -q '^status 137' /tmp/private.out || fail "no limit of memory in a delegated session"
grep -q 'limits are not enforced for: cores' /tmp/private.out || grep -q '"notices":\[\]' /tmp/private.out || fail "the notices"
echo "--- not delegated"
as ann bash /tmp/private.sh 2 >/tmp/private.out 2>&1
cat /tmp/private.out
expect "lines of a notice" 1 "$(grep -c 'are not enforced' /tmp/private.out)"
finish
