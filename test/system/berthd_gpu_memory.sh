#!/bin/sh
# Parts of GPUs, by a library that stands in for NVIDIA's: who shares one, what its job is told, and that a server that was
# killed gives out no more than there is.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
LD_LIBRARY_PATH=$GPU_LIBRARY${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
STAND_IN_GPUS='GPU-aaaa=NVIDIA A100-SXM4-40GB@40960;GPU-bbbb=NVIDIA A100-SXM4-40GB@40960'
export LD_LIBRARY_PATH STAND_IN_GPUS
unset CUDA_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES
"$BERTH" server start >out 2>&1 || fail "start: $(cat out)"
[ "$(nproc)" -ge 2 ] || skip "one core"

tell='echo "$CUDA_VISIBLE_DEVICES $BERTH_GPU_MEMORY $CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"'
mkfifo gate
one=$("$BERTH" submit --gpu-memory 24G -o "$scratch/one" sh -c "$tell; cat $scratch/gate")
await_state "$one" running
await 'the first has told' test -s one
shared=$(cut -d' ' -f1 one)
expect 'the first' "$shared 24576 0=24576M" "$(cat one)"
# Another part fits on the same GPU, a whole one is the other.
expect 'the second' "$shared 16384 0=16384M" "$("$BERTH" run --gpu-memory 16G sh -c "$tell")"
whole=$("$BERTH" run -g 1 sh -c "$tell")
expect 'a whole one is told of no part' "${whole%% *}  " "$whole"
[ "${whole%% *}" != "$shared" ] || fail "a whole GPU is one that is shared: $whole"
expect 'of each of two' 'GPU-aaaa,GPU-bbbb 8192 0=8192M,1=8192M' \
    "$("$BERTH" run -g 2 --gpu-memory 8G sh -c "$tell")"

# What is held: a part is no GPU.
expect 'how much of one, in a list' 24G "$("$BERTH" jobs --no-header "$one" | awk '{ print $8 }')"
expect 'in bytes' 25769803776 "$("$BERTH" jobs --no-header -o gpu_memory "$one" | tr -d ' ')"
api GET /metrics >metrics
for line in 'berth_gpus_used 0' 'berth_gpu_memory_bytes 85899345920' 'berth_gpu_memory_used_bytes 25769803776'; do
    grep -qx "$line" metrics || fail "metrics have no line '$line': $(grep gpu metrics)"
done
"$BERTH" resources >of_all
grep -q '^of gpus *24.0 of 80.0 GiB in use$' of_all || fail "resources: $(cat of_all)"
"$BERTH" nodes --json | tr -d ' \n' >nodes
grep -q '"gpus_used":0' nodes || fail "GPUs in use: $(cat nodes)"
grep -q '"gpu_memory_used":25769803776' nodes || fail "memory of GPUs in use: $(cat nodes)"

# Two whole ones wait for who has a part.
two=$("$BERTH" submit -g 2 true)
expect 'both whole' pending "$(state "$two")"
"$BERTH" cancel "$two" >out 2>&1 || fail "cancel: $(cat out)"

# The server is killed: the GPU is shared by the same job, and what is left is as much as before.
crash
"$BERTH" server start >out 2>&1 || fail "start again: $(cat out)"
expect 'the first, after that' running "$(state "$one")"
big=$("$BERTH" submit -g 2 --gpu-memory 17G true)
fits=$("$BERTH" submit -g 2 --gpu-memory 16G true)
await_state "$fits" done
again=$("$BERTH" resubmit "$fits")
await_state "$again" done
expect 'submitted again, the same of each of two' '17179869184 GPU-aaaa,GPU-bbbb' \
    "$(get "$again" gpu_memory) $("$BERTH" run -g 2 --gpu-memory 16G sh -c 'echo $CUDA_VISIBLE_DEVICES')"
expect 'more than is left' pending "$(state "$big")"
"$BERTH" explain "$big" | grep -q 'GPU memory' || fail "explain: $("$BERTH" explain "$big")"
expect_status 0 "$BERTH" update --gpu-memory 16G "$big"
await_state "$big" done
echo >gate
await_state "$one" done

# A part becomes whole ones, and the other way round, when it is submitted again or changed while it waits.
part=$("$BERTH" submit --gpu-memory 4G --hold -o "$scratch/part" sh -c "$tell")
again=$("$BERTH" resubmit -g 1 "$part")
await_state "$again" done
expect 'whole' '1 null' "$(get "$again" gpus) $(get "$again" gpu_memory | grep . || echo null)"
again=$("$BERTH" resubmit -g 2 --gpu-memory 5G "$again")
await_state "$again" done
expect 'parts of two' 5368709120 "$(get "$again" gpu_memory)"
expect_status 0 "$BERTH" update -g 2 "$part"
expect_status 0 "$BERTH" release "$part"
await_state "$part" done
expect 'whole ones, changed' '2 GPU-aaaa,GPU-bbbb' "$(get "$part" gpus) $(cut -d' ' -f1 part)"

# What can't be.
expect_status 1 "$BERTH" submit --gpu-memory 41G true
expect_status 1 "$BERTH" submit --gpu-memory 1G -x true
expect_status 2 "$BERTH" submit --gpu-memory much true
cat >script.sh <<'END'
#!/bin/sh
#BERTH --gpu-memory 2G
echo "$BERTH_GPU_MEMORY"
END
of_script=$("$BERTH" submit -o "$scratch/of_script" ./script.sh)
await_state "$of_script" done
expect 'a line of a script' 2048 "$(cat of_script)"

# Nothing is known of the memory.
expect_status 0 "$BERTH" server stop
STAND_IN_GPUS='GPU-aaaa=NVIDIA A100'
"$BERTH" server start >out 2>&1 || fail "start: $(cat out)"
expect_status 1 "$BERTH" submit --gpu-memory 1G true
grep -q "nothing is known of the memory of this machine's GPUs" err || fail "unknown: $(cat err)"
finish
