#!/bin/sh
# A full disk: what can't be stored is refused, what runs goes on, and nothing is lost when there is room again.
. "$BERTH_SOURCE/test/daemon.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root, to mount a small disk"
cd "$scratch" || exit 1
machine 2
cp "$BERTH_DIR/berth.yaml" .
mount -t tmpfs -o size=3m,mode=700 none "$BERTH_DIR" 2>/dev/null || skip "may not mount"
clean_disk() {
    for pid in $(ours); do
        kill -9 "$pid" 2>/dev/null
    done
    await "the disk to be free" umount "$BERTH_DIR"
    clean_up
}
trap clean_disk EXIT
cp berth.yaml "$BERTH_DIR"

a=$("$BERTH" submit -o "$scratch/a.out" sh -c "until [ -e '$scratch/go' ]; do sleep 0.02; done; echo done; exit 3")
b=$("$BERTH" submit -c 2 -o "$scratch/b.out" sh -c 'echo later')
await_state "$a" running
fill() {
    dd if=/dev/zero of="$BERTH_DIR/fill" bs=4k 2>/dev/null
    ! dd if=/dev/zero of="$BERTH_DIR/fill2" bs=4k count=1 2>/dev/null
}
fill || true
# Room that the store still has in its files is used up, and then it refuses, in a line.
"$BERTH" submit --hold true >/dev/null 2>&1
big=$(head -c 200000 /dev/zero | tr '\0' x)
api POST /v1/jobs -d "{\"command\": [\"true\"], \"hold\": true, \"name\": \"big\", \"environment\": {\"A\": \"$(echo "$big" | head -c 100000)\"}}" -o refused -w '%{http_code}' >status
expect "the status of what can't be stored" 507 "$(cat status)"
grep -q '"message"' refused || fail "no word of it: $(cat refused)"
expect "listing goes on" 200 "$(http_status GET /v1/jobs)"
# A job ends meanwhile.
: >go
await "the job's output" grep -q done a.out
crash
rm -f "$BERTH_DIR/fill" "$BERTH_DIR/fill2"
expect_status 0 "$BERTH" server start
expect_status 3 "$BERTH" wait "$a"
expect_status 0 "$BERTH" wait "$b"
expect "the one that waited" later "$(cat b.out)"

# The same without a restart.
fill || true
expect_status 1 sh -c "for i in \$(seq 1 50); do '$BERTH' submit --hold --env BIG=\$(head -c 60000 /dev/urandom | base64 -w 0) true || exit 1; done"
[ "$(wc -l <err)" -eq 1 ] || fail "no clear line: $(cat err)"
rm -f "$BERTH_DIR/fill" "$BERTH_DIR/fill2"
works() { [ "$("$BERTH" run -o "$scratch/again" echo again 2>/dev/null; cat "$scratch/again")" = again ]; }
await "it to work again" works
expect "jobs that ran twice" 1 "$(wc -l <a.out)"

# On a disk on which the store has set room aside jobs are accepted while it is full. They run when it is not, and none of
# them fails for it.
expect_status 0 "$BERTH" server stop
none_is_ours() {
    [ -z "$(called berthd)$(called berth-keeper)" ]
}
await "the keeper to end" none_is_ours
await "the disk to be free" umount "$BERTH_DIR"
mount -t tmpfs -o size=12m,mode=700 none "$BERTH_DIR"
cp berth.yaml "$BERTH_DIR"
expect_status 0 "$BERTH" server start
fill || true
n=0
ids=
while [ "$n" -lt 40 ] && id=$("$BERTH" submit -o "$scratch/late.$n" echo late 2>/dev/null); do
    n=$((n + 1))
    ids="$ids $id"
done
rm -f "$BERTH_DIR/fill" "$BERTH_DIR/fill2"
for id in $ids; do
    expect_status 0 timeout "$PATIENCE" "$BERTH" wait "$id"
done
[ "$n" -ge 30 ] || fail "only $n jobs were accepted"
expect "jobs that ran on a full disk" "$n" "$(cat late.* 2>/dev/null | wc -l)"
finish
