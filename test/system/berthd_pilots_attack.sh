#!/bin/sh
# Others on the network can start, see and stop nothing: no secret, another secret, what was overheard, bytes that are
# changed on their way, a server that is none, a flood.
. "$BERTH_SOURCE/test/daemon.sh"
. "$BERTH_SOURCE/test/system/fake_slurm.sh"
command -v python3 >/dev/null || skip 'no python3'
cd "$scratch" || exit 1
TMPDIR=$scratch
export TMPDIR
machine 1
PILOTS=$BERTH_DIR/pilots

attack() {
    env -u BERTH_DIR python3 "$BERTH_SOURCE/test/system/pilots_attacker.py" "$@"
}
is_up() { # NODES
    [ "$("$BERTH" pilot show 1 | grep -c ' up ')" = "$1" ]
}
runs() { # WHEN: a job on the node, which alone has two cores
    expect "a job $1" f1 "$("$BERTH" run -t 1m -c 2 sh -c 'echo $BERTH_NODE' </dev/null 2>&1)"
}
has_taken() { # somebody, the gate's place
    ! cmp -s "$PILOTS/server" true.server
}
few_files() { # in the gate: 64 of strangers at most, and its own
    for pid in $(called berth-gate); do
        files=$(find "/proc/$pid/fd" -mindepth 1 2>/dev/null | wc -l)
        [ "$files" -lt 100 ] || fail "the gate has $files files open"
    done
}
redial() { # agents dial again; three times in all, until they are given up
    for pid in $(childless berth-agent); do
        kill -9 "$pid"
    done
}

expect_status 0 "$BERTH" pilot add slurm --time 1h
await 'a node' is_up 1
runs 'before all'

# The secret is in no argument, no environment, no log and not in what Slurm is told.
od -An -v -tx1 "$PILOTS/1/key" | tr -d ' \n' >secret
expect 'who may read the secret' '600 700' "$(stat -c %a "$PILOTS/1/key" "$PILOTS" | xargs)"
cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ "$slurm"/* "$BERTH_DIR"/*.log "$PILOTS"/*/*.log 2>/dev/null | grep -aqif secret &&
    fail 'the secret is told'

attack strangers "$PILOTS" 2>err || fail "strangers: $(cat err)"
runs 'after strangers'

# 300 connections are held open: the node comes again all the same, jobs run, and the gate does not grow without bound.
attack flood "$PILOTS" "$scratch/enough" 2>err &
flood=$!
sleep 1
redial
await 'the node during a flood' is_up 1
runs 'during a flood'
few_files
for pid in $(called berth-gate); do
    size=$(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$pid/status")
    [ "${size:-0}" -lt 100000 ] || fail "the gate takes $size kB"
done
kill -0 $flood || fail 'the flood is over'
touch enough
wait $flood || fail "flood: $(cat err)"

# Somebody with another secret, who says to be this pilot.
mkdir -p "$scratch/forged/1"
chmod 700 "$scratch/forged" "$scratch/forged/1"
cp "$PILOTS/server" "$scratch/forged/server"
(umask 077 && head -c 32 /dev/urandom >"$scratch/forged/1/key")
SLURMD_NODENAME=forged "$BERTH_BUILD/berth-agent" "$scratch/forged/1" 2>/dev/null &
forged=$!
sleep 3
"$BERTH" nodes | grep -q forged && fail 'an agent with another secret joins'
kill -STOP $forged
kill -9 $(pgrep -P $forged) $forged
wait $forged 2>/dev/null
runs 'after a forged agent'

# Somebody between: sees what goes by, but neither a word of it nor the use of saying it again.
cp "$PILOTS/server" true.server
attack between "$PILOTS" "$scratch/record" "$scratch/heard" 2>err &
between=$!
await 'it takes the place' has_taken
redial
await 'it is dialled' test -e record.dialled
await 'the node' is_up 1
expect 'a word' 'a-word-of-a-job' "$("$BERTH" run -t 1m -c 2 echo a-word-of-a-job </dev/null 2>&1)"
touch heard
wait $between || fail "between: $(cat err)"
[ -s record.both.1 ] || fail 'nothing was heard'
grep -aq 'a-word-of-a-job\|BERTH_JOB_ID' record.both.* && fail 'what is said can be read'
await 'the node' is_up 1
expect_status 0 attack replay "$PILOTS" "$scratch/record"
# A greeting that is said again can't be told from another: who says it stays a stranger.
attack crowd "$PILOTS" "$scratch/record" "$scratch/gone" 2>err &
crowd=$!
sleep 2
few_files
touch gone
wait $crowd || fail "crowd: $(cat err)"
expect 'nodes after it was said again' 1 "$("$BERTH" nodes | grep -c '^f1 .* up ')"
runs 'after it was said again'

# What is changed on the way is not taken: the connection ends, and the job runs once it is whole again.
cp "$PILOTS/server" true.server
attack changed "$PILOTS" "$scratch/bits" "$scratch/whole" 2>err &
between=$!
await 'it takes the place' has_taken
redial
await 'it is dialled' test -e bits.dialled
# shellcheck disable=SC2016
job=$("$BERTH" submit -t 1m -c 2 sh -c 'echo once >>ran')
sleep 2
[ -e ran ] && fail 'a job runs over a connection that is changed'

# And meanwhile a server that is none is dialled.
attack server "$PILOTS" "$scratch/true" 2>err.server &
server=$!
await 'it is dialled' test -e true.dialled
touch true
wait $server || fail "a false server: $(cat err.server)"
[ -e ran ] && fail 'a job runs for a false server'
touch whole
wait $between || fail "changed: $(cat err)"
expect_status 0 "$BERTH" wait "$job"
expect 'how often it ran' once "$(cat ran)"
runs 'after all'

expect_status 0 "$BERTH" pilot remove 1
finish
