#!/bin/sh
# Directed jobs by libslurm, on a private Slurm: berth-bridge submits what sbatch would, to the letter; and when libslurm ends it, or
# has it wait, the server lives on and each job runs once.
. "$BERTH_SOURCE/test/slurm.sh"
[ -x "$BERTH_BUILD/berth-bridge" ] || skip 'no berth-bridge: libslurm-dev was not there at build time'
LAB_GPUS=2 slurm_up 2 4
mkdir bin
cat >bin/sbatch <<END
#!/bin/sh
echo x >>"$scratch/calls"
SLURM_CONF=$SLURM_CONF exec $(command -v sbatch) "\$@"
END
chmod +x bin/sbatch
PATH=$scratch/bin:$PATH
BERTH_SLURM_PACE=2 # what berth-slurm waits for takes half the time
export PATH BERTH_SLURM_PACE
: >calls
calls() {
    wc -l <calls
}
bridge() {
    pgrep -P "$(called berth-slurm)" -x berth-bridge
}
by_bridge() { # whether a job goes that way
    before=$(calls)
    "$BERTH" run -t 1m true
    [ "$(calls)" = "$before" ]
}

# What Slurm knows of the latest job of Berth's, but for numbers and times.
record() {
    scontrol -o show job | grep ' Comment=berth:' | tail -n 1 | tr ' ' '\n' |
        grep -Ev '^(JobId|Comment|job|[0-9]*|.*Time|TimeLimit|Priority|ReqNodeList|LastSchedEval|AccrueTime|NodeList|BatchHost|AllocNode:Sid|SubmitLine|Power|NtasksPerTRES:0)(=|$)' |
        sed 's/^JobState=.*//' | grep . | sort
}
# Two jobs, one of them on two nodes, with all that a job may ask for.
two_jobs() { # NAME
    # shellcheck disable=SC2016
    expect_status 7 "$BERTH" run -t 90 -c 3 -g 1 --mem 1G sh -c 'echo "$SLURM_CPUS_ON_NODE $SLURM_JOB_GPUS $PWD $(umask)"; env | grep ^SLURM_ | grep -Ev "JOB_?ID|NODELIST|TASK_PID|TOPOLOGY|GTIDS|TIME" | sort >slurm.'"$1; exit 7"
    cp out "said.$1"
    await "status at Slurm of $1" sh -c 'scontrol -o show job | grep " Comment=berth:" | tail -n 1 | grep -q "ExitCode=7:0"'
    record >"record.$1"
    # shellcheck disable=SC2016
    expect_status 0 "$BERTH" run -t 90 -N 2 -n 2 -c 2 sh -c 'echo $BERTH_NODE'
    sort out >>"said.$1"
    await "the second at Slurm of $1" sh -c 'scontrol -o show job | grep " Comment=berth:" | tail -n 1 | grep -q "JobState=COMPLETED"'
    record >>"record.$1"
}

# A word that the bridge does not know, and that changes nothing: sbatch is run.
mkdir -p "$BERTH_DIR"
printf '%s\n' 'engine: {slurm: {options: --quiet}}' 'server: {grace: 2s}' >"$BERTH_DIR/berth.yaml"
expect_status 0 "$BERTH" server start
await 'berth-bridge' bridge
two_jobs command
expect 'commands for two jobs' 2 "$(calls)"
expect_status 0 "$BERTH" server stop

slurm_rules
await 'jobs to go by libslurm' by_bridge
before=$(calls)
two_jobs bridge
expect 'commands for two more' "$before" "$(calls)"
expect 'lines of the record' yes "$([ "$(wc -l <record.command)" -gt 40 ] && echo yes)"
for what in record said slurm; do
    cmp -s $what.command $what.bridge || fail "$what: $(diff $what.command $what.bridge)"
done

# What Slurm refuses is said as sbatch says it, and the job waits.
scontrol update PartitionName=batch State=DOWN AllowAccounts=nobody
refused=$("$BERTH" submit -t 1m true)
is_told() {
    "$BERTH" explain "$refused" | grep -q 'could not be started: Slurm'
}
await 'the refusal to be told' is_told
scontrol update PartitionName=batch State=UP AllowAccounts=ALL
await_state "$refused" 'done'

# It is killed again and again, as libslurm does on errors, while jobs are submitted: each runs once.
mkdir ran
# shellcheck disable=SC2016
array=$("$BERTH" submit -t 1m --array 16 -o /dev/null sh -c 'mkdir ran/$BERTH_ARRAY_INDEX || touch twice; sleep 0.3')
pid=$(daemon_pid)
for _ in 1 2 3; do
    await 'berth-bridge' bridge
    kill -9 "$(bridge)"
    sleep 0.3
done
expect_status 0 "$BERTH" wait "$array"
expect 'members that have run' 16 "$(find ran -mindepth 1 | wc -l)"
[ ! -e twice ] || fail 'one has run twice'

# The controller hangs, and libslurm with it: the server answers.
await 'jobs to go by libslurm again' by_bridge
kill -STOP "$(cat lab/run/slurmctld.pid)"
job=$("$BERTH" submit -t 1m sh -c "echo x >>$scratch/once")
is_asked() {
    find "$BERTH_DIR/slurm" -name asked | grep -q .
}
await 'it to be submitted' is_asked
for _ in 1 2 3 4 5; do
    expect_status 0 timeout 2 "$BERTH" jobs
    sleep 0.5
done
kill -CONT "$(cat lab/run/slurmctld.pid)"
expect_status 0 "$BERTH" wait "$job"
expect 'starts of it' 1 "$(wc -l <once)"
expect 'the server is the same' "$pid" "$(daemon_pid)"

# With a configuration that is none libslurm ends the process at once: jobs go by commands, which have another one here.
expect_status 0 "$BERTH" server stop
for command in squeue scancel scontrol; do
    printf '#!/bin/sh\nSLURM_CONF=%s exec %s "$@"\n' "$SLURM_CONF" "$(command -v $command)" >bin/$command
    chmod +x bin/$command
done
before=$(calls)
: >none
expect_status 0 env SLURM_CONF="$scratch/none" "$BERTH" server start
expect_status 0 "$BERTH" run -t 1m true
expect 'commands for it' $((before + 1)) "$(calls)"
has_ended() {
    ! bridge
}
await 'libslurm to have ended berth-bridge' has_ended
finish
