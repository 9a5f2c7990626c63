#!/bin/sh
# berth sim --machine: the starts of a flat machine, on named cores of which none ever has two jobs.
. "$BERTH_SOURCE/test/lib.sh"
cd "$scratch" || exit 1
grug 16 8 >machine.graphml

# same MATCH-POLICY OPTION...: both machines under these options
same() {
    match=$1
    shift
    expect_status 0 "$BERTH" sim --model lublin --jobs-count 1500 --seed 3 --procs 128 \
        --jobs flat.csv "$@"
    expect_status 0 "$BERTH" sim --model lublin --jobs-count 1500 --seed 3 --machine machine.graphml \
        --match-policy "$match" --jobs named.csv "$@"
    cut -d, -f1-7 named.csv | cmp - flat.csv || fail "other starts on named cores: $match $*"
    check_alloc named.csv 128
}
for events in batched per-event; do
    for policy in fcfs easy hybrid conservative; do
        same low --policy $policy --events $events
    done
done
same first --policy hybrid --reservation-depth 3 --order shortest
for policy in high lonode hinode locality variation 'policy=low node_centric=true'; do
    same "$policy"
done

# Which cores they are: here low goes by the ids of cores, lonode by those of nodes first.
grug 2 4 >small.graphml
cat >trace.swf <<'SWF'
1 0 -1 10 3 -1 -1 3 10 -1 1 1 1 1 1 1 -1 -1
2 1 -1  9 4 -1 -1 4  9 -1 1 1 1 1 1 1 -1 -1
3 2 -1 10 7 -1 -1 7 10 -1 1 1 1 1 1 1 -1 -1
4 3 -1  1 9 -1 -1 9 10 -1 1 1 1 1 1 1 -1 -1
SWF
alloc() { # COLUMN [OPTION]...
    column=$1
    shift
    expect_status 0 "$BERTH" sim --jobs named.csv --json "$@" trace.swf
    [ "$(cut -d, -f8 named.csv | tr '\n' ,)" = "alloc,$column," ] || fail "$*: $(cat named.csv)"
}
alloc '0-1 4,2-3 5-6,0-6' --machine small.graphml
alloc '0-2,3-6,0-6' --machine small.graphml --match-policy lonode
alloc '5-7,1-4,1-7' --machine small.graphml --match-policy hinode
grep -q '"procs": 8' out || fail "not the machine's size: $(cat out)"
grep -q '"too_big": 1' out || fail "job 4 is not too big: $(cat out)"
grep -q '"match_policy": "hinode"' out || fail "the match policy is not told: $(cat out)"

# Other formats, and names with colons.
cat >r.json <<'R'
{"version": 1, "execution": {"R_lite": [{"rank": "0-1", "children": {"core": "0-3"}}],
 "starttime": 0, "expiration": 0, "nodelist": ["n[0-1]"]}}
R
alloc '0-2,3-6,0-6' --machine r.json:rv1exec --match-policy lonode
cp r.json a:b:rv1exec
cp small.graphml a:b
cp small.graphml grug
alloc '0-2,3-6,0-6' --machine a:b:rv1exec:rv1exec --match-policy lonode
alloc '0-2,3-6,0-6' --machine a:b --match-policy lonode
alloc '0-2,3-6,0-6' --machine a:b:grug --match-policy lonode
alloc '0-2,3-6,0-6' --machine grug --match-policy lonode

wrong() { # MESSAGE ARG...: one line on standard error, nothing on standard output, status 2
    message=$1
    shift
    expect_status 2 "$BERTH" sim "$@"
    expect_line err "berth sim: $message; see 'berth sim --help'"
    [ -s out ] && fail "writes to standard output: berth sim $*"
}
names='first, low, high, lonode, hinode, locality, variation, pack, spread or balance'
wrong "either --machine or --procs: the machine's cores are its processors" --machine m --procs 4 trace.swf
wrong "--machine: the file's name is empty" --machine '' trace.swf
wrong "--machine: the file's name is empty" --machine :jgf trace.swf
wrong "--match-policy is for --machine" --match-policy low trace.swf
wrong "--match-policy: 'best' is not $names" --machine m --match-policy best trace.swf
wrong "--match-policy: 'lonodex' gives whole nodes, but a processor is a core" --machine m --match-policy lonodex a
wrong "--jobs: 'small.graphml' is the machine" --machine small.graphml --jobs small.graphml trace.swf
wrong "--plot: './small.graphml' is the machine" --machine small.graphml --plot ./small.graphml trace.swf

failing() { # PATTERN ARG...: one line on standard error that matches, status 1
    pattern=$1
    shift
    expect_status 1 "$BERTH" sim "$@" trace.swf
    [ "$(wc -l <err)" -eq 1 ] || fail "not one line on standard error: berth sim $*"
    grep -q "^berth sim: $pattern" err || fail "expected '$pattern', got $(cat err)"
}
failing 'missing: No such file or directory' --machine missing
failing 'missing:yaml: No such file or directory' --machine missing:yaml
failing 'r.json: ' --machine r.json
failing 'small.graphml: ' --machine small.graphml:jgf
sed 's/<data key="type">core/<data key="type">cpu/' small.graphml >coreless.graphml
failing 'coreless.graphml: the machine has no cores' --machine coreless.graphml
sed 's/<node id="core">/&<data key="size">8<\/data>/' small.graphml >pools.graphml
failing 'pools.graphml: a vertex of type core is a pool, expected each of size 1' --machine pools.graphml
finish
