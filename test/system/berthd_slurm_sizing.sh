#!/bin/sh
# A rule on a private Slurm that has less than the rule may ask for: one pilot until it is known what a node has, then as many as
# what waits can use, never more than it may; and all are given back.
. "$BERTH_SOURCE/test/slurm.sh"
slurm_up 3 4
machine 1
expect_status 0 "$BERTH" server start
expect_status 0 "$BERTH" drain node0 # all runs on nodes that are lent
sbatch -Q -w n3 --exclusive -t 20 -o /dev/null --wrap 'sleep 1000'

# One that was asked for by hand waits, and a job for it: for which, and until when as far as Slurm knows.
expect_status 0 "$BERTH" pilot add slurm --time 10m -- -w n3
waits=$("$BERTH" submit -t 1m -o /dev/null true)
is_explained() {
    "$BERTH" explain "$waits" | grep -q 'What it waits for may come with pilot 1, which Slurm has been asked for and does not start yet: Resources; Slurm expects it to start in '
}
await 'the wait to be explained' is_explained
expect_status 0 "$BERTH" cancel "$waits"
expect_status 0 "$BERTH" pilot remove 1
await 'it to be gone' no_pilots

# The first comes alone; of the others one waits for the node that somebody else has.
members=$("$BERTH" submit -t 15m --array 12 -o /dev/null sh -c 'while [ ! -e stop ]; do sleep 0.1; done')
expect_status 0 "$BERTH" pilot auto slurm --max-nodes 3 --time 30m --idle 2s
running() { # MEMBERS
    "$BERTH" show "$members" | grep -q "^summary .*$1 running"
}
await 'the members that have room' running 8
await 'one to wait at Slurm' sh -c "squeue -h -t PD -n berth-pilot | grep -q ."
is_told() {
    "$BERTH" pilot list | grep -q 'queued .*PENDING'
}
await 'the list to say so' is_told
"$BERTH" explain "$members" | grep -q 'pilot' || fail "why the others wait: $("$BERTH" explain "$members")"
expect 'nodes asked for' 3 "$(squeue -h -t PD,R -n berth-pilot -o %D | awk '{ n += $1 } END { print n }')"

# Nothing waits any more.
touch stop
expect_status 0 "$BERTH" wait "$members"
await 'all to be given back' no_pilots
slurm_is_empty() {
    [ -z "$(squeue -h -n berth-pilot)" ]
}
await 'their jobs to be over' slurm_is_empty
finish
