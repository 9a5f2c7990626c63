# The systemd units: jobs of root and of users over restart, stop, reload, upgrade.
. /share/vm/guest.sh
expect "the unit" active "$(systemctl is-active berthd)"
expect "what systemd says against the units" '' \
    "$(systemd-analyze verify --man=no /usr/local/lib/systemd/system/berth*.service 2>&1)"
journalctl -b -u berthd -o cat | grep -q 'limits' && fail "a notice: $(journalctl -b -u berthd -o cat)"

# Jobs are their user's, with the groups, and ordinary limits.
expect "root's job" 'uid=0(root) gid=0(root) groups=0(root)' "$(berth run id)"
expect "ann's job" "$(as ann id)" "$(as ann berth run id)"
expect "files that may be open" 1024 "$(as ann berth run sh -c 'ulimit -Sn')"

# They outlive the server, which adopts them, and nothing of them is in its cgroup.
id=$(as bob berth submit sh -c 'sleep 1000; exit 3')
await_state "$id" running
pid=$(pgrep -u bob -x sleep)
grep -q '^0::/berth/' "/proc/$pid/cgroup" || fail "a job is in $(cat "/proc/$pid/cgroup")"
systemctl restart berthd || fail "restart"
expect "after a restart" running "$(state "$id")"
systemctl stop berthd || fail "stop"
expect "the job while it is stopped" "$pid" "$(pgrep -u bob -x sleep)"
kill "$pid"
systemctl start berthd || fail "start"
await_state "$id" failed
expect "the status of what ended meanwhile" 3 "$(get "$id" exit)"
kill -9 "$(systemctl show -p MainPID --value berthd)"
restarted() { [ "$(systemctl show -p NRestarts --value berthd)" -ge 1 ] && berth server status; }
await "systemd to start it again" restarted

# A reload tells what is wrong.
systemctl reload berthd || fail "reload"

# Another version is installed over it.
id=$(as ann berth submit sh -c 'sleep 1000; exit 4')
await_state "$id" running
cp -a --remove-destination /share/next/usr/local/. /usr/local/ && ldconfig
systemctl daemon-reload
systemctl restart berthd || fail "restart of the next version"
expect "a job over an upgrade" running "$(state "$id")"
pkill -u ann -x sleep
await_state "$id" failed
expect "its status" 4 "$(get "$id" exit)"

# Who stops the unit of the jobs ends them.
plain=$(as ann berth submit sleep 1000)
again=$(as ann berth submit --requeue sh -c 'trap "exit 0" TERM; while :; do sleep 0.2; done')
await_state "$plain" running
await_state "$again" running
systemctl stop berth-jobs || fail "stop of the jobs"
await_state "$plain" failed
get "$plain" reason | grep -q 'lost: it was ended with its keeper' || fail "no word of it: $(get "$plain" reason)"
twice() { [ "$(get "$again" attempts)" = 2 ]; }
await "the one that may to come again" twice
berth cancel "$again"
await_state "$again" cancelled
expect "the server" active "$(systemctl is-active berthd)"
systemctl start berth-jobs
finish
