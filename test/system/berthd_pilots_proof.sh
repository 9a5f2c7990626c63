#!/bin/sh
# What ran on a node that is not heard of is over only by proof: what Slurm says, and what it does not prove.
. "$BERTH_SOURCE/test/daemon.sh"
. "$BERTH_SOURCE/test/system/fake_slurm.sh"
cd "$scratch" || exit 1
TMPDIR=$scratch
export TMPDIR
machine 1

is_up() { # PILOT NODES
    [ "$("$BERTH" pilot show "$1" | grep -c ' up ')" = "$2" ]
}
add() { # NODES: the pilot's number is $pilot, that of Slurm's job $job
    expect_status 0 "$BERTH" pilot add slurm --nodes "$1"
    pilot=$(sed 's/^pilot \([0-9]*\),.*/\1/' out)
    slurm_job=$(sed 's/.* job //' out)
    await "nodes of pilot $pilot" is_up "$pilot" "$1"
}
no_pilots() {
    [ "$("$BERTH" pilot list --json)" = '[]' ]
}
no_node() { # NAME: refused, and why
    expect_status 1 "$BERTH" drain --lost "$1"
    expect_err "berth drain: $2"
}
is_told() { # PILOT WORD: by Slurm
    "$BERTH" pilot list | grep -q "^ *$1 .* $2"
}
is_given_up() { # PILOT NODE
    "$BERTH" pilot list --json | tr -d ' \n' | grep -q "\"name\":\"$2\",\"host\":\"$2\"[^}]*\"given_up\":true"
}

# Each pilot's job is known by a comment of its own.
add 1
grep -q -E -e '--comment=berth:[0-9a-f]{16}:1 ' "$slurm/asked" || fail "asked: $(cat "$slurm/asked")"

# The node dies. As long as Slurm has it running, and while it is silent, the job may run on; after that it is lost.
lost=$("$BERTH" submit -t 1m -c 2 sleep 1000)
await_state "$lost" running
no_node f1 'node f1 is there: what runs on it can be cancelled'
no_node node0 "resources: expected a node that is lent or Slurm's, got 'node0'"
echo silent >"$slurm/mood"
power_loss "$pilot" "$slurm_job" f1
await 'the node to be down' is_up "$pilot" 0
echo "RUNNING f1" >"$slurm/queue.$slurm_job"
sleep 5
rm "$slurm/mood"
await "what Slurm says" is_told "$pilot" RUNNING
sleep 3
expect 'a job that may run on' running "$(state "$lost")"
echo "CANCELLED f1" >"$slurm/queue.$slurm_job"
await_state "$lost" failed
await 'the pilot to be gone' no_pilots

# A node that Slurm has given up is not dead. Its job goes on for the others, and ends: what ran on them is lost, and
# what ran on that node is not.
add 2
first=$("$BERTH" submit -t 1m -c 2 sleep 1000)
await_state "$first" running
second=$("$BERTH" submit -t 1m -c 2 sleep 1000)
await_state "$second" running
"$BERTH" show "$first" | grep -q 'f2/' && { other=$first first=$second second=$other; }
echo "RUNNING f1" >"$slurm/queue.$slurm_job"
power_loss "$pilot" "$slurm_job" f2
await 'a node to be given up' is_given_up "$pilot" f2
echo "FAILED f1" >"$slurm/queue.$slurm_job"
power_loss "$pilot" "$slurm_job" f1
await_state "$first" failed
sleep 3
expect 'a job on a node that was given up' running "$(state "$second")"
expect_status 0 "$BERTH" pilot remove --lost "$pilot"
await_state "$second" failed
await 'the pilot to be gone' no_pilots

# A failure of the nodes proves nothing at all; that Slurm has forgotten the job, and says so twice, does.
add 1
again=$("$BERTH" submit -t 1m -c 2 --requeue sleep 1000)
await_state "$again" running
echo "RUNNING f1" >"$slurm/queue.$slurm_job"
power_loss "$pilot" "$slurm_job" f1
await 'what Slurm says' is_told "$pilot" RUNNING
echo "unknown" >"$slurm/queue.$slurm_job"
is_taken_back() { # JOB
    "$BERTH" show "$1" | grep -q ' requeued, reason lost'
}
await 'the job to be taken back' is_taken_back "$again"
await 'the pilot to be gone' no_pilots
await_state "$again" failed # this machine alone is too small for it

# A person knows of one node that it will not come back: what ran there is lost, the other goes on.
add 2
first=$("$BERTH" submit -t 1m -c 2 sleep 1000)
await_state "$first" running
second=$("$BERTH" submit -t 1m -c 2 sleep 1000)
await_state "$second" running
"$BERTH" show "$first" | grep -q 'f2/' && { other=$first first=$second second=$other; }
power_loss "$pilot" "$slurm_job" f2
await 'the node to be down' is_up "$pilot" 1
expect 'a job on a node that is not heard of' running "$(state "$second")"
"$BERTH" explain "$second" | grep -q 'Node f2 is not heard of: what runs there counts as running until it is known to be over, in [0-9a-z ]* at the latest. If it never comes back: berth drain --lost f2' ||
    fail "what is said of it: $("$BERTH" explain "$second")"
"$BERTH" explain "$first" | grep -q 'not heard of' && fail "what is said of the other: $("$BERTH" explain "$first")"
expect_status 0 "$BERTH" drain --lost f2
await_state "$second" failed
expect 'a job on the other' running "$(state "$first")"
expect_status 0 "$BERTH" cancel "$first"
expect_status 0 "$BERTH" pilot remove "$pilot"
await 'the pilot to be gone' no_pilots

# Its number is given to another job after that: that is not ours.
add 1
echo foreign >"$slurm/comment.$slurm_job"
power_loss "$pilot" "$slurm_job" f1
await 'the pilot to be gone' no_pilots

# Taken back earlier than it said: nothing that lasts for longer is planned there.
add 1
soon=$(date -d '+30 minutes' +%Y-%m-%dT%H:%M:%S)
echo "RUNNING f1 $soon" >"$slurm/queue.$slurm_job"
end_is() {
    "$BERTH" pilot show "$1" | grep -q "$(echo "$2" | tr T ' ')"
}
await 'the earlier end' end_is "$pilot" "$soon"
long=$("$BERTH" submit -t 40m -c 2 true)
short=$("$BERTH" submit -t 1m -c 2 true)
expect_status 0 "$BERTH" wait "$short"
expect 'a job that ends too late' pending "$(state "$long")"

finish
