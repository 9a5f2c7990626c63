#!/bin/sh
# GPUs of this machine, by a library that stands in for NVIDIA's: found, given out by name, asked for by type.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
LD_LIBRARY_PATH=$GPU_LIBRARY${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
STAND_IN_GPUS='GPU-aaaa=NVIDIA A100-SXM4-40GB;GPU-bbbb=NVIDIA A100-SXM4-40GB'
export LD_LIBRARY_PATH STAND_IN_GPUS
unset CUDA_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES

visible='echo "$CUDA_VISIBLE_DEVICES"'
expect_status 0 "$BERTH" run -g 1 sh -c "$visible"
expect_line out GPU-aaaa
"$BERTH" resources | grep -q '^gpus *0 of 2 in use$' || fail "resources: $("$BERTH" resources)"

# One that is held is in use; a job that asks for none sees none.
mkfifo gate
one=$("$BERTH" submit -g 1 -o "$scratch/one" sh -c "$visible; cat $scratch/gate")
await_state "$one" running
"$BERTH" resources | grep -q '^gpus *1 of 2 in use$' || fail "resources: $("$BERTH" resources)"
echo >gate
await_state "$one" done
expect "the first" GPU-aaaa "$(head -n 1 one)"
expect_status 0 "$BERTH" run sh -c 'echo "[$CUDA_VISIBLE_DEVICES]"'
expect_line out '[]'

# Each task has its own.
cores=$("$BERTH" resources | awk '$1 == "cores" { print $4 }')
if [ "$cores" -ge 2 ]; then
    expect_status 0 "$BERTH" run -n 2 -g 1 sh -c "$visible"
    expect "two tasks" 'GPU-aaaa GPU-bbbb' "$(sort out | tr '\n' ' ' | sed 's/ $//')"
fi
expect_status 0 "$BERTH" run -g 2 sh -c "$visible"
expect_line out GPU-aaaa,GPU-bbbb

# By type.
expect_status 0 "$BERTH" run -g a100:2 sh -c "$visible"
expect_line out GPU-aaaa,GPU-bbbb
expect_status 0 "$BERTH" run -g A100 sh -c "$visible"
expect_line out GPU-aaaa
expect_status 1 "$BERTH" submit -g h100:1 true
grep -q 'asks for 1 node' err || fail "of another type: $(cat err)"
for bad in a100: :2 a100:x -1 a100:-1; do
    expect_status 2 "$BERTH" submit -g "$bad" true
done
expect "a type without GPUs" 400 "$(http_status POST /v1/jobs -d '{"command": ["true"], "gpu_type": "a100"}')"

# A script of Slurm's, as torchrun is started in it.
cat >job.sh <<'END'
#!/bin/sh
#SBATCH --gres=gpu:a100:2
echo "$SLURM_GPUS_ON_NODE $CUDA_VISIBLE_DEVICES"
END
of_slurm=$("$BERTH" submit -o "$scratch/of_slurm" ./job.sh)
await_state "$of_slurm" done
expect "a script of Slurm's" '2 GPU-aaaa,GPU-bbbb' "$(cat of_slurm)"

# A server that may use one of them, in a job of another scheduler, say.
expect_status 0 "$BERTH" server stop
CUDA_VISIBLE_DEVICES=GPU-bbbb "$BERTH" server start >out 2>&1 || fail "start: $(cat out)"
"$BERTH" resources | grep -q '^gpus *0 of 1 in use$' || fail "resources: $("$BERTH" resources)"
expect_status 0 "$BERTH" run -g 1 sh -c "$visible"
expect_line out GPU-bbbb

# A divided one is its instances, with their own type.
expect_status 0 "$BERTH" server stop
model='NVIDIA A100-SXM4-40GB'
STAND_IN_GPUS="GPU-aaaa=$model|MIG-cccc=$model MIG 3g.20gb|MIG-dddd=$model MIG 3g.20gb"
"$BERTH" server start >out 2>&1 || fail "start: $(cat out)"
"$BERTH" resources | grep -q '^gpus *0 of 2 in use$' || fail "instances: $("$BERTH" resources)"
expect_status 0 "$BERTH" run -g 3g.20gb:1 sh -c "$visible"
expect_line out MIG-cccc
expect_status 0 "$BERTH" run -g a100:2 sh -c "$visible"
expect_line out MIG-cccc,MIG-dddd
expect_status 1 "$BERTH" submit -g 1g.5gb true

# Different ones: each job has those of its type, wherever they are in the list.
expect_status 0 "$BERTH" server stop
STAND_IN_GPUS="GPU-aaaa=$model|MIG-1111=$model MIG 1g.5gb|MIG-2222=$model MIG 3g.20gb@20096;GPU-bbbb=NVIDIA RTX 3090@24576"
"$BERTH" server start >out 2>&1 || fail "start: $(cat out)"
expect_status 0 "$BERTH" run -g 3g.20gb sh -c "$visible"
expect_line out MIG-2222
expect_status 0 "$BERTH" run -g 3090:1 sh -c "$visible"
expect_line out GPU-bbbb
expect_status 0 "$BERTH" run -g a100:2 sh -c "$visible"
expect_line out MIG-1111,MIG-2222
expect_status 0 "$BERTH" run -g 3090:1 --gpu-memory 4G sh -c "$visible"
expect_line out GPU-bbbb
expect_status 1 "$BERTH" submit -g 3090:2 true
expect_status 1 "$BERTH" submit -g 3g.20gb --gpu-memory 22G true
"$BERTH" nodes --json | grep -q gpu:3090 || fail "types: $("$BERTH" nodes --json)"
finish
