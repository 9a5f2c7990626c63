# shellcheck shell=sh
# A private Slurm of several nodes on this host, as any user: to be read with '.'. Nothing outside of its folder is written,
# and what is configured on the machine is not read. Needs slurmctld, slurmd, slurm-client and munge.

# cluster_start DIRECTORY NODES CPUS: nodes n1, n2, ...; exports SLURM_CONF
cluster_start() {
    cluster_dir=$1
    cluster_pids=
    PATH=$PATH:/usr/sbin
    SLURM_CONF=$cluster_dir/slurm.conf
    export PATH SLURM_CONF
    for cluster_program in munged slurmctld slurmd sbatch; do
        command -v $cluster_program >/dev/null || {
            echo "$cluster_program is not installed" >&2
            return 1
        }
    done
    mkdir -p "$cluster_dir/state" || return 1
    cluster_host=$(uname -n | cut -d. -f1)
    cluster_user=$(id -un)
    # Ports that nobody listens on now, below those that connections get.
    cluster_port=$(awk -v want=$(($2 + 1)) -v seed=$$ '
        FNR > 1 { split($2, at, ":"); used[at[2]] = 1 }
        END { for (try = 0; try < 100; try++) {
            first = 11000 + (seed * 131 + try * 397) % 19000
            for (i = 0; i < want && !(sprintf("%04X", first + i) in used); i++);
            if (i == want) { print first; exit } } }' /proc/net/tcp)
    cat >"$SLURM_CONF" <<END
ClusterName=demo
SlurmctldHost=$cluster_host(127.0.0.1)
SlurmctldPort=$cluster_port
SlurmUser=$cluster_user
SlurmdUser=$cluster_user
AuthType=auth/munge
AuthInfo=socket=$cluster_dir/munge.socket
CredType=cred/munge
StateSaveLocation=$cluster_dir/state
SlurmdSpoolDir=$cluster_dir/%n
SlurmctldPidFile=$cluster_dir/slurmctld.pid
SlurmdPidFile=$cluster_dir/%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,bf_interval=1,default_queue_depth=10000
MaxArraySize=20001
MaxJobCount=30000
SlurmdParameters=config_overrides
CommunicationParameters=NoAddrCache,NoCtldInAddrAny,NoInAddrAny
KillWait=2
ReturnToService=2
NodeName=n[1-$2] NodeHostname=$cluster_host NodeAddr=127.0.0.1 Port=[$((cluster_port + 1))-$((cluster_port + $2))] CPUs=$3 RealMemory=2048
PartitionName=all Nodes=ALL Default=YES DefMemPerCPU=$((2048 / $3)) State=UP
END
    echo CgroupPlugin=autodetect >"$cluster_dir/cgroup.conf"
    head -c 128 /dev/urandom >"$cluster_dir/munge.key"
    chmod 400 "$cluster_dir/munge.key"
    cluster_run munged --foreground --force --key-file="$cluster_dir/munge.key" --num-threads=2 \
        --socket="$cluster_dir/munge.socket" --pid-file="$cluster_dir/munge.pid" \
        --log-file="$cluster_dir/munge.log" --seed-file="$cluster_dir/munge.seed"
    cluster_run slurmctld -D -f "$SLURM_CONF"
    cluster_node=0
    while [ $cluster_node -lt "$2" ]; do
        cluster_node=$((cluster_node + 1))
        mkdir -p "$cluster_dir/n$cluster_node"
        cluster_run slurmd -D -N n$cluster_node -f "$SLURM_CONF"
    done
    cluster_tries=0
    until [ "$(sinfo -h -t idle -o %D 2>/dev/null)" = "$2" ]; do
        cluster_tries=$((cluster_tries + 1))
        [ $cluster_tries -lt 300 ] || {
            echo "Slurm does not come up: $(tail -n 1 "$cluster_dir/said")" >&2
            return 1
        }
        sleep 0.2
    done
}

cluster_run() {
    "$@" >>"$cluster_dir/said" 2>&1 &
    cluster_pids="$cluster_pids $!"
}

cluster_stop() {
    for cluster_pid in ${cluster_pids:-}; do
        if kill "$cluster_pid" 2>/dev/null; then wait "$cluster_pid" 2>/dev/null || true; fi
    done
    cluster_pids=
}
