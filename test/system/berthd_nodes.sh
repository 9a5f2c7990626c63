#!/bin/sh
# The nodes of a machine: what jobs hold of each, and which of them may be used.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
mkdir -p "$BERTH_DIR"
cat >"$BERTH_DIR/berth.yaml" <<'END'
resources: {nodes: 4, cores: 8, gpus: 2, memory: 4}
server: {imagined: yes}
match: {policy: low}
queues: {batch: {policy: easy}, spare: {policy: easy, preemptible: requeue}}
default-queue: batch
END
# row NODE: its line, one blank between words
row() {
    "$BERTH" nodes | awk -v node="$1" '$1 == node { $1 = $1; print }'
}
expect_status 0 "$BERTH" server start
expect idle 'node0 up 0 0/8 0/2 0.0/4.0G' "$(row node0)"
expect_status 0 "$BERTH" nodes
expect lines 5 "$(wc -l <out)"

# From two to three nodes, as many as are free; each has as much as each of two would have.
expect_status 0 "$BERTH" run -N 2-3 -n 2 -c 2 --mem 2G sh -c 'echo $BERTH_TASK_INDEX of $BERTH_TASKS on $BERTH_NODE of $BERTH_NODES: $BERTH_CORES $BERTH_MEM'
expect "tasks on three nodes" "0 of 3 on node0 of node[0-2]: 6 3221225472
1 of 3 on node1 of node[0-2]: 6 3221225472
2 of 3 on node2 of node[0-2]: 6 3221225472" "$(sort out)"
full=$("$BERTH" submit -N 2 sleep 1000)
await_state "$full" running
printf '#!/bin/sh\n#SBATCH -N 1-3\necho "$SLURM_NTASKS on $SLURM_JOB_NODELIST of $SLURM_JOB_NUM_NODES"\n' >range.sh
expect_status 0 "$BERTH" run range.sh
expect_line out '2 on node[2-3] of 2'
again=$("$BERTH" resubmit "$("$BERTH" jobs -a --no-header -o id last | tr -d ' ')")
expect_status 0 "$BERTH" wait "$again"
expect_status 0 "$BERTH" log "$again"
expect_line out '2 on node[2-3] of 2'
expect_status 0 "$BERTH" cancel "$full"
for wrong in 3-2 2- -3 0-3 2-3x 2-3-4; do
    expect_status 2 "$BERTH" submit -N "$wrong" true
    expect_err "berth submit: --nodes is '$wrong', expected a number of nodes from 1 on, or a range such as 2-4; see 'berth submit --help'"
done
expect_status 1 "$BERTH" submit -N 2-3 -n 3 true
expect_err 'berth submit: key "tasks": expected as many on each node, of which there may be more'
expect_status 1 "$BERTH" submit -N 2-3 --gang 2 true
expect_err 'berth submit: key "nodes_max": expected none: members of a gang are alike, got 3'
await_state "$full" cancelled

# Nodes are picked as Flux's users type it, also in a script of theirs.
runs_on() { # CONSTRAINT NODE
    expect_status 0 "$BERTH" run -N 1 --requires "$1" -- sh -c 'echo $BERTH_NODES'
    expect "$1" "$2" "$(cat out)"
}
runs_on 'host:node2' node2
runs_on '!(host:node[0,2] | rank:3)' node1
runs_on 'rank:0-1 & -rank:0' node1
runs_on 'not rank:0-2' node3
printf '#!/bin/sh\n#flux: -N1 -n1 --requires=rank:2\necho $BERTH_NODES\n' >picks
expect_status 0 "$BERTH" run ./picks
expect "of a script" node2 "$(cat out)"
expect_status 1 "$BERTH" run --requires '!host:node[0-3]' true
expect_err 'berth run: unsatisfiable: asks for 1 node, 0 are as it requires'
expect_status 2 "$BERTH" run --requires 'a|(b' true
expect_err "berth run: --requires is 'a|(b', offset 4: expected ')', found the end; see 'berth run --help'"

# A part of the first node, and two nodes as a whole.
one=$("$BERTH" submit -c 3 -g 1 --mem 1G -t 1h sleep 1000)
two=$("$BERTH" submit -N 2 -x -t 1h sleep 1000)
await_state "$one" running
await_state "$two" running
expect "a part" 'node0 up 1 3/8 1/2 1.0/4.0G' "$(row node0)"
expect "as a whole" 'node1 up 1 8/8 2/2' "$(row node1 | cut -d ' ' -f 1-5)"
expect "the other" 'node3 up 0 0/8 0/2 0.0/4.0G' "$(row node3)"

each() { # KEY: of all nodes
    sed -n "s/.*\"$1\": *\([0-9]*\).*/\1/p" out | tr '\n' ' ' | sed 's/ $//'
}
expect_status 0 "$BERTH" drain node3 new disk
# A job that may be stopped for others: what it holds is accessible, beside what is idle.
spare=$("$BERTH" submit -q spare -c 2 -t 1h sleep 1000)
await_state "$spare" running
expect_status 0 "$BERTH" drain --down node2/core0
expect drained 'node3 drained 0 0/8 0/2 0.0/4.0G new disk' "$(row node3)"
expect "of a core" partly "$(row node2 | cut -d ' ' -f 2)"
expect_status 0 "$BERTH" nodes --json
expect "cores down" '0 0 1 8' "$(each cores_down)"
expect "idle cores" '3 0 0 0' "$(each cores_idle)"
expect "cores of jobs that may be stopped" '2 0 0 0' "$(each cores_backfilled)"
expect "accessible cores" '5 0 0 0' "$(each cores_accessible)"
expect "accessible GPUs" '1 0 0 0' "$(each gpus_accessible)"
# Members that their gang needs are not to be stopped.
gang=$("$BERTH" submit -q spare --gang 2 -c 1 -t 1h sleep 1000)
await_state "$gang" running
expect_status 0 "$BERTH" nodes --json
expect "idle beside a gang" '1 0 0 0' "$(each cores_idle)"
expect "of which nobody may be stopped" '2 0 0 0' "$(each cores_backfilled)"
expect_status 0 "$BERTH" resume node3
expect resumed 'node3 up' "$(row node3 | cut -d ' ' -f 1-2)"
expect_status 2 "$BERTH" nodes node0
finish
