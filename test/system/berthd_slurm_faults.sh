#!/bin/sh
# What may go wrong on a cluster, on a private Slurm, under load: afterwards each member of an array has run once, or is told as
# lost, and none has run twice. What takes long is done if BERTH_FAULTS is "all", or names it: BERTH_FAULTS="frozen dead".
. "$BERTH_SOURCE/test/slurm.sh"
quick='server host agents keeper network full bounced crashed cancelled'
long='silent hung frozen dead early preempted forgotten'
rows=${BERTH_FAULTS:-$quick}
[ "$rows" = all ] && rows="$quick $long"

# The server's directory is a disk of its own that can be filled: that takes root.
mkdir -p "$BERTH_DIR"
small=
[ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=64m,mode=700 none "$BERTH_DIR" 2>/dev/null && small=yes
down() {
    lab stop
    if [ -n "$small" ]; then
        for pid in $(ours | grep -vx "$$"); do
            kill -9 "$pid" 2>/dev/null
        done
        await 'the disk to be free' umount "$BERTH_DIR"
    fi
    clean_up
}
trap down EXIT
# A node that hangs for 25 s is not given up yet.
LAB_LOST=60 slurm_up 3 4
machine 1
MEMBERS=60
LIMIT=2m

slurm_job() { # of the pilot
    "$BERTH" pilot list | awk -v p="$pilot" '$1 == p { print $3 }'
}
has_begun() {
    # shellcheck disable=SC2012
    [ "$(ls ran | wc -l)" -ge 12 ]
}
load() { # some have begun when it returns
    rm -rf ran
    mkdir ran
    # shellcheck disable=SC2016
    array=$("$BERTH" submit -t $LIMIT --array $MEMBERS -o /dev/null \
        sh -c 'mkdir "ran/$BERTH_ARRAY_INDEX" || touch "twice.$BERTH_ARRAY_INDEX"; sleep 0.3; while [ -e hold ]; do sleep 0.1; done')
    await 'some members to begin' has_begun
}
count() { # FILTER: members of the array that have ended so
    "$BERTH" history -n 0 --array --json | tr -d '\n' | sed 's/}, *{/}\n{/g' | grep "\"id\": *${array}[,[]" | grep -c "$1"
}
account() { # WHAT MOST-LOST
    "$BERTH" wait "$array" >/dev/null 2>&1
    done=$(count '"state": *"done"')
    lost=$(count '"state": *"failed"') # or ended by the signal that came with the end
    expect "$1: members that are accounted for" $MEMBERS $((done + lost))
    [ "$lost" -le "$2" ] || fail "$1: $lost are lost, at most $2 may be"
    ls twice.* >/dev/null 2>&1 && fail "$1: twice: $(ls twice.*)"
    [ "$(find ran -mindepth 1 | wc -l)" -ge "$done" ] || fail "$1: some are told as done that have not run"
}

row_server() {
    load
    crash
    sleep 1
    expect_status 0 "$BERTH" server start
    account 'the server is killed' 0
    await 'its nodes' nodes_up 3
}

# The host goes, and with it the gate: the next server is on another one, at another port.
row_host() {
    load
    crash
    kill -9 "$(called berth-gate)" 2>/dev/null
    if unshare --uts true 2>/dev/null; then
        expect_status 0 unshare --uts sh -c "hostname other && exec '$BERTH' server start"
    else
        expect_status 0 "$BERTH" server start
    fi
    account 'the server is on another host' 0
    await 'its nodes' nodes_up 3
}

row_agents() {
    load
    for pid in $(childless berth-agent); do
        kill -9 "$pid"
    done
    account 'agents are killed' 0
    await 'its nodes' nodes_up 3
}

# Four of its members at most run on a node.
row_keeper() {
    load
    kill -9 "$(pgrep -f "^berth-keeper .*/berth-$pilot-n3-$(b2sum -l 128 <"$BERTH_DIR/pilots/$pilot/key" | cut -d' ' -f1)")"
    account 'a keeper is killed' 4
    await 'its nodes' nodes_up 3
}

row_network() {
    load
    kill -9 "$(called berth-gate)"
    account 'the network is cut' 0
    await 'its nodes' nodes_up 3
}

row_silent() {
    load
    kill -STOP "$(called berth-gate)"
    sleep 5
    kill -CONT "$(called berth-gate)"
    account 'the network hangs' 0
    await 'its nodes' nodes_up 3
}

row_full() {
    [ -n "$small" ] || return 0
    load
    dd if=/dev/zero of="$BERTH_DIR/fill" bs=4k 2>/dev/null
    sleep 3
    rm "$BERTH_DIR/fill"
    account 'the shared directory is full' 0
    await 'its nodes' nodes_up 3
}

row_bounced() {
    load
    lab bounce
    account "Slurm's controller is restarted" 0
}

# Slurm's controller hangs: the server answers all the same, and what runs goes on.
row_hung() {
    load
    kill -STOP "$(cat lab/run/slurmctld.pid)"
    account "Slurm's controller hangs" 0
    kill -CONT "$(cat lab/run/slurmctld.pid)"
    await 'its nodes' nodes_up 3
}

# A crash forgets the last seconds: the pilot is older.
row_crashed() {
    sleep 6
    load
    lab crash
    account "Slurm's controller is killed" 0
}

# What runs is lost, twelve there at most, and as many that are asked for while the nodes leave; what waits runs on the next
# pilot.
row_cancelled() {
    load
    scancel "$(slurm_job)"
    await 'the pilot to be gone' no_pilots
    add_pilot 3
    account 'somebody cancels the pilot' 24
}

row_frozen() {
    load
    lab freeze n2
    sleep 25
    lab thaw n2
    account 'a node hangs for 25 s' 0
    await 'its nodes' nodes_up 3
}

# What ran there counts as running until it is proven that it does not: by the end of the job here.
row_dead() {
    touch hold
    load
    lab kill n1
    await 'a node to be down' nodes_up 2
    rm hold
    left_are() {
        "$BERTH" show "$array" | grep -qE '^summary +[1-4] running, [0-9]+ done$'
    }
    await 'the others to have run' left_are
    scancel "$(slurm_job)"
    account 'a node dies, and the job is cancelled' 4
    await 'the pilot to be gone' no_pilots
    lab revive n1
    add_pilot 3
}

# Slurm takes the nodes back within two minutes, which it says: runs are ended before, and told.
row_early() {
    LIMIT=6m
    touch hold
    load
    scontrol update JobId="$(slurm_job)" TimeLimit=2
    PATIENCE=200
    await 'the pilot to be gone' no_pilots
    PATIENCE=60
    rm hold
    add_pilot 3
    account 'the allocation ends early' 24
    LIMIT=2m
}

# A pilot in a partition of less priority, whose nodes Slurm wants for others: it leaves when it is told to, before it is killed.
row_preempted() {
    expect_status 0 "$BERTH" pilot remove "$pilot"
    await 'the pilot to be gone' no_pilots
    add_pilot 3 -- -p spare
    load
    sbatch -Q -N 3 --exclusive -t 5 -o /dev/null --wrap 'sleep 1000'
    await 'the pilot to be gone' no_pilots
    scancel -n wrap
    add_pilot 3
    account 'the pilot is preempted' 24
}

# Slurm forgets all it knew, and kills what it does not know.
row_forgotten() {
    load
    lab amnesia
    await 'the pilot to be gone' no_pilots
    add_pilot 3
    account 'Slurm forgets the pilot' 24
}

add_pilot 3
for row in $rows; do
    begun=$(date +%s)
    "row_$row"
    echo "$row: $(($(date +%s) - begun)) s"
done
finish
