#!/bin/sh
# 200 pilots, each with an end of its own: there are blocks for them, nothing is started that would outlast its node, and what
# fits is.
. "$BERTH_SOURCE/test/daemon.sh"
. "$BERTH_SOURCE/test/system/fake_slurm.sh"
cd "$scratch" || exit 1
PILOTS=200
machine 1
echo silent >"$slurm/mood" # Slurm proves nothing about them

expect_status 0 "$BERTH" server start
# shellcheck disable=SC2046
curl -sS --max-time 60 --unix-socket "$BERTH_DIR/berth.sock" -d '{"kind": "slurm"}' \
    $(seq $PILOTS | sed 's/.*/http:\/\/berth\/v1\/pilots/') >made || fail "pilots: $(tail -n 1 made)"
begun=$(date +%s)
first=$((begun + 1500))
"$BERTH_BUILD/test/system/many_agents" "$BERTH_DIR/pilots" 1 $PILOTS $first 30 &
agents=$!

are_up() { # NODES
    [ "$("$BERTH" pilot list --json | grep -c '"state": "up"')" -ge "$1" ]
}
await 'all nodes' are_up $PILOTS
blocks() {
    "$BERTH" block list --json | grep -c '"name": "pilot'
}
[ "$(blocks)" -le 48 ] || fail "blocks: $(blocks), at most 48 may be"

# Of each length there are more jobs than nodes; what does not fit any more before an end waits.
for minutes in 100 60 20; do
    expect_status 0 "$BERTH" submit -t ${minutes}m -c 2 --array $PILOTS sleep 1000
done
cat >look.py <<'END'
# Ends that are near are one, so a node may be left up to two minutes early, and never late.
import json, re, sys, time
first, begun, pilots = (int(word) for word in sys.argv[2:])
ends = {f'a{n}': first + 30 * (n - 1) for n in range(1, pilots + 1)}
started = {6000: 0, 3600: 0, 1200: 0}
for job in json.load(open(sys.argv[1])):
    node = (job['resources'] or '').split('/')[0]
    if job['state'] != 'running' or node not in ends:
        continue
    started[job['limit']] += 1
    if job['start'] + job['limit'] > ends[node] - 60:
        print(f'job {job["id"]} outlasts {node}')
least = most = found = 0
for limit in started:
    found += started[limit]
    most = sum(begun + limit <= end - 60 for end in ends.values())
    least = sum(time.time() + limit <= end - 60 - 120 for end in ends.values())
    if not least <= found <= most:
        print(f'{found} jobs of {limit} s or longer have started: from {least} to {most} fit')
print(found)
END
look() {
    "$BERTH" jobs --array --json >jobs.json
    /usr/bin/python3 -B look.py jobs.json $first "$begun" $PILOTS >looked
    cp looked looked.last
}
settled() { # the same at two looks
    cp looked.last looked.before 2>/dev/null
    look
    cmp -s looked looked.before && [ "$(tail -n 1 looked)" -gt 0 ]
}
await 'jobs to start' settled
expect 'what is wrong' "" "$(sed '$d' looked)"
started=$(cat looked)

# So it is for the next server: nobody loses what it has, and no more starts.
crash
expect_status 0 "$BERTH" server start
await 'all nodes again' are_up $PILOTS
look
expect 'what runs after a restart' "$started" "$(cat looked)"
[ "$(blocks)" -le 48 ] || fail "blocks after a restart: $(blocks), at most 48 may be"

# Blocks of others go before: there are fewer for ends then, and they are wider.
for i in $(seq 24); do
    expect_status 0 "$BERTH" block add "other$i" all --start +30d --duration 1m
done
kill "$agents"
wait "$agents" 2>/dev/null
"$BERTH_BUILD/test/system/many_agents" "$BERTH_DIR/pilots" $((PILOTS + 1)) $((PILOTS + 1)) $first 0 &
api POST /v1/pilots -d '{"kind": "slurm"}' >made
await 'one more node' sh -c "'$BERTH' nodes | grep -q '^a$((PILOTS + 1)) '"
[ "$(blocks)" -le 40 ] || fail "blocks beside others: $(blocks), at most 40 may be"
expect_status 1 "$BERTH" block add "other25" all --start +30d --duration 1m
expect_err 'berth block: there are 64 blocks already: remove one first'

# A pilot that goes takes its share of a block along.
of_first() {
    "$BERTH" block list --json | tr -d ' \n' | grep -c '"resources":"a1,'
}
expect 'blocks with the first node' 1 "$(of_first)"
expect_status 0 "$BERTH" pilot remove --lost 1
is_left() {
    [ "$(of_first)" = 0 ]
}
await 'its node to be in none' is_left
finish
