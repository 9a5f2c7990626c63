#!/bin/sh
# Pilots that are asked for by themselves, with commands in the place of Slurm's.
. "$BERTH_SOURCE/test/daemon.sh"
. "$BERTH_SOURCE/test/system/fake_slurm.sh"
cd "$scratch" || exit 1
TMPDIR=$scratch
export TMPDIR
machine 1
sed -i 's/^  batch: .*/&\n  few: {policy: easy, limits: {user: {running: 1}}}/' "$BERTH_DIR/berth.yaml"

wrong() { # MESSAGE ARGUMENT...
    message=$1
    shift
    expect_status 2 "$BERTH" pilot auto "$@"
    expect_err "berth pilot: $message; see 'berth pilot --help'"
}
wrong "unknown kind 'pbs', expected slurm or off" pbs --max-nodes 2
wrong 'auto slurm needs --max-nodes' slurm
wrong "--max-nodes is '0', expected 1 to 1000" slurm --max-nodes 0
wrong "option 'a b' of sbatch has a blank, expected none" slurm --max-nodes 1 -- 'a b'
wrong "auto takes options of a rule with 'slurm' only" --max-nodes 1

pilots() { # how many there are
    "$BERTH" pilot list --json | grep -c '"pilot"'
}
asked() { # how often Slurm was asked
    [ -e "$slurm/asked" ] && wc -l <"$slurm/asked" || echo 0
}

# A limit is none of a pilot's business: a job that only waits for its user's other one asks for no node.
first=$("$BERTH" submit -q few -t 1h sleep 1000)
await_state "$first" running
second=$("$BERTH" submit -q few -t 10m true)
await 'a promise' sh -c "'$BERTH' show --json $second | grep -q '\"estimate\": [0-9]'"
expect_status 0 "$BERTH" pilot auto slurm --max-nodes 3 --time 1h --dry-run
grep -q '^Nothing is asked for now.$' out || fail "a limit: $(cat out)"
expect_status 0 "$BERTH" cancel "$first" "$second"
await_state "$first" cancelled

# Tasks that may be on any nodes are on as many as they fill: eight of a core on two of four cores.
printf '%s\n' 'pilots: {max-nodes: 4, time: 1h, node: {cores: 4}}' >>"$BERTH_DIR/berth.yaml"
expect_status 0 "$BERTH" server stop
expect_status 0 "$BERTH" server start
why() { # OPTION...: what a dry run says for a job that asks for so much
    job=$("$BERTH" submit -t 10m "$@" true)
    "$BERTH" pilot auto slurm --max-nodes 4 --time 1h --dry-run
    "$BERTH" cancel "$job"
}
why -n 8 >said
grep -q '^To be asked for .*: 2 nodes for .*, for 2 ' said || fail "eight tasks: $(cat said)"
why -n 4 -c 2 >said
grep -q '^To be asked for .*: 2 nodes for ' said || fail "four tasks of two cores: $(cat said)"
sed -i '/^pilots:/d' "$BERTH_DIR/berth.yaml"
expect_status 0 "$BERTH" server stop
expect_status 0 "$BERTH" server start

# A dry run says what would be, and nothing comes of it.
one=$("$BERTH" submit -t 1h sleep 1000)
expect_status 0 "$BERTH" pilot auto
expect 'no rule' 'No pilots are asked for: there is no rule.' "$(cat out)"
await_state "$one" running
two=$("$BERTH" submit -t 10m true)
expect_status 0 "$BERTH" pilot auto slurm --max-nodes 3 --time 1h --dry-run
grep -q '^Pilots of up to 1h, 3 nodes at most, of which 0 are there or asked for.$' out || fail "dry run: $(cat out)"
grep -q '^What a node has is learnt from the first one.$' out || fail "dry run: $(cat out)"
grep -q '^To be asked for later: 1 node for 1h, for 1 job that waits, not before ' out || fail "dry run: $(cat out)"
expect_status 0 "$BERTH" pilot auto
expect 'no rule after a dry run' 'No pilots are asked for: there is no rule.' "$(cat out)"

