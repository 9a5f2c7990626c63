#!/bin/sh
# Pilots on a real Slurm: a private cluster of three nodes on loopback.
. "$BERTH_SOURCE/test/slurm.sh"
slurm_up 3 4
machine 1

# Slurm refuses a partition that is closed, in its own words.
expect_status 1 "$BERTH" pilot add slurm --partition closed
grep -q '^berth pilot: .*partition' err || fail "refused: $(cat err)"

# Two nodes of one job, and one of another.
add_pilot 2
add_pilot 1

# Each of 200 jobs runs once, on any of them, while the server is killed.
mkdir ran
# shellcheck disable=SC2016
array=$("$BERTH" submit -t 1m --array 200 -o /dev/null sh -c 'mkdir ran/$BERTH_ARRAY_INDEX && sleep 0.05')
sleep 0.5
crash
expect_status 0 "$BERTH" server start
expect_status 0 "$BERTH" wait "$array"
expect 'members that have run' 200 "$(find ran -mindepth 1 | wc -l)"

# Slurm's controller restarts: nobody notices.
lab bounce
expect_status 0 "$BERTH" run -t 1m -c 4 true

# Somebody cancels the job: what runs there is lost or comes again elsewhere, and the nodes leave.
lost=$("$BERTH" submit -t 5m -c 4 sleep 1000)
await_state "$lost" running
also=$("$BERTH" submit -t 5m -c 4 sleep 1000)
await_state "$also" running
more=$("$BERTH" submit -t 5m -c 4 sleep 1000)
await_state "$more" running
for job in $(squeue -h -n berth-pilot -o %A); do
    scancel "$job"
done
await_state "$lost" failed
await_state "$also" failed
await_state "$more" failed
await 'the pilots to be gone' no_pilots

# By a rule one comes for what waits here, and goes again. What a node has is said, so that the job is taken at all.
printf '%s\n' 'pilots: {max-nodes: 2, time: 15m, idle: 2s, node: {cores: 4}}' >>"$BERTH_DIR/berth.yaml"
expect_status 0 "$BERTH" server stop
expect_status 0 "$BERTH" server start
expect_status 0 "$BERTH" run -t 5m -c 4 true
await 'an idle pilot to be given back' no_pilots

finish
