#!/bin/sh
# Nodes of pilots have different memory, and the server's own machine lists none: a job that asks for some gets a node that has it,
# also after a restart.
. "$BERTH_SOURCE/test/daemon.sh"
. "$BERTH_SOURCE/test/system/fake_slurm.sh"
cd "$scratch" || exit 1
TMPDIR=$scratch
export TMPDIR
machine 1

pilot=0
is_up() { # PILOT
    [ "$("$BERTH" pilot show "$1" | grep -c ' up ')" = 1 ]
}
where() { # OPTION...: of a job that asks for so much
    # shellcheck disable=SC2016
    "$BERTH" run -t 1m "$@" sh -c 'echo $BERTH_NODE' 2>&1
}

expect_status 1 "$BERTH" run --mem 500M true
grep -q "nothing is known of this machine's memory" err || fail "no memory: $(cat err)"
for mib in 1000 4000 2000; do
    sed -i "s/SLURM_CPUS_ON_NODE=2[A-Z_=0-9 ]* CUDA/SLURM_CPUS_ON_NODE=2 SLURM_MEM_PER_NODE=$mib CUDA/" "$slurm/bin/sbatch"
    pilot=$((pilot + 1))
    expect_status 0 "$BERTH" pilot add slurm --time 1h
    await "the node of pilot $pilot" is_up $pilot
done

# 100 MiB of each are the agent's own.
memory() { # MiB of each of them
    "$BERTH" nodes --json | sed -n 's/.*"name":"f1[^}]*"memory":\([0-9]*\).*/\1/p' | awk '{ print $1 / 1048576 }' | xargs
}
for when in first restarted; do
    expect "$when: memory" '900 3900 1900' "$(memory)"
    expect "$when: 3 GiB" f1.2 "$(where --mem 3G)"
    where --mem 100G | grep -q 'unsatisfiable: asks for .* of memory' || fail "$when: 100 GiB: $(where --mem 100G)"
    job=$("$BERTH" submit -t 10m --mem 3G sleep 1000)
    await_state "$job" running
    expect "$when: 1.5 GiB beside that" f1.3 "$(where --mem 1500M)"
    crash
    expect_status 0 "$BERTH" server start
    await 'the nodes' is_up 1
    await 'the nodes' is_up 2
    await 'the nodes' is_up 3
    expect "$when: 1.5 GiB beside what was found again" f1.3 "$(where --mem 1500M)"
    expect_status 0 "$BERTH" cancel "$job"
    await_state "$job" cancelled
done
finish
