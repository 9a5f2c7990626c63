# A Slurm that is a folder: `. "$BERTH_SOURCE/test/system/fake_slurm.sh"` puts its commands first in PATH.
#
# Its nodes are f1, f2, ... on this host. They come in the order of $slurm/order, numbers, all after the first only once
# $slurm/hold is gone. What it does wrong is written into $slurm/mood: refuse, silent, or late (the job is
# there, but sbatch says that it does not know). Each node has an own, empty folder in the place of the one that $slurm/apart names;
# $slurm/unshare has the command for that. What sinfo says is in $slurm/sinfo; without it sinfo fails. No
# node comes while there is $slurm/never.
# shellcheck shell=sh disable=SC2154
slurm=$scratch/slurm
mkdir -p "$slurm/bin"
PATH=$slurm/bin:$PATH
SLURM_CONF=$slurm/slurm.conf
export PATH SLURM_CONF
: >"$SLURM_CONF"

# power_loss PILOT JOB NODE: all that runs on a node is killed at once: agent, keeper, and jobs
power_loss() {
    watcher=$(cat "$slurm/agent.$2.$3")
    secret=$(b2sum -l 128 <"$BERTH_DIR/pilots/$1/key" | cut -d' ' -f1)
    pids="$watcher $(pgrep -P "$watcher") $(pgrep -f "^berth-keeper .*/berth-$1-$3-$secret")
        $(grep -lzxF "BERTH_DIR=$BERTH_DIR" /proc/[0-9]*/environ 2>/dev/null | xargs grep -lzxF "BERTH_NODE=$3" 2>/dev/null | cut -d/ -f3)"
    # shellcheck disable=SC2086
    kill -STOP $pids 2>/dev/null
    # shellcheck disable=SC2086
    kill -9 $pids 2>/dev/null
}

cat >"$slurm/bin/sbatch" <<END
#!/bin/sh
slurm=$slurm
END
cat >>"$slurm/bin/sbatch" <<'END'
mood=$(cat "$slurm/mood" 2>/dev/null)
case $mood in
refuse)
    echo 'sbatch: error: invalid partition specified: nowhere' >&2
    exit 1
    ;;
esac
echo "$*" >>"$slurm/asked"
env >"$slurm/environment"
nodes=1
for word; do
    case $word in
    --nodes=*) nodes=${word#*=} ;;
    --output=*) log=${word#*=} ;;
    --comment=*) comment=${word#*=} ;;
    esac
done
id=$(($(cat "$slurm/last" 2>/dev/null || echo 100) + 1))
echo $id >"$slurm/last"
echo "$comment" >"$slurm/comment.$id"
echo "f[1-$nodes]" >"$slurm/nodes.$id"
cat >"$slurm/script.$id"
SLURM_JOB_ID=$id SLURM_NNODES=$nodes SLURM_CPUS_ON_NODE=2 CUDA_VISIBLE_DEVICES=GPU-$id \
    setsid sh "$slurm/script.$id" >>"$log" 2>&1 </dev/null &
echo $! >"$slurm/new.$id"
mv "$slurm/new.$id" "$slurm/pid.$id" # squeue takes a job whose number is not written yet for one that is over
if [ "$mood" = late ]; then
    echo 'sbatch: error: Batch job submission failed: Socket timed out on send/recv operation' >&2
    exit 1
fi
echo $id
END
cat >"$slurm/bin/srun" <<END
#!/bin/sh
slurm=$slurm
END
cat >>"$slurm/bin/srun" <<'END'
# A task on each node: the last three words, or two, begin with the program's path.
while [ "${1#/}" = "$1" ]; do shift; done
pids=
trap 'kill $pids 2>/dev/null' TERM
while [ -e "$slurm/never" ]; do sleep 0.05; done
for i in $(cat "$slurm/order" 2>/dev/null || seq "$SLURM_NNODES"); do
    if [ -e "$slurm/apart" ]; then
        # shellcheck disable=SC2016,SC2046  # for the inner shell; the words of unshare
        SLURMD_NODENAME=f$i $(cat "$slurm/unshare") sh -c 'mount -t tmpfs none "$0" && exec "$@"' "$(cat "$slurm/apart")" "$@" &
    else
        SLURMD_NODENAME=f$i "$@" &
    fi
    pids="$pids $!"
    echo $! >"$slurm/agent.$SLURM_JOB_ID.f$i"
    while [ -e "$slurm/hold" ]; do sleep 0.05; done
done
for pid in $pids; do
    while kill -0 "$pid" 2>/dev/null; do wait "$pid"; done
done
END
cat >"$slurm/bin/squeue" <<END
#!/bin/sh
slurm=$slurm
END
cat >>"$slurm/bin/squeue" <<'END'
# In the form that pilots are asked for in. What $slurm/queue.ID has counts in place of what is so: a state, nodes, an
# end, or "unknown". $slurm/mood: silent, it fails.
[ "$(cat "$slurm/mood" 2>/dev/null)" = silent ] && exit 1
for file in "$slurm"/pid.*; do
    [ -e "$file" ] || continue
    id=${file##*.}
    kill -0 "$(cat "$file")" 2>/dev/null && state=RUNNING || state=COMPLETED
    nodes= end=N/A
    [ -e "$slurm/queue.$id" ] && read -r state nodes end <"$slurm/queue.$id"
    [ "$state" = unknown ] && continue
    echo "$id|$state|N/A|${end:-N/A}|${nodes:-$(cat "$slurm/nodes.$id")}|$(cat "$slurm/comment.$id")|None"
done
END
cat >"$slurm/bin/sinfo" <<END
#!/bin/sh
echo "\$*" >>$slurm/sinfo.asked
exec cat $slurm/sinfo
END
cat >"$slurm/bin/scontrol" <<'END'
#!/bin/sh
echo "JobId=$4 StartTime=x EndTime=$(date -d '+1 hour' +%Y-%m-%dT%H:%M:%S) Deadline=N/A"
END
cat >"$slurm/bin/scancel" <<END
#!/bin/sh
echo "\$1" >>$slurm/cancelled
kill "\$(cat $slurm/pid.\$1)"
END
chmod +x "$slurm/bin/"*
