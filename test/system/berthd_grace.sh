#!/bin/sh
# Who preempts keeps what others leave to it, also where the server is killed before the last of them has ended.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
mkdir -p "$BERTH_DIR"
cat >"$BERTH_DIR/berth.yaml" <<'END'
resources: {nodes: 1, cores: 2}
server: {imagined: yes, grace: 1h}
queues: {batch: {policy: easy}, spare: {policy: easy, preemptible: requeue}}
default-queue: batch
END
cat >stubborn.sh <<'END'
#!/bin/sh
trap 'until [ -e go ]; do sleep 0.02; done; exit' TERM
touch here
while :; do sleep 0.02; done
END
chmod 755 stubborn.sh
"$BERTH" server start || fail "server start"

preempted() { # JOB: how often, and for whom
    "$BERTH" show "$1" | grep -c " preempted, for $big,"
}

explain_timeless() { # JOB: whatever the time until others are killed
    "$BERTH" explain "$1" | sed 's/killed in [0-9hms ]* if/killed if/'
}

# One of two victims has ended, the other takes its time: the core that is free by now is no other job's.
polite=$("$BERTH" submit -q spare -c 1 -t unlimited --estimate unknown sleep 1000)
stubborn=$("$BERTH" submit -q spare -c 1 -t unlimited --estimate unknown ./stubborn.sh)
await_state "$polite" running
await "the other to have begun" test -e here
sleep 1.1 # nobody is stopped in its first second
big=$("$BERTH" submit -c 2 -t unlimited --estimate unknown sleep 1000)
await_state "$polite" pending
again="It was preempted for job $big, and waits again. Jobs of its queue may be stopped for others. [0-9]* core-seconds* of work"
"$BERTH" explain "$polite" | grep -q "$again" || fail "explain: $("$BERTH" explain "$polite")"
expect "the other is being stopped" running "$(state "$stubborn")"
explain_timeless "$big" >before
urgent=$("$BERTH" submit --priority 1 -c 1 -t unlimited --estimate unknown sleep 1000)
crash
"$BERTH" server start || fail "server start"
last=$("$BERTH" submit --priority 1 -c 1 -t unlimited --estimate unknown sleep 1000)
expect "who waits" "pending running pending pending pending" \
    "$(for id in "$polite" "$stubborn" "$big" "$urgent" "$last"; do state "$id"; done | tr '\n' ' ' | sed 's/ $//')"
explain_timeless "$big" >after
cmp -s before after || fail "it waits for something else: $(cat before after)"
"$BERTH" explain "$stubborn" | grep -q "job $big" || fail "nobody waits for it: $("$BERTH" explain "$stubborn")"
crash
"$BERTH" server start || fail "server start"
"$BERTH" explain "$polite" | grep -q "$again" || fail "explain after that: $("$BERTH" explain "$polite")"
touch go
await_state "$big" running
"$BERTH" explain "$big" | grep -q preempted && fail "it was not preempted: $("$BERTH" explain "$big")"
expect "who waits then" "pending pending pending pending" \
    "$(for id in "$polite" "$stubborn" "$urgent" "$last"; do state "$id"; done | tr '\n' ' ' | sed 's/ $//')"
expect "they are told once" "1 1" "$(preempted "$polite") $(preempted "$stubborn")"
expect_status 0 "$BERTH" cancel "$big"
await_state "$urgent" running
await_state "$last" running

# What one leaves that takes its time is enough for two, who both wait for its end, also where the server is killed.
expect_status 0 "$BERTH" cancel "$urgent" "$last" "$polite" "$stubborn"
await_state "$last" cancelled
rm -f here go
wide=$("$BERTH" submit -q spare -c 2 -t unlimited --estimate unknown ./stubborn.sh)
await_state "$wide" running
await "it to have begun" test -e here
sleep 1.1
one=$("$BERTH" submit -c 1 -t unlimited --estimate unknown sleep 1000)
two=$("$BERTH" submit -c 1 -t unlimited --estimate unknown sleep 1000)
waiting() {
    for id in "$one" "$two"; do
        "$BERTH" explain "$id" | grep -q "job $wide" || fail "$id does not wait for $wide: $("$BERTH" explain "$id")"
    done
    expect "$1" "running pending pending" "$(state "$wide") $(state "$one") $(state "$two")"
}
waiting "before"
crash
"$BERTH" server start || fail "server start"
waiting "after a crash"
three=$("$BERTH" submit --priority 1 -c 1 -t unlimited --estimate unknown sleep 1000)
crash
"$BERTH" server start || fail "server start"
touch go
await_state "$one" running
await_state "$two" running
expect "the one who made way, and who came later" "pending pending" "$(state "$wide") $(state "$three")"
expect "it is told once" 1 "$("$BERTH" show "$wide" | grep -c " preempted, for ")"
expect "it says who waited, too" 1 "$("$BERTH" show "$wide" | grep -c " awaited, for $two")"
finish
