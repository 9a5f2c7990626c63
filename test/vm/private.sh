# Servers of an ordinary user's: a unit of the user's that has been delegated to, and one that was not.
. /share/vm/guest.sh
uid=$(id -u ann)
loginctl enable-linger ann
await "ann's systemd" test -S "/run/user/$uid/systemd/private"
mkdir -p /home/ann/.config/systemd/user
cat >/home/ann/.config/systemd/user/berthd.service <<'END'
[Service]
Type=notify
Delegate=yes
Environment=BERTH_DIR=%h/private
ExecStart=/usr/local/bin/berthd --foreground
KillMode=mixed
END
chown -R ann: /home/ann
manager() { as ann env XDG_RUNTIME_DIR="/run/user/$uid" systemctl --user "$@"; }
private() { as ann env BERTH_DIR=/home/ann/private "$@"; }
notices() { private curl -s --unix-socket /home/ann/private/berth.sock http://b/v1/server | sed 's/.*"notices":\(\[[^]]*\]\).*/\1/'; }
manager daemon-reload
manager --no-block start berthd
await "the private server" private berth server status
notices
# Debian lets a user's manager have memory and processes, not cores.
expect "the notices" '["limits are not enforced for: cores (the controllers of cgroup v2 are not to be had)"]' "$(notices)"
group=$(private berth run cat /proc/self/cgroup)
case $group in
0::/user.slice/*/berthd.service/*.1) ;;
*) fail "a private run is in $group" ;;
esac
private berth run --mem 64M python3 -c 'b = bytearray(200 << 20)' >/tmp/out 2>&1
expect "the status of one that took too much" 137 "$?"
id=$(private berth submit sh -c 'setsid env -i sleep 1111 & exit 5')
expect "the status of another" 5 "$(private berth wait "$id"; echo $?)"
expect "what it left behind" '' "$(pgrep -u ann -x sleep)"
manager stop berthd

# Without: jobs run, and one line says what is not limited.
unlimited() { as ann env BERTH_DIR=/home/ann/unlimited "$@"; }
unlimited berthd || fail "it does not start"
expect "its job" yes "$(unlimited berth run --mem 64M echo yes)"
unlimited curl -s --unix-socket /home/ann/unlimited/berth.sock http://b/v1/server | sed 's/.*"notices"/"notices"/' >/tmp/out
expect "lines of a notice" 1 "$(grep -c '"notices":\["limits of memory, processes and cores are not enforced: [^"]*"\]' /tmp/out)"
unlimited berth server stop
finish
