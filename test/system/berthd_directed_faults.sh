#!/bin/sh
# Directed jobs when Slurm refuses, is silent, lies or forgets, and when server and helper are killed: each job runs once.
. "$BERTH_SOURCE/test/daemon.sh"
. "$BERTH_SOURCE/test/system/fake_directed.sh"
cd "$scratch" || exit 1
directed_machine
expect_status 0 "$BERTH" server start

asked() { # how often sbatch was run
    [ -e "$slurm/asked" ] && wc -l <"$slurm/asked" || echo 0
}
has_asked() { # at least so often
    [ "$(asked)" -ge "$1" ]
}
# A job that tells each of its starts, and goes on for so many tenths of a second
submit() { # NAME TENTHS
    "$BERTH" submit -c 1 sh -c "echo $1 >>$scratch/starts; i=0; while [ \$i -lt $2 ]; do sleep 0.1; i=\$((i + 1)); done"
}
begun() { # NAME
    grep -qsx "$1" "$scratch/starts"
}
ran_once() { # NAME
    expect "starts of $1" 1 "$(grep -cx "$1" "$scratch/starts")"
}
tells() { # JOB TEXT
    "$BERTH" explain "$1" | grep -q "$2"
}

# A refusal is told, and the job is planned anew.
echo refuse >"$slurm/mood"
one=$(submit one 1)
await 'a refusal to be told' tells "$one" 'Slurm: .*Invalid account'
rm "$slurm/mood"
await_state "$one" "done"
ran_once one

# One that is always refused is asked for more and more seldom, after 2 s, 4 s, 8 s, and others pass it.
echo --cpus-per-task=2 >"$slurm/never"
since=$(date +%s)
never=$("$BERTH" submit -c 2 true)
await 'its refusal to be told' tells "$never" 'Slurm: .*Invalid qos'
for name in x1 x2 x3 x4 x5 x6; do
    await_state "$(submit $name 1)" "done"
done
listed() { # JOB TEXT
    "$BERTH" jobs --no-header "$1" | grep -q "$2"
}
await 'it to wait, and to say why' tells "$never" 'It could not be started: Slurm: .*Invalid qos'
await 'its line to say why' listed "$never" 'not started: Slurm'
times=$(grep -c -e '--cpus-per-task=2' "$slurm/asked")
most=2 gap=2 spent=$(($(date +%s) - since + 1))
while [ "$spent" -ge "$gap" ]; do
    spent=$((spent - gap)) gap=$((2 * gap)) most=$((most + 1))
done
[ "$times" -le "$most" ] || fail "it was asked for $times times in $(($(date +%s) - since)) s, expected $most at most"
expect_status 0 "$BERTH" cancel "$never"
await_state "$never" cancelled
rm "$slurm/never"

# sbatch does not know whether there is a job. There is: it is found by its comment.
echo late >"$slurm/mood"
before=$(asked)
two=$(submit two 1)
await 'it to be submitted' has_asked $((before + 1))
rm "$slurm/mood"
await_state "$two" "done"
ran_once two
expect 'submissions of it' $((before + 1)) "$(asked)"

# Nobody is reached: nothing is lost, and what is to start waits.
three=$(submit three 10)
await 'it to begin' begun three
echo away >"$slurm/mood"
four=$(submit four 1)
before=$(asked)
await_state "$three" "done"
tells "$four" 'It is being started' || fail "what waits for Slurm: $("$BERTH" explain "$four")"
crash
expect_status 0 "$BERTH" server start
tells "$four" 'It is being started' || fail "what still waits for Slurm: $("$BERTH" explain "$four")"
rm "$slurm/mood"
await_state "$four" "done"
ran_once four

# The server is killed: what runs goes on, and is found again; what has ended meanwhile is told. So after the helper's end.
five=$(submit five 20)
await 'it to begin' begun five
six=$(submit six 1)
await 'it to begin' begun six
crash
await 'what ended meanwhile' test -e "$slurm/code.$(cat "$slurm/last")"
expect_status 0 "$BERTH" server start
await_state "$six" "done"
await_state "$five" "done"
seven=$(submit seven 20)
await 'it to begin' begun seven
# shellcheck disable=SC2046
kill -9 $(called berth-slurm)
await_state "$seven" "done"
for name in five six seven; do
    ran_once $name
done

# Slurm cancels, for somebody else: the end is told as it was.
eight=$(submit eight 1000)
await 'it to begin' begun eight
scancel "$(cat "$slurm/last")"
await_state "$eight" failed
expect 'its signal' 15 "$(get "$eight" signal)"

