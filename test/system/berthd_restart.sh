#!/bin/sh
# What survives: jobs that run, that wait and that ended while the daemon was away.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
machine 2

# A job that waits for a file, and says so.
cat >until.sh <<'END'
#!/bin/sh
echo "start $1 $BERTH_ATTEMPT" >>"$2/starts"
until [ -e "$2/go$1" ]; do sleep 0.02; done
echo "end $1" >>"$2/ends"
exit "$1"
END
chmod 755 until.sh

# Stopped in order: the job runs on, ends meanwhile, and its status is known.
a=$("$BERTH" submit ./until.sh 3 "$scratch")
b=$("$BERTH" submit ./until.sh 4 "$scratch")
c=$("$BERTH" submit -c 2 ./until.sh 5 "$scratch")
await_state "$a" running
await_state "$b" running
expect_status 0 "$BERTH" server stop
expect_status 1 "$BERTH" jobs
: >go3
await "a job to end without a daemon" grep -q 'end 3' ends
expect_status 0 "$BERTH" server start
await_state "$a" failed
expect "its status" 3 "$(get "$a" exit)"
expect "the other" running "$(state "$b")"
expect "the one that waits" pending "$(state "$c")"

# Killed: the same; a client that waits meanwhile gets its status.
"$BERTH" wait "$b" &
waiter=$!
crash
expect_status 0 "$BERTH" server start
expect "adopted" running "$(state "$b")"
: >go4
wait $waiter
expect "the status of wait over a crash" 4 $?
: >go5
expect_status 5 "$BERTH" wait "$c"
expect "starts" 'start 3 1 start 4 1 start 5 1' "$(sort starts | tr '\n' ' ' | sed 's/ $//')"

# A kill while jobs start and end in numbers: each runs once.
: >starts
ids=
for i in $(seq 1 40); do
    id=$("$BERTH" submit sh -c "echo $i >>'$scratch/starts'")
    ids="$ids $id"
    case $i in 10 | 20 | 30) crash && "$BERTH" server start ;; esac
done
for id in $ids; do
    expect_status 0 "$BERTH" wait "$id"
done
expect "jobs that ran" 40 "$(sort -u starts | wc -l)"
expect "starts of them" 40 "$(wc -l <starts)"

# Held and begun later stay so; ids go on.
held=$("$BERTH" submit --hold --name kept --priority -2 true)
crash
expect_status 0 "$BERTH" server start
expect "a held job" held "$(state "$held")"
expect "its name" '"kept"' "$(get "$held" name)"
expect "its priority" -2 "$(get "$held" priority)"
expect "the next id" $((held + 1)) "$("$BERTH" submit true)"

# Time limits hold over a restart, also for those that ignore signals and leave their session.
cat >stubborn.sh <<'END'
#!/bin/sh
trap '' TERM INT HUP
setsid sh -c "trap '' TERM INT HUP; echo \$\$ >'$1/away'; while :; do sleep 0.05; done" &
echo $$ >"$1/here"
while :; do sleep 0.05; done
END
chmod 755 stubborn.sh
cat >>"$BERTH_DIR/berth.yaml" <<'END'
server: {grace: 0.5s}
END
expect_status 0 "$BERTH" server reload || cat err
s=$("$BERTH" submit ./stubborn.sh "$scratch")
await "a stubborn job" test -s away
expect_status 0 "$BERTH" cancel "$s"
crash
expect_status 0 "$BERTH" server start
await_state "$s" cancelled
await "it to be gone" is_gone "$(cat here)"
await "what left its session to be gone" is_gone "$(cat away)"

# The keeper is killed: how its jobs end is known by nobody, which is said; one that may is started again.
rm -f go*
l=$("$BERTH" submit ./until.sh 6 "$scratch")
r=$("$BERTH" submit --requeue ./until.sh 7 "$scratch")
await_state "$l" running
await_state "$r" running
await "both to have begun" grep -q 'start 7 1' starts
kill -9 "$(called berth-keeper)"
: >go6
: >go7
await_state "$l" failed
get "$l" reason | grep -q lost || fail "no word of the loss: $(get "$l" reason)"
expect_status 7 "$BERTH" wait "$r"
expect "attempts of the one that may" 2 "$(get "$r" attempts)"

# A store that can't be read: one line, nothing is done.
expect_status 0 "$BERTH" server stop
cp "$BERTH_DIR/berth.db" saved.db
echo 'no database at all, but a text that is long enough to be taken for one' >"$BERTH_DIR/berth.db"
rm -f "$BERTH_DIR/berth.db-wal" "$BERTH_DIR/berth.db-shm"
expect_status 1 "$BERTH" server start
expect "lines of a damaged store" 1 "$(wc -l <err)"
cp saved.db "$BERTH_DIR/berth.db"
expect_status 0 "$BERTH" server start
expect "an old job" failed "$(state "$a")"
finish
