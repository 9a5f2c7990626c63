# A Slurm that is a folder and starts the jobs it is given: `. "$BERTH_SOURCE/test/system/fake_directed.sh"` puts its commands
# first in PATH.
#
# Its nodes are f1 and f2 on this host, with 2 cores, 1 GPU and 1000 MiB each. What is not as it should be is in files:
#
#     mood        of sbatch: refuse; late, the job is there, but sbatch does not know; lost, it is not there, and sbatch does
#                 not know; pending, the job waits for good; hang, there is no answer; together, there is none until three
#                 more have been asked for. away, of all: nobody is reached
#     stuck       squeue does not answer as long as this is there; it makes a file is_stuck
#     cores       how many each node has
#     busy        a list of nodes: jobs on it wait for good
#     never       a word of sbatch's: jobs that have it are refused
#     state.NODE  its state, and a reason
#     gone.NODE   Slurm has no such node
#     taken.NODE  how many CPUs others hold there, and how many MiB
#     job.ID      what squeue says of a job: a state, and a reason
# shellcheck shell=sh disable=SC2154
slurm=$scratch/slurm
mkdir -p "$slurm/bin"
PATH=$slurm/bin:$PATH
BERTH_SLURM_PACE=6 # what berth-slurm waits for takes so much less
SLURM_CONF=$slurm/none # no Slurm that this machine may know
: >"$SLURM_CONF"
export PATH BERTH_SLURM_PACE SLURM_CONF

for command in sbatch srun squeue scancel scontrol; do
    cat >"$slurm/bin/$command" <<END
#!/bin/sh
slurm=$slurm
END
    cat >>"$slurm/bin/$command" <<'END'
book() { # ID STATE: what squeue says, which a reader has whole
    echo "$2" >"$slurm/new.$1"
    mv "$slurm/new.$1" "$slurm/job.$1"
}
unheard() {
    echo "${0##*/}: error: Unable to contact slurm controller (connect failure)" >&2
    exit 1
}
END
done
cat >>"$slurm/bin/sbatch" <<'END'
mood=$(cat "$slurm/mood" 2>/dev/null)
echo "$*" >>"$slurm/asked"
case $mood in
refuse)
    echo 'sbatch: error: Batch job submission failed: Invalid account' >&2
    exit 1
    ;;
away) unheard ;;
hang) exec sleep 1000 ;;
together)
    while [ "$(wc -l <"$slurm/asked")" -lt $(($(cat "$slurm/before") + 3)) ]; do sleep 0.05; done
    ;;
esac
case " $* " in
*" $(cat "$slurm/never" 2>/dev/null || echo none) "*)
    echo 'sbatch: error: Batch job submission failed: Invalid qos specification' >&2
    exit 1
    ;;
esac
unsure() {
    echo 'sbatch: error: Batch job submission failed: Socket timed out on send/recv operation' >&2
    exit 1
}
[ "$mood" = lost ] && unsure
tasks=1 cpus=1 memory=0
for word; do
    case $word in
    --nodelist=*) nodes=${word#*=} ;;
    --comment=*) comment=${word#*=} ;;
    --ntasks-per-node=*) tasks=${word#*=} ;;
    --cpus-per-task=*) cpus=${word#*=} ;;
    --gres=*) gpus=0 ;;
    --mem=*M) memory=${word#*=} ;;
    esac
done
id=$(($(cat "$slurm/last" 2>/dev/null || echo 100) + 1))
until mkdir "$slurm/id.$id" 2>/dev/null; do id=$((id + 1)); done # several are asked for at a time
echo $id >"$slurm/last"
cat >"$slurm/script.$id"
case $nodes in
'f[1-2]') list='f1 f2' ;;
*) list=$nodes ;;
esac
echo "$list" >"$slurm/nodes.$id"
echo $((tasks * cpus)) "${memory%M}" >"$slurm/size.$id"
echo "$comment" >"$slurm/comment.$id"
if [ "$mood" = pending ] || [ "$(cat "$slurm/busy" 2>/dev/null)" = "$nodes" ]; then
    book "$id" 'PENDING Resources'
else
    book "$id" 'RUNNING None'
    (
        export SLURM_JOB_ID=$id SLURM_NODES="$list" SLURMD_NODENAME="${list%% *}" SLURM_PROCID=0
        [ -n "$gpus" ] && export CUDA_VISIBLE_DEVICES=GPU-of-slurm
        setsid sh "$slurm/script.$id" </dev/null >"$slurm/log.$id" 2>&1 &
        echo $! >"$slurm/pid.$id"
        wait $!
        code=$?
        echo $code >"$slurm/code.$id"
        exec 9>>"$slurm/lock"
        flock 9
        read -r state reason <"$slurm/job.$id"
        case $state-$code in
        COMPLETING-*) book "$id" 'CANCELLED None' ;;
        RUNNING-0) book "$id" 'COMPLETED None' ;;
        RUNNING-*) book "$id" 'FAILED NonZeroExitCode' ;;
        esac
    ) </dev/null >/dev/null 2>&1 &
