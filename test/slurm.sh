# What tests over a private Slurm share: `. "$BERTH_SOURCE/test/slurm.sh"`, in place of test/daemon.sh. They are skipped where
# its packages are missing, and run in $scratch.
# shellcheck shell=sh
. "$BERTH_SOURCE/test/daemon.sh"

PATH=$PATH:/usr/sbin:/sbin
for program in munged slurmctld slurmd sbatch srun; do
    command -v "$program" >/dev/null || skip "no $program: it comes with slurmctld, slurmd, slurm-client, munge"
done
cd "$scratch" || exit 1
chmod 711 "$scratch" # jobs of Slurm's enter it

# lab VERB [NODE]: do something to the cluster
lab() {
    verb=$1
    shift
    "$BERTH_SHARED/slurm/lab" "$verb" "$scratch/lab" "$@" >/dev/null 2>&1
}

slurm_down() {
    lab stop
    clean_up
}
trap slurm_down EXIT

# slurm_up NODES CORES: a Slurm of nodes n1, n2, ... on loopback. LAB_GPUS: so many GPUs on each; LAB_LOST: seconds until one that
# is silent is lost.
slurm_up() {
    need_shared slurm/lab
    "$BERTH_SHARED/slurm/lab" start "$scratch/lab" "$1" "$2" >lab.env 2>lab.err ||
        skip "Slurm does not start: $(tail -n 1 lab.err)"
    # shellcheck disable=SC1091
    . ./lab.env
}

# slurm_rules [LINE]...: a server whose machine is Slurm's
slurm_rules() {
    mkdir -p "$BERTH_DIR"
    printf '%s\n' 'engine: slurm' 'server: {grace: 2s}' "$@" >"$BERTH_DIR/berth.yaml"
    expect_status 0 "$BERTH" server start
}

# add_pilot NODES [OPTION]...: sets `pilot`, and waits until they are up
add_pilot() {
    asked=$1
    shift
    expect_status 0 "$BERTH" pilot add slurm --nodes "$asked" --time 10m "$@"
    pilot=$(sed 's/^pilot \([0-9]*\),.*/\1/' out)
    await "$asked nodes" nodes_up "$asked"
}
nodes_up() { # NODES: of the latest pilot
    [ "$("$BERTH" pilot show "$pilot" | grep -c ' up ')" = "$1" ]
}
no_pilots() {
    [ "$("$BERTH" pilot list --json)" = '[]' ]
}
