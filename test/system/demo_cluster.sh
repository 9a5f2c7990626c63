#!/bin/sh
# What `make demo-cluster` shows: jobs of all kinds ran on the nodes that Slurm lent, and nothing is left of it.
. "$BERTH_SOURCE/test/slurm.sh"
TMPDIR=$scratch
export TMPDIR
unset BERTH_DIR
timeout $((PATIENCE * 5)) sh "$BERTH_SOURCE/scripts/demo_cluster.sh" "$BERTH_BUILD" picture.svg >"$scratch/out" 2>"$scratch/err"
status=$?
grep -q 'Slurm does not come up' "$scratch/err" && skip "$(cat "$scratch/err")"
expect 'its status' 0 $status
expect 'nodes of the wide job' 'task 0 on n1,task 1 on n2,task 2 on n3,task 3 on n4,' "$(grep '^task ' "$scratch/out" | tr '\n' ',')"
expect 'members of a gang' 2 "$(grep -c '^member [01] of 2 on n[1-4], all meet at ' "$scratch/out")"
grep -q '^berth submit: .*asks for 9 nodes' "$scratch/out" || fail 'it does not say that a job asks for more than is there'
expect 'lines of the history' 6 "$(sed -n '/berth history/,$p' "$scratch/out" | grep -c -E ' (done|cancelled) ')"
for node in n1 n2 n3 n4; do
    grep -q ">$node<" "$scratch/picture.svg" || fail "the picture does not name $node"
done
expect 'what is too wide for a terminal' '' "$(grep -v '^berth submit: \|^The picture' "$scratch/out" | awk 'length > 80')"
pgrep -f "$scratch/tmp[^ ]*/slurm" >/dev/null && fail "something is left: $(pgrep -af "$scratch/tmp")"
expect 'folders that are left' '' "$(find "$scratch" -mindepth 1 -type d)"
finish
