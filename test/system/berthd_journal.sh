#!/bin/sh
# A disk that is full under the keeper's journal: no job fails for that. It waits, says why, and runs when there is room.
. "$BERTH_SOURCE/test/daemon.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root, to mount a small disk"
cd "$scratch" || exit 1
machine 8
mkdir -m 700 "$BERTH_DIR/keeper"
mount -t tmpfs -o size=256k,mode=700 none "$BERTH_DIR/keeper" 2>/dev/null || skip "may not mount"
clean_disk() {
    for pid in $(ours | grep -vx "$$"); do
        kill -9 "$pid" 2>/dev/null
    done
    await "the disk to be free" umount "$BERTH_DIR/keeper"
    clean_up
}
trap clean_disk EXIT
fill() {
    dd if=/dev/zero of="$BERTH_DIR/keeper/fill" bs=4k 2>/dev/null
    ! dd if=/dev/zero of="$BERTH_DIR/keeper/fill2" bs=4k count=1 2>/dev/null
}
free() {
    rm -f "$BERTH_DIR/keeper/fill" "$BERTH_DIR/keeper/fill2"
}

expect_status 0 "$BERTH" server start
fill || true
full='"not started: journal: No space left on device"'
says() { # JOB
    [ "$(get "$1" reason)" = "$full" ]
}
runs_or_says() {
    is_state "$1" done || says "$1"
}
# There may be room for some jobs in the last block of the journal.
n=0
ids=
while [ "$n" -lt 200 ]; do
    n=$((n + 1))
    id=$("$BERTH" submit -o /dev/null sh -c "echo x >>'$scratch/ran.$n'")
    ids="$ids $id"
    await "job $id to run or to say why not" runs_or_says "$id"
    says "$id" && break
done
expect "the job that waits" pending "$(state "$id")"
after=$("$BERTH" submit -o after.out --dependency "afterok:$id" echo after)
never=$("$BERTH" submit -o /dev/null --dependency "afternotok:$id" true)
many=$("$BERTH" submit -o many.out -n 3 echo task)
gone=$("$BERTH" submit -o /dev/null sh -c "echo x >>'$scratch/gone'")
await "the reason of another job" says "$gone"
"$BERTH" jobs --no-header "$gone" | grep -q 'not started: journal: No space left on device' || fail "no word of it: $("$BERTH" jobs "$gone")"
"$BERTH" explain "$gone" | grep -q 'It could not be started: journal: No space left on device' || fail "no word of it: $("$BERTH" explain "$gone")"
expect_status 0 "$BERTH" cancel "$gone"
crash
expect_status 0 "$BERTH" server start
await "the reason after a restart" says "$many"
for job in $id $after $never $many; do
    is_state "$job" failed && fail "job $job failed: $(get "$job" reason)"
done
free
for job in $ids $after $many; do
    expect_status 0 timeout "$PATIENCE" "$BERTH" wait "$job"
done
await_state "$gone" cancelled
await_state "$never" failed
expect "starts" "$n" "$(cat ran.* | wc -l)"
expect "starts of the one that was cancelled" 0 "$(cat gone 2>/dev/null | wc -l)"
expect "tasks of one" 3 "$(wc -l <many.out)"
expect "attempts" 1 "$(get "$id" attempts)"
finish