# Slurm refuses: that is told, and it is not asked again at once.
echo refuse >"$slurm/mood"
expect_status 0 "$BERTH" pilot auto slurm --max-nodes 3 --time 1h --idle 3s -- --qos=low
refused() {
    "$BERTH" pilot auto | grep -q 'The last ask has failed, 1 in a row: sbatch: error: invalid partition'
}
await 'a refusal to be told' refused
expect_status 0 "$BERTH" explain "$two"
grep -q 'A pilot is to be asked for in .s; the last time: sbatch: error: invalid partition' out || fail "explain: $(cat out)"
expect 'pilots that were refused' 0 "$(pilots)"
rm "$slurm/mood"

# Then one comes, with the options of the rule; what a node has is known from then on, and the job runs there.
expect_status 0 "$BERTH" wait "$two"
expect 'how often Slurm was asked' 1 "$(asked)"
grep -q -e '--nodes=1 .*--time=60 --exclusive --mem=0 --qos=low$' "$slurm/asked" || fail "asked: $(cat "$slurm/asked")"
"$BERTH" pilot auto | grep -q '^A node has 2 cores, 1 GPUs, ' || fail "learnt: $("$BERTH" pilot auto)"
expect 'nodes that are listed' 2 "$("$BERTH" nodes --json | grep -c '"name"')"

# A job that only fits on two such nodes waits for a pilot of two; one that fits on none asks for none, and says so.
wide=$("$BERTH" submit -t 5m -N 2 -n 4 sh -c 'until [ -e go ]; do sleep 0.1; done')
expect_status 0 "$BERTH" explain "$wide"
grep -q 'A pilot is to be asked for' out || fail "explain: $(cat out)"
long=$("$BERTH" submit -t 2h -c 2 true)
expect_status 0 "$BERTH" explain "$long"
grep -q 'No pilot can run it: it may run for longer than the 58m that a pilot has for jobs.' out ||
    fail "explain: $(cat out)"
expect_status 1 "$BERTH" submit -t 5m -c 3 true

# It takes of the budget what it was asked for, though it has hardly been there: two nodes, for ten minutes at least and two
# more. The first one may have been given back by then.
await_state "$wide" running
expect_status 0 "$BERTH" pilot auto slurm --max-nodes 6 --time 1h --budget 3 --dry-run
grep -q '; [01]\.4 of 3 hours of nodes used.$' out || fail "budget: $(cat out)"
touch go
expect_status 0 "$BERTH" wait "$wide"
expect 'what the second ask was' --nodes=2 "$(sed -n '2s/.*\(--nodes=[0-9]*\).*/\1/p' "$slurm/asked")"
"$BERTH" jobs | grep -q 'no pilot: its time' || fail "jobs: $("$BERTH" jobs)"

# Idle ones are given back, all of them, and nothing else is asked for.
no_pilots() {
    [ "$(pilots)" = 0 ]
}
await 'idle pilots to be given back' no_pilots
expect 'jobs of Slurm that were cancelled' 2 "$(wc -l <"$slurm/cancelled")"
expect 'how often Slurm was asked' 2 "$(asked)"

# The rule outlives the server, until it is ended; what may come goes with it.
crash
expect_status 0 "$BERTH" server start
"$BERTH" pilot auto | grep -q '^Pilots of up to 1h, 3 nodes at most' || fail "a rule after a restart: $("$BERTH" pilot auto)"
expect_status 0 "$BERTH" pilot auto off
expect_status 0 "$BERTH" pilot auto
expect 'no rule' 'No pilots are asked for: there is no rule.' "$(cat out)"
expect_status 1 "$BERTH" submit -t 5m -N 2 true
expect_status 0 "$BERTH" cancel "$one"

finish
