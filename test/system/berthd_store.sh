#!/bin/sh
# A store that is moved away, a copy of it that is put back, and a store and a keeper's journal of different ages: whatever
# becomes of them, each job that is submitted runs, once, and what nobody knows of any more is ended before others start.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
machine 2
mkdir marks

# Each job leaves a line in a file of its own.
run_jobs() { # NAME NUMBER
    ids=
    for i in $(seq "$2"); do
        ids="$ids $("$BERTH" submit -o /dev/null sh -c "echo x >>'$scratch/marks/$1.$i'")"
    done
    for id in $ids; do
        expect_status 0 timeout "$PATIENCE" "$BERTH" wait "$id"
    done
    expect "jobs that ran: $1" "$2" "$(ls marks | grep -c "^$1\.")"
    expect "starts of them: $1" "$2" "$(cat marks/"$1".* | wc -l)"
}

no_keeper() {
    [ -z "$(called berth-keeper)" ]
}
stop() {
    expect_status 0 "$BERTH" server stop
}
stop_all() { # with the keeper, which has nothing to keep
    stop
    await "the keeper to end" no_keeper
}
start() {
    expect_status 0 "$BERTH" server start
}
move_store() { # TO
    mkdir "$1"
    mv "$BERTH_DIR"/berth.db* "$1"
}
put_store() { # FROM
    rm -f "$BERTH_DIR"/berth.db*
    cp "$1"/berth.db* "$BERTH_DIR"
}

# The store is moved away: the keeper, which is still there, knows the keys of the one before.
long=$("$BERTH" submit -o /dev/null sh -c "echo x >>marks/long; echo \$\$ >long; until [ -e go ]; do sleep 0.02; done")
run_jobs first 20
await_state "$long" running
stop
mkdir copy
cp "$BERTH_DIR"/berth.db* copy
start
run_jobs second 5
strange=$("$BERTH" submit -o /dev/null sh -c "trap '' TERM; echo \$\$ >strange; while :; do sleep 0.02; done")
await_state "$strange" running
await "the job to run" test -s strange
stop
move_store away
start
run_jobs third 10
await "a job that the store does not know to end" is_gone "$(cat strange)"
await "another one to end" is_gone "$(cat long)"
"$BERTH" server status | grep -q 'killing runs that belong to no job of this store: 2' || fail "no word of them: $("$BERTH" server status)"

# A copy is put back, of which a job ran on when it was made and has ended since.
stop
put_store copy
start
await_state "$long" failed
expect "its reason" '"lost: its end was not observed"' "$(get "$long" reason)"
expect "its starts" 1 "$(wc -l <marks/long)"
run_jobs fourth 10

# A copy is put back while a job of it runs: it is still the same one.
held=$("$BERTH" submit -o /dev/null sh -c "echo x >>marks/held; until [ -e go ]; do sleep 0.02; done; exit 7")
await_state "$held" running
await "it to begin" test -s marks/held
stop
rm -rf copy
mkdir copy
cp "$BERTH_DIR"/berth.db* copy
start
run_jobs fifth 3
stop
put_store copy
start
expect "a job that runs" running "$(state "$held")"
: >go
expect_status 7 "$BERTH" wait "$held"
expect "its starts" 1 "$(wc -l <marks/held)"
rm go
run_jobs sixth 10

# The keeper's journal is older than the store.
stop_all
cp -r "$BERTH_DIR/keeper" keeper.old
start
run_jobs seventh 10
stop_all
rm -rf "$BERTH_DIR/keeper"
cp -r keeper.old "$BERTH_DIR/keeper"
start
run_jobs eighth 10

# The store is older than the journal, and then both are of another time than the other.
stop_all
put_store copy
start
run_jobs ninth 10
stop_all
put_store away
rm -rf "$BERTH_DIR/keeper"
cp -r keeper.old "$BERTH_DIR/keeper"
start
run_jobs tenth 10

# No journal at all.
stop_all
rm -rf "$BERTH_DIR/keeper"
start
run_jobs eleventh 10

# The journal is exchanged while berthd runs, and the keeper killed.
pid=$(called berth-keeper)
rm -f "$BERTH_DIR/keeper/keeper.journal"
cp keeper.old/keeper.journal "$BERTH_DIR/keeper"
kill -9 "$pid"
await "the keeper to die" is_gone "$pid"
run_jobs twelfth 10
expect "jobs that ran twice" '' "$(find marks -type f -size +2c)"
finish