fi
[ "$mood" = late ] && unsure
echo "$id;fake"
END
cat >>"$slurm/bin/srun" <<'END'
# One of what follows the options on each node.
while [ "${1#/}" = "$1" ]; do shift; done
for node in $SLURM_NODES; do
    SLURMD_NODENAME=$node "$@" &
    echo $! >>"$slurm/tasks.$SLURM_JOB_ID"
done
trap 'kill $(cat "$slurm/tasks.$SLURM_JOB_ID")' TERM
for pid in $(cat "$slurm/tasks.$SLURM_JOB_ID"); do
    wait "$pid"
    code=$?
    [ $code -gt "${worst:-0}" ] && worst=$code
done
exit "${worst:-0}"
END
cat >>"$slurm/bin/squeue" <<'END'
while [ -e "$slurm/stuck" ]; do
    touch "$slurm/is_stuck"
    sleep 0.1
done
[ "$(cat "$slurm/mood" 2>/dev/null)" = away ] && unheard
for file in "$slurm"/job.*; do
    [ -e "$file" ] || continue
    id=${file##*.}
    read -r state reason <"$file"
    echo "$id|$state|N/A|N/A|$(cat "$slurm/nodes.$id")|$(cat "$slurm/comment.$id")|$reason"
done
END
cat >>"$slurm/bin/scancel" <<'END'
[ "$(cat "$slurm/mood" 2>/dev/null)" = away ] && unheard
echo "$*" >>"$slurm/cancelled"
signal=
for id; do
    case $id in
    --batch) signal=batch && continue ;;
    --signal=USR1) signal=${signal:-steps} && continue ;;
    esac
    pids="$(cat "$slurm/pid.$id" 2>/dev/null) $(cat "$slurm/tasks.$id" 2>/dev/null)"
    case $signal in
    batch) kill -USR1 ${pids%% *} ;;
    steps) kill -USR1 $(cat "$slurm/tasks.$id") ;;
    *)
        (
            flock 9
            read -r state reason <"$slurm/job.$id"
            case $state in
            PENDING) book "$id" 'CANCELLED None' ;;
            RUNNING) book "$id" 'COMPLETING None' ;;
            esac
        ) 9>>"$slurm/lock"
        kill -TERM $pids
        ;;
    esac 2>/dev/null
done
exit 0
END
cat >>"$slurm/bin/scontrol" <<'END'
[ "$(cat "$slurm/mood" 2>/dev/null)" = away ] && unheard
case $* in
*partition*)
    echo 'PartitionName=batch Default=YES State=UP'
    echo 'PartitionName=other Default=NO State=UP'
    exit
    ;;
esac
cores=$(cat "$slurm/cores" 2>/dev/null || echo 2)
for node in f1 f2; do
    [ -e "$slurm/gone.$node" ] && continue
    state=IDLE reason=
    [ -e "$slurm/state.$node" ] && read -r state reason <"$slurm/state.$node"
    used=0 memory=0
    [ -e "$slurm/taken.$node" ] && read -r used memory <"$slurm/taken.$node"
    for file in "$slurm"/job.*; do
        [ -e "$file" ] || continue
        id=${file##*.}
        grep -q RUNNING "$file" && grep -qw "$node" "$slurm/nodes.$id" || continue
        read -r cpus mib <"$slurm/size.$id"
        used=$((used + cpus)) memory=$((memory + mib))
    done
    echo "NodeName=$node CoresPerSocket=$cores CPUAlloc=$used CPUTot=$cores ActiveFeatures=fast Gres=gpu:1 GresUsed=gpu:0" \
        "NodeAddr=127.0.0.1 RealMemory=1000 AllocMem=${memory:-0} Sockets=1 State=$state Partitions=batch,other Reason=$reason [root@now]"
done
echo 'NodeName=g1 CoresPerSocket=2 CPUTot=2 State=IDLE Sockets=1 Partitions=other'
END
chmod +x "$slurm/bin/"*

# A server whose machine this Slurm's is
directed_machine() {
    mkdir -p "$BERTH_DIR"
    printf '%s\n' 'engine: slurm' 'server: {grace: 2s}' >"$BERTH_DIR/berth.yaml"
}
