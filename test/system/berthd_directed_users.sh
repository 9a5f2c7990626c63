#!/bin/sh
# Directed jobs on a private Slurm that is root's, for other users: they are these users', in Slurm's books too, and have GPUs of
# their own.
[ "$(id -u)" -eq 0 ] || {
    echo 'skipped: not root'
    exit 77
}
. "$BERTH_SOURCE/test/slurm.sh"
LAB_GPUS=2 slurm_up 2 4
chmod 755 "$scratch"
mkdir -m 777 theirs
cd theirs || exit 1
slurm_rules
nobody() {
    setpriv --reuid=nobody --regid=nogroup --clear-groups env HOME=/nonexistent "$@"
}

# Whose the job is, on its node and at Slurm, and whose its output is.
expect_status 0 nobody "$BERTH" run -t 1m id -un
expect 'who it is' nobody "$(cat "$scratch/out")"
job=$(nobody "$BERTH" submit -t 1m -o output sh -c 'touch begun; sleep 1000')
await 'it to begin' test -e begun
expect 'the user at Slurm, and the job' "nobody job $job" "$(squeue -h -t R -n berth-run -o '%u %k' | sed 's/berth:[0-9a-f]*:[0-9]* //')"
expect 'whose output' nobody "$(stat -c %U output)"
expect_status 1 setpriv --reuid=daemon --regid=nogroup --clear-groups "$BERTH" cancel "$job"
expect_status 0 nobody "$BERTH" cancel "$job"
await_state "$job" cancelled
slurm_is_empty() {
    [ -z "$(squeue -h)" ]
}
await 'it to be over at Slurm' slurm_is_empty

# Four jobs at a time have each a GPU of its own; a fifth waits. With two nodes there are tasks of this user on both.
# shellcheck disable=SC2016
gpus=$(nobody "$BERTH" submit -t 1m -g 1 -c 1 --array 0-4 -o gpu.%a sh -c 'echo "$BERTH_NODE $CUDA_VISIBLE_DEVICES"; while [ ! -e go ]; do sleep 0.05; done')
have_begun() {
    [ "$(cat gpu.? 2>/dev/null | wc -l)" -ge 4 ]
}
await 'four to begin' have_begun
expect 'their GPUs' 'n1 0 n1 1 n2 0 n2 1' "$(sort gpu.? | xargs)"
nobody touch go
expect_status 0 "$BERTH" wait "$gpus"
# shellcheck disable=SC2016
expect_status 0 nobody "$BERTH" run -t 1m -N 2 -n 2 sh -c 'echo "$BERTH_NODE $(id -un)"'
expect 'tasks on two nodes' 'n1 nobody n2 nobody' "$(sort "$scratch/out" | xargs)"

# A limit of two seconds is that, though Slurm knows minutes.
expect_status 143 nobody "$BERTH" run -t 2s sleep 60
grep -q 'time limit' "$scratch/err" || fail "its limit: $(cat "$scratch/err")"

cd "$scratch" || exit 1
finish
