#!/bin/sh
# What pilots do on a Slurm that an ordinary user runs, as that user: root is another one here. What is asked of Slurm, what joins,
# what jobs get and see on a node, and that nothing is left.
if [ "$(id -u)" -eq 0 ] && setpriv --reuid=nobody --regid=nogroup --clear-groups test -x "$BERTH" 2>/dev/null; then
    HOME=/nonexistent exec setpriv --reuid=nobody --regid=nogroup --clear-groups sh "$0"
fi
. "$BERTH_SOURCE/test/slurm.sh"
LAB_GPUS=2 slurm_up 3 4
machine 1
expect_status 0 "$BERTH" server start
expect_status 0 "$BERTH" drain node0 # all runs on nodes that are lent

# What Slurm refuses, and what it would only let wait for ever.
expect_status 1 "$BERTH" pilot add slurm -- -p closed
grep -q '^berth pilot: .*inactive' err || fail "a closed partition: $(cat err)"
expect_status 1 "$BERTH" pilot add slurm --nodes 2 --time 10m -- -p tiny
grep -q '^berth pilot: Slurm would let it wait for ever: Partition' err || fail "a partition of one node: $(cat err)"
no_pilots || fail "refused, and listed: $("$BERTH" pilot list)"
expect 'jobs of Slurm' '' "$(squeue -h)"

# A job waits for a node. Then there are two: they have joined with all that they have.
first=$("$BERTH" submit -t 1m -o /dev/null true)
await 'it to wait' is_state "$first" pending
add_pilot 2 -- --gres=gpu:2
squeue -h -n berth-pilot -o '%k %D %l' | grep -qx 'berth:[0-9a-f]\{16\}:[0-9]* 2 10:00' || fail "asked of Slurm: $(squeue -n berth-pilot -o '%k %D %l')"
scontrol -o show job "$(squeue -h -n berth-pilot -o %A)" | grep -q ' Requeue=0 ' || fail 'Slurm may requeue it'
"$BERTH" pilot list | grep -q "^ *$pilot  up  *[0-9]*  *2  *2 " || fail "list: $("$BERTH" pilot list)"
expect 'nodes, cores and GPUs' 'n1 4 2 n2 4 2' "$("$BERTH" nodes | awk '$1 ~ /^n[12]$/ { split($4, c, "/"); split($5, g, "/"); print $1, c[2], g[2] }' | xargs)"
expect_status 0 "$BERTH" wait "$first"

# Input, output and status; tasks on both nodes; nothing of Slurm's in the environment but where it is configured.
expect 'its input' hello "$(echo hello | "$BERTH" run -t 1m cat)"
expect_status 7 "$BERTH" run -t 1m sh -c 'exit 7'
# shellcheck disable=SC2016
expect 'nodes of tasks' 'n1 n2' "$("$BERTH" run -t 1m -N 2 -n 2 sh -c 'echo $BERTH_NODE' | sort | xargs)"
expect 'what jobs see of Slurm' 'SLURM_CONF' "$("$BERTH" run -t 1m env | grep -E '^(SLURM|SLURMD|SRUN|SBATCH|PMI|PMIX)' | cut -d= -f1)"

# Who wants a step of Slurm's, names its job.
# shellcheck disable=SC2016
expect_status 0 "$BERTH" run -t 1m sh -c 'srun --jobid="$BERTH_SLURM_JOB" --overlap -N 1 -n 1 -w "$BERTH_NODE" sh -c "echo step on \$SLURMD_NODENAME for $BERTH_NODE"'
expect 'a step of its own' yes "$(sed 's/^step on \(n[12]\) for \1$/yes/' out)"

# Jobs that run at the same time have a GPU each.
# shellcheck disable=SC2016
gpus=$("$BERTH" submit -t 1m -g 1 -c 1 --array 0-3 -o gpu.%a sh -c 'echo "$BERTH_NODE $CUDA_VISIBLE_DEVICES"; while [ ! -e go ]; do sleep 0.02; done')
all_told() {
    [ "$(cat gpu.? | wc -l)" = 4 ]
}
await 'the four to run' all_told
touch go
expect_status 0 "$BERTH" wait "$gpus"
expect 'their GPUs' 'n1 0 n1 1 n2 0 n2 1' "$(sort gpu.? | xargs)"

# Each of 1,000 jobs runs once, and Slurm has had one.
# shellcheck disable=SC2016
many=$("$BERTH" submit -t 1m --array 1000 -o /dev/null sh -c "echo \$BERTH_ARRAY_INDEX >>ran")
expect_status 0 "$BERTH" wait "$many"
expect 'runs, and members' '1000 1000' "$(wc -l <ran) $(sort -u ran | wc -l)"
expect 'jobs of Slurm' 1 "$(squeue -h -t all | grep -c -v ' CA ')"

# What takes longer than the nodes are lent waits, and says why.
late=$("$BERTH" submit -t 20m true)
await 'it to wait' is_state "$late" pending
"$BERTH" explain "$late" | grep -q 'ends\|end' || fail "why it waits: $("$BERTH" explain "$late")"
expect_status 0 "$BERTH" cancel "$late"

# The secret is its user's, and nowhere else: not in arguments, environments, Slurm's records or logs.
expect 'who may read it' '600 700' "$(stat -c %a "$BERTH_DIR/pilots/$pilot/key" "$BERTH_DIR/pilots" | xargs)"
secret=$(od -An -tx1 -v "$BERTH_DIR/pilots/$pilot/key" | tr -d ' \n')
{
    cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ
    scontrol -o show job
    cat "$BERTH_DIR"/*.log "$BERTH_DIR"/pilots/*/*.log lab/log/*/log
} >public 2>/dev/null
grep -aiq "$secret" public && fail 'the secret is in public'
python3 - "$BERTH_DIR/pilots/$pilot/key" public <<'PYTHON' || fail 'the secret is in public, as bytes'
import sys
sys.exit(open(sys.argv[1], "rb").read() in open(sys.argv[2], "rb").read())
PYTHON

# Drained, the nodes take nothing new, and what runs there ends; then nothing is left, here or in Slurm.
long=$("$BERTH" submit -t 5m -o /dev/null sh -c 'touch begun; while [ ! -e stop ]; do sleep 0.05; done')
await 'it to begin' test -e begun
expect_status 0 "$BERTH" pilot drain "$pilot"
new=$("$BERTH" submit -t 1m -o /dev/null true)
"$BERTH" pilot list | grep -q "^ *$pilot  ending" || fail "drained: $("$BERTH" pilot list)"
touch stop
expect_status 0 "$BERTH" wait "$long"
expect 'what came after' pending "$(state "$new")"
expect_status 0 "$BERTH" pilot remove "$pilot"
await 'the pilot to be gone' no_pilots
slurm_is_empty() {
    [ -z "$(squeue -h -n berth-pilot)" ]
}
await 'its job to be over' slurm_is_empty
is_still() {
    ! pgrep -u "$(id -u)" -f "/berth-$pilot-n[12]|$BERTH_DIR/pilots/$pilot" >/dev/null
}
await 'agents and keepers to be gone' is_still
[ ! -e "$BERTH_DIR/pilots/$pilot" ] || fail "left: $(ls "$BERTH_DIR/pilots/$pilot")"
finish
