#!/bin/sh
# The tests of the daemon as an ordinary user, where they are run by root.
. "$BERTH_SOURCE/test/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "they are run by an ordinary user anyway"
command -v setpriv >/dev/null || skip "no setpriv"
user() {
    setpriv --reuid=nobody --regid="$(id -g nobody)" --init-groups env HOME="$scratch" TMPDIR="$scratch" "$@"
}
chmod 777 "$scratch"
user test -x "$BERTH" || skip "nobody can't reach $BERTH"
# As for the services of a user: what root has raised a user can't lower.
echo 200 2>/dev/null >/proc/self/oom_score_adj
for name in berthd_first berthd_restart; do
    user sh "$BERTH_SOURCE/test/system/$name.sh" || fail "$name as nobody"
done
finish
