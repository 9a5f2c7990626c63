#!/bin/sh
# Directed jobs whose job of Slurm's does not start, or was never there, though it was submitted: they are planned anew, and
# whatever becomes of the job at Slurm later, they run once.
. "$BERTH_SOURCE/test/daemon.sh"
. "$BERTH_SOURCE/test/system/fake_directed.sh"
cd "$scratch" || exit 1
directed_machine
expect_status 0 "$BERTH" server start

cancelled() { # ID
    grep -qsx "$1" "$slurm/cancelled"
}
tells() { # JOB TEXT
    "$BERTH" explain "$1" | grep -q "$2"
}

# Others have what was to be free: Slurm lets the job wait. It is taken back, its node is left alone for a while, and the
# job runs on the other one.
echo pending >"$slurm/mood"
one=$("$BERTH" submit -c 2 sh -c "echo one >>$scratch/starts")
await 'the job to be taken back' cancelled 101
rm "$slurm/mood"
await_state "$one" "done"
taken=$(cat "$slurm/nodes.101")
other=$(cat "$slurm/nodes.$(cat "$slurm/last")")
[ "$taken" != "$other" ] || fail "both on $taken"
"$BERTH" show "$one" >out
grep -q 'not started: Slurm has not started it at once: PENDING, Resources' out || fail "why: $(cat out)"
# What Slurm starts all the same, later, finds that it is not wanted.
SLURM_JOB_ID=101 SLURMD_NODENAME=$taken sh "$slurm/script.101" || fail 'the script of a job that is not wanted'

# sbatch says that it does not know, and there is no job, however often one looks.
echo lost >"$slurm/mood"
two=$("$BERTH" submit sh -c "echo two >>$scratch/starts")
await 'that to be told' tells "$two" 'it has no such job'
rm "$slurm/mood"
await_state "$two" "done"

# A job that has not begun is cancelled.
echo pending >"$slurm/mood"
three=$("$BERTH" submit sh -c "echo three >>$scratch/starts")
await 'it to be starting' tells "$three" 'It is being started'
expect_status 0 "$BERTH" cancel "$three"
await_state "$three" cancelled
# One of two members that start together is taken back: the other, which looks for it in vain, is stopped, and both start
# again.
rm "$slurm/mood"
echo f1 >"$slurm/busy"
# shellcheck disable=SC2016
gang=$("$BERTH" submit --gang 2 -N 1 -n 1 -c 2 sh -c '
    echo "$BERTH_MEMBER_RANK" >>told
    trap "rm -f at.$BERTH_MEMBER_RANK; exit 1" TERM
    touch at.$BERTH_MEMBER_RANK
    until [ -e at.0 ] && [ -e at.1 ]; do sleep 0.1; done
    sleep 0.5')
stopped() {
    "$BERTH" show "$gang" | grep -q 'requeued, reason a member that started with it could not be started'
}
await 'the other member to wait again' stopped
rm "$slurm/busy"
await_state "$gang" "done"
expect 'starts of members' 3 "$(wc -l <told)"

# Several are submitted at a time: here sbatch answers none until it has been asked for three.
wc -l <"$slurm/asked" >"$slurm/before"
echo together >"$slurm/mood"
four=$("$BERTH" submit -c 1 --array 4 true)
await_state "$four" "done"
rm "$slurm/mood"

# Of an array that Slurm refuses not every member is asked for.
expect_status 0 "$BERTH" server stop
echo 16 >"$slurm/cores"
expect_status 0 "$BERTH" server start
before=$(wc -l <"$slurm/asked")
echo refuse >"$slurm/mood"
five=$("$BERTH" submit -c 1 --array 32 true)
await 'the refusal to be told' tells "$five" 'Slurm: .*Invalid account'
none_is_asked() {
    [ -z "$(find "$BERTH_DIR/slurm" -mindepth 1 -maxdepth 1 -type d)" ]
}
await 'all to wait' none_is_asked
asked=$(($(wc -l <"$slurm/asked") - before))
[ $asked -le 20 ] || fail "of 32 members $asked were asked for"
rm "$slurm/mood"
expect_status 0 "$BERTH" cancel "$five"

expect 'what has run' 'one two' "$(xargs <starts)"

finish
