#!/bin/sh
# The server of the machine while it is stopped: who submits waits for it or hears so, and nobody gets another one
# unasked, which would give its jobs' cores away again.
. "$BERTH_SOURCE/test/daemon.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
command -v setpriv >/dev/null || skip "no setpriv"
if [ "${1:-}" != inside ]; then
    unshare -m true 2>/dev/null || skip "no mount namespace"
    rm -rf "$scratch"
    trap - EXIT
    exec unshare -m sh "$0" inside
fi
had=$(ls -d /var/lib/berth 2>/dev/null)
mkdir -p /var/lib/berth
mount -t tmpfs -o mode=755 none /var/lib/berth || skip "nothing can be mounted"
had_etc=$(ls -d /etc/berth 2>/dev/null)
mkdir -p /etc/berth
mount -t tmpfs -o mode=755 none /etc/berth || skip "nothing can be mounted"
unset BERTH_DIR
BERTH_DIR_OF_TEST=$scratch
cd "$scratch" || exit 1
chmod 755 "$scratch"
mkdir -m 777 home

end() { # what both servers have started
    for pid in $(grep -lzxF "HOME=$BERTH_DIR_OF_TEST/home" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3); do
        [ "$pid" = "$$" ] || kill -9 "$pid" 2>/dev/null
    done
    for pid in $(cat /var/lib/berth/berthd.lock /var/lib/berth/keeper/keeper.lock 2>/dev/null); do
        kill -9 "$pid" 2>/dev/null
    done
    umount -l /var/lib/berth
    [ -n "$had" ] || rmdir /var/lib/berth 2>/dev/null
    umount -l /etc/berth
    [ -n "$had_etc" ] || rmdir /etc/berth 2>/dev/null
    rm -rf "$scratch"
}
trap end EXIT

as() { # COMMAND...: a user that each Debian has
    setpriv --reuid=games --regid="$(id -g games)" --init-groups env HOME="$scratch/home" USER=games "$@"
}
as test -x "$BERTH" || skip "other users can't reach $BERTH"
down="the server of this machine is down (/var/lib/berth); 'berth server start' starts one of your own"

echo 'resources: {nodes: 1, cores: 4}' >/var/lib/berth/berth.yaml
"$BERTHD" || fail "berthd does not start"
expect_status 0 as "$BERTH" submit sleep 1000
expect_line out 1
expect_status 1 as "$BERTH" server start
expect_err 'berth server: the server of this machine is running; for one of your own, set BERTH_DIR to its directory'
expect_status 0 "$BERTH" server stop

# Stopped: lists say so.
expect_status 1 as "$BERTH" jobs
expect_err "berth jobs: $down"
expect_status 1 as "$BERTH" cancel 1
expect_err "berth cancel: $down"

# Who submits is still there when it comes back.
as "$BERTH" submit sleep 1000 >id 2>said &
waits=$!
await "a word of waiting" grep -q '^berth submit: waiting for the server of this machine$' said
"$BERTHD" || fail "berthd does not start again"
wait $waits || fail "submit: status $?: $(cat said)"
expect "its id, of the same server" 2 "$(cat id)"
[ -e home/.local/state/berth ] && fail "a server of the user's own was started"

# It does not come back: nothing is submitted, and nothing else is started.
expect_status 0 "$BERTH" server stop
expect_status 1 as "$BERTH" submit true
expect "the last line" "berth submit: $down" "$(tail -n 1 err)"
[ -e home/.local/state/berth ] && fail "a server of the user's own was started"

# One of the user's own is started if that is asked for, and is then told apart from the machine's.
expect_status 0 as "$BERTH" server start
expect_status 0 as "$BERTH" run true
"$BERTHD" || fail "berthd does not start again"
expect_status 0 as "$BERTH" jobs -a
[ -s err ] && fail "a word that is for terminals: $(cat err)"
as "$BERTH_BUILD/test/system/terminal" "$BERTH" jobs </dev/null >seen
grep -q '^berth jobs: this is your own server, not that of the machine' seen || fail "not told apart: $(cat seen)"
expect_status 0 as "$BERTH" server stop
expect_status 0 as "$BERTH" cancel 1 2
expect_status 0 "$BERTH" server stop

# The configuration may be in /etc/berth, or in a user's own folder of such files; that in the server's directory goes first.
cores() { # of the server of this user, after its start and after a reload
    expect_status 0 "$@" "$BERTH" server start
    "$@" "$BERTH" resources --json | sed -n 's/^ *"cores": \([0-9]*\).*/\1/p' | head -n 1
}
echo 'resources: {nodes: 1, cores: 5}' >/etc/berth/berth.yaml
expect 'cores by the directory' 4 "$(cores env)"
expect_status 0 "$BERTH" server stop
rm /var/lib/berth/berth.yaml
expect 'cores by /etc/berth' 5 "$(cores env)"
"$BERTH" server status | grep -q /etc/berth/berth.yaml || fail "status: $("$BERTH" server status)"
expect_status 0 "$BERTH" server stop
mkdir -p -m 755 home/.config/berth
echo 'resources: {nodes: 1, cores: 6}' >home/.config/berth/berth.yaml
expect "cores by the user's file" 6 "$(cores as)"
expect_status 0 as "$BERTH" server stop
finish
