# A full disk under /var/lib/berth: what can't be stored is refused in a line, what runs goes on, nothing is lost.
. /share/vm/guest.sh
log=/share/log.full
rm -rf $log && mkdir -p $log && chmod 777 $log
id=$(as ann berth submit -o /dev/null sh -c "until [ -e $log/go ]; do sleep 0.2; done; exit 6")
await_state "$id" running
load() {
    for n in $(seq 40); do
        job=$(as ann berth submit -o /dev/null sh -c "echo x >>$log/ran.$n" 2>>$log/refused) && echo "$job $n" >>$log/acknowledged
    done
}
load &
sleep 2
dd if=/dev/zero of=/var/lib/berth/fill bs=4k 2>/dev/null
dd if=/dev/zero of=/var/lib/berth/fill2 bs=1k 2>/dev/null
df /var/lib/berth | tail -n 1
refused() { ! as ann berth submit --hold --env "BIG=$(head -c 90000 /dev/urandom | base64 -w 0)" true 2>$log/big; }
await "a refusal" refused
expect "lines of it" 1 "$(wc -l <$log/big)"
cat $log/big
: >$log/go
sleep 1
kill -9 "$(cat /var/lib/berth/berthd.lock)"
berthd || echo "berthd does not start on a full disk: $?"
rm -f /var/lib/berth/fill /var/lib/berth/fill2
berth server status >/dev/null 2>&1 || berthd || fail "it does not start when there is room"
wait
await_state "$id" failed
expect "the status of what ran on" 6 "$(get "$id" exit)"
for held in $(berth jobs --no-header | awk '$5 == "held" { print $1 }'); do
    berth cancel "$held"
done
none_is_left() { [ "$(berth jobs --no-header | wc -l)" -eq 0 ]; }
await "all to end" none_is_left
while read -r job n; do
    expect "job $job" done "$(state "$job")"
    expect "runs of job $job" 1 "$(wc -l <"$log/ran.$n")"
done <$log/acknowledged
echo "$(wc -l <$log/acknowledged) acknowledged, $(wc -l <$log/refused) lines of refusal"
berth server stop
expect "the store" ok "$(sqlite3 /var/lib/berth/berth.db 'pragma integrity_check')"
finish