# A cancelled job ends while nobody is reached: Slurm is told once somebody is, and has it in its books as cancelled. So where
# its number is not known until then.
in_books() { # STATE
    grep -qs "^$1 " "$slurm/job.$(cat "$slurm/last")"
}
cancelled=$(submit cancelled 1000)
await 'it to begin' begun cancelled
await_state "$cancelled" running
echo away >"$slurm/mood"
expect_status 0 "$BERTH" cancel "$cancelled"
await_state "$cancelled" cancelled
rm "$slurm/mood"
await "its end in Slurm's books" in_books CANCELLED
echo late >"$slurm/mood"
before=$(asked)
unknown=$(submit unknown 1000)
await 'it to be submitted' has_asked $((before + 1))
echo away >"$slurm/mood"
await 'it to begin' begun unknown
await_state "$unknown" running
expect_status 0 "$BERTH" cancel "$unknown"
await_state "$unknown" cancelled
rm "$slurm/mood"
await "its end in Slurm's books" in_books CANCELLED

# The same where it ends before berth-slurm, which waits for Slurm, hears that it was told to: by its own look at its signals.
alone=$(submit alone 1000)
await 'it to begin' begun alone
await_state "$alone" running
touch "$slurm/stuck"
await 'squeue to be asked' test -e "$slurm/is_stuck"
expect_status 0 "$BERTH" cancel "$alone"
has_ended() {
    find "$BERTH_DIR/slurm" -path '*/own/ended.*' | grep -q .
}
await 'it to end' has_ended
rm "$slurm/stuck"
await_state "$alone" cancelled
await "its end in Slurm's books" in_books CANCELLED

# Its processes are killed, and Slurm says so: it is lost. When Slurm has lost sight of the node, that is no proof, until the node
# is back.
kill_job() { # its own processes, the keeper's, and berth-run
    id=$(cat "$slurm/last")
    echo "$1" >"$slurm/job.$id"
    # shellcheck disable=SC2046
    kill -9 "$(cat "$slurm/pid.$id")" $(called berth-keeper) $(pgrep -f "echo $2 >>$scratch/starts")
}
nine=$(submit nine 1000)
await 'it to begin' begun nine
kill_job 'OUT_OF_MEMORY None' nine
await_state "$nine" failed
tells "$nine" OUT_OF_MEMORY || "$BERTH" show "$nine" | grep -q OUT_OF_MEMORY || fail "why it is lost: $("$BERTH" show "$nine")"
ten=$(submit ten 1000)
await 'it to begin' begun ten
for node in f1 f2; do
    echo 'DOWN* lost' >"$slurm/state.$node"
done
kill_job 'NODE_FAIL None' ten
seen() {
    find "$BERTH_DIR/slurm" -name given_up | grep -q .
}
await 'it to be seen' seen
crash # it is remembered
expect_status 0 "$BERTH" server start
down() {
    [ "$("$BERTH" nodes | tail -n +2 | awk '{ print $2 }' | xargs)" = 'down down' ]
}
await 'the nodes to be down' down
rm "$slurm/job.$(cat "$slurm/last")" # Slurm forgets it
expect 'what nobody knows of' running "$(state "$ten")"
rm "$slurm"/state.*
crash
expect_status 0 "$BERTH" server start
await_state "$ten" failed
ran_once ten

# A node never comes back: a person says so, and what ran there is lost. That counts for nothing while Slurm says that the job goes on.
eleven=$(submit eleven 1000)
await 'it to begin' begun eleven
gone=$(cat "$slurm/nodes.$(cat "$slurm/last")")
expect_status 1 "$BERTH" drain --lost "$gone"
expect_err "berth drain: node $gone is there: what runs on it can be cancelled"
echo 'DOWN* lost' >"$slurm/state.$gone"
is_gone_node() {
    "$BERTH" nodes | grep -q "^$gone  *down "
}
await 'the node to be down' is_gone_node
"$BERTH" explain "$eleven" | grep -q "Node $gone is down at Slurm: what runs there counts as running until the node is back. If it never comes back: berth drain --lost $gone" ||
    fail "what is said of it: $("$BERTH" explain "$eleven")"
kill_job 'SUSPENDED None' eleven # nobody changes that
expect_status 0 "$BERTH" drain --lost "$gone"
said() {
    find "$BERTH_DIR/slurm" -name lost | grep -q .
}
await 'berth-slurm to hear of it' said
expect 'a job that goes on, for Slurm' running "$(state "$eleven")"
echo 'NODE_FAIL None' >"$slurm/job.$(cat "$slurm/last")"
await_state "$eleven" failed
"$BERTH" show "$eleven" | grep -q 'lost: at Slurm NODE_FAIL' || fail "why it is lost: $("$BERTH" show "$eleven")"
ran_once eleven

finish
