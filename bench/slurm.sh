# shellcheck shell=sh disable=SC2034 # slurm_why is for who reads this
# A Slurm of one node and its munge, in a folder of their own and on ports of their own: what is configured on the machine
# is neither read nor touched. Needs root and Debian's slurmctld, slurmd, slurm-client and munge. To be read with '.'.
#
# Slurm takes up to a second to see that a job's processes are gone, so with the machine's own 2 cores it ends 2 jobs a second.
# It is told of more cores than there are, so that this is not what is measured.
slurm_cores=64

slurm_start() { # DIRECTORY: sets slurm_why and fails where it can't
    slurm_dir=$1
    slurm_pids=
    SLURM_CONF=$slurm_dir/slurm.conf
    export SLURM_CONF
    slurm_why='it needs root'
    [ "$(id -u)" = 0 ] || return 1
    for slurm_program in munged mungekey slurmctld slurmd sbatch sinfo; do
        slurm_why="$slurm_program is not installed"
        PATH=$PATH:/usr/sbin command -v $slurm_program >/dev/null || return 1
    done
    mkdir -p "$slurm_dir/state" "$slurm_dir/spool"
    slurm_host=$(uname -n | cut -d. -f1)
    cat >"$SLURM_CONF" <<END
ClusterName=bench
SlurmctldHost=$slurm_host(127.0.0.1)
SlurmctldPort=26817
SlurmdPort=26818
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$slurm_dir/munge.socket
CredType=cred/munge
StateSaveLocation=$slurm_dir/state
SlurmdSpoolDir=$slurm_dir/spool
SlurmctldPidFile=$slurm_dir/slurmctld.pid
SlurmdPidFile=$slurm_dir/slurmd.pid
SlurmctldLogFile=$slurm_dir/slurmctld.log
SlurmdLogFile=$slurm_dir/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,default_queue_depth=1000
SlurmdParameters=config_overrides
EpilogMsgTime=0
ReturnToService=2
NodeName=$slurm_host NodeAddr=127.0.0.1 CPUs=$slurm_cores State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
END
    mungekey --create --keyfile="$slurm_dir/munge.key"
    slurm_run munged --foreground --force --key-file="$slurm_dir/munge.key" --num-threads=2 \
        --socket="$slurm_dir/munge.socket" --pid-file="$slurm_dir/munge.pid" \
        --log-file="$slurm_dir/munge.log" --seed-file="$slurm_dir/munge.seed"
    slurm_run slurmctld -D -f "$SLURM_CONF"
    slurm_run slurmd -D -f "$SLURM_CONF"
    slurm_why='it does not come up'
    slurm_tries=0
    until [ "$(sinfo -h -o %T 2>/dev/null)" = idle ]; do
        slurm_tries=$((slurm_tries + 1))
        [ $slurm_tries -lt 100 ] || return 1
        sleep 0.2
    done
}

slurm_run() {
    PATH=$PATH:/usr/sbin "$@" >>"$slurm_dir/said" 2>&1 &
    slurm_pids="$slurm_pids $!"
}

slurm_stop() {
    for slurm_pid in ${slurm_pids:-}; do
        if kill "$slurm_pid" 2>/dev/null; then wait "$slurm_pid" 2>/dev/null || true; fi
    done
    slurm_pids=
}
