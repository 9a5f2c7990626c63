#!/bin/sh
# Nodes that Slurm lends, with commands in the place of Slurm's.
. "$BERTH_SOURCE/test/daemon.sh"
. "$BERTH_SOURCE/test/system/fake_slurm.sh"
cd "$scratch" || exit 1
TMPDIR=$scratch
export TMPDIR
machine 1

wrong() { # MESSAGE ARGUMENT...
    message=$1
    shift
    expect_status 2 "$BERTH" pilot "$@"
    expect_err "berth pilot: $message; see 'berth pilot --help'"
}
wrong 'no action given, expected add, auto, list, show, drain, remove or watch'
wrong "unknown action 'give', expected add, auto, list, show, drain, remove or watch" give
wrong 'add takes a kind of pilot: slurm' add
wrong "unknown kind 'pbs', expected slurm" add pbs
wrong "--nodes is '0', expected 1 to 100000" add slurm --nodes 0
wrong "--time is 'long', expected a duration such as 30m, 2h or 1d" add slurm --time long
wrong 'remove takes the number of a pilot' remove
wrong 'drain takes the number of a pilot' drain x

is_up() { # PILOT NODES
    [ "$("$BERTH" pilot show "$1" | grep -c ' up ')" = "$2" ]
}
no_pilots() {
    [ "$("$BERTH" pilot list --json)" = '[]' ]
}
cores() {
    "$BERTH" resources | sed -n 's/^cores .* of \([0-9]*\) in use/\1/p'
}

# Slurm says no: its words are shown, and nothing is left.
echo refuse >"$slurm/mood"
expect_status 1 "$BERTH" pilot add slurm --partition nowhere
expect_err 'berth pilot: sbatch: error: invalid partition specified: nowhere'
no_pilots || fail 'a pilot that was refused is listed'
rm "$slurm/mood"

# Whole nodes, unless further options say how much of each.
asks() { # EXPECTED OPTION...
    told=$1
    shift
    rm -f "$slurm/asked"
    expect_status 0 "$BERTH" pilot add slurm --time 1h -- "$@"
    expect "what sbatch is told of '$*'" "$told" "$(sed 's/.* --time=60 *//' "$slurm/asked")"
    expect_status 0 "$BERTH" pilot remove "$(sed 's/^pilot \([0-9]*\),.*/\1/' out)"
    await 'the pilot to be gone' no_pilots
}
asks '--exclusive --mem=0 -p batch' -p batch
asks '--exclusive --mem=0 --gres=gpu:2 --mem-bind=local' --gres=gpu:2 --mem-bind=local
asks '-p batch -c4' -p batch -c4
asks '--mem 4G' --mem 4G
asks '--cpus-per-t=2' --cpus-per-t=2

# What only fits with nodes that have been asked for waits for them. Without a pilot it is told how to get one.
expect_status 1 "$BERTH" submit -N 2 true
grep -q 'asks for 2 nodes, the machine has 1; berth pilot add borrows nodes from Slurm$' err || fail "no pilot: $(cat err)"
printf '%s\n' 'batch*|2|1000|(null)|(null)' 'wide|8|1000|gpu:4|a,b' >"$slurm/sinfo"
touch "$slurm/hold"
expect_status 0 "$BERTH" pilot add slurm --nodes 3 --time 1h
waits=$(sed 's/^pilot \([0-9]*\),.*/\1/' out)
expect 'what sinfo is asked' '-h -e -o %P|%c|%m|%G|%f' "$(tail -n 1 "$slurm/sinfo.asked")"
all=$("$BERTH" submit -t 1m -N 4 -n 4 true)
expect_status 1 "$BERTH" submit -N 5 true
grep -q "asks for 5 nodes, the machine has 4, with the nodes of pilot $waits that have not come yet$" err || fail "too many: $(cat err)"
expect 'a job for nodes that have not come' pending "$(state "$all")"
await 'the first node' is_up "$waits" 1
"$BERTH" explain "$all" | grep -q "What it waits for may come with pilot $waits, of which not all nodes have come yet.$" ||
    fail "explain: $("$BERTH" explain "$all")"
crash
expect_status 0 "$BERTH" server start
await 'the first node' is_up "$waits" 1
expect 'a job for nodes of which one has come' pending "$(state "$all")"
rm "$slurm/hold"
expect_status 0 "$BERTH" wait "$all"
expect_status 0 "$BERTH" pilot remove "$waits"
await 'the pilot to be gone' no_pilots

# Of another partition, and gone before they have come: what waited for them fails, and says so.
touch "$slurm/never"
expect_status 0 "$BERTH" pilot add slurm --nodes 3 -- -p wide -C a
expect 'what sinfo is asked of a partition' '-h -e -o %P|%c|%m|%G|%f -p wide' "$(tail -n 1 "$slurm/sinfo.asked")"
all=$("$BERTH" submit -t 1m -N 3 -n 3 -c 8 -g 4 true)
"$BERTH" explain "$all" | grep -q "What it waits for may come with pilot $((waits + 1)), which Slurm has been asked for" ||
    fail "explain: $("$BERTH" explain "$all")"
expect_status 0 "$BERTH" pilot remove $((waits + 1))
await_state "$all" failed
"$BERTH" show "$all" | grep -q '^reason *unsatisfiable: asks for ' || fail "never: $("$BERTH" show "$all")"
await 'the pilot to be gone' no_pilots
rm "$slurm/sinfo" "$slurm/never"

# Two nodes come. What was asked of Slurm, and with whose environment.
expect_status 0 env SBATCH_PARTITION=x SLURM_JOB_ID=9 "$BERTH" pilot add slurm --nodes 2 --time 61m
grep -q "^pilot [0-9]*, Slurm's job [0-9]*$" out || fail "add: $(cat out)"
job_number=$(sed "s/.*job //" out)
first=$(sed 's/^pilot \([0-9]*\),.*/\1/' out)
await 'two nodes' is_up "$first" 2
grep -q -e '--nodes=2 .*--time=61 .*--exclusive --mem=0$' "$slurm/asked" || fail "asked: $(cat "$slurm/asked")"
grep -q -E '^(SBATCH_|SLURM_JOB_ID)' "$slurm/environment" && fail 'sbatch sees what is for another allocation'
expect 'cores of this machine and two nodes with 2' 5 "$(cores)"

# Jobs run there, with their own environment.
# shellcheck disable=SC2016  # for the job's shell
job=$("$BERTH" submit -t 1m -c 2 -o there sh -c 'echo "$BERTH_NODES [$SLURM_JOB_ID]"; exit 3')
expect_status 3 "$BERTH" wait "$job"
grep -q -E '^f[12] \[\]$' there || fail "on a node: $(cat there)"
job=$("$BERTH" submit -t 1m -c 1 -g 1 -o there sh -c 'echo "$CUDA_VISIBLE_DEVICES"')
expect_status 0 "$BERTH" wait "$job"
expect 'the GPU as the allocation calls it' "GPU-$job_number" "$(cat there)"

# One that may last for longer than the node is lent does not start there, nor one that may last for ever.
long=$("$BERTH" submit -t 2h -c 2 true)
job=$("$BERTH" submit -t 1m -c 2 true)
expect_status 0 "$BERTH" wait "$job"
expect 'a job that does not fit before the end' pending "$(state "$long")"
"$BERTH" explain "$long" | grep -q 'those of block pilot-[0-9]* are taken back before it would end' || fail "explain: $("$BERTH" explain "$long")"
"$BERTH" jobs | grep -q 36500 && fail "a start in a hundred years: $("$BERTH" jobs)"
expect_status 0 "$BERTH" cancel "$long"

# A job over both: each has its tasks, and all write to one file.
# shellcheck disable=SC2016
job=$("$BERTH" submit -t 1m -N 2 -n 4 -o wide sh -c 'echo "$BERTH_TASK_INDEX $BERTH_NODE $BERTH_NODES"')
expect_status 0 "$BERTH" wait "$job"
expect 'tasks of a job on two nodes' '0 f1 f[1-2],1 f1 f[1-2],2 f2 f[1-2],3 f2 f[1-2],' "$(sort wide | tr '\n' ',')"
# shellcheck disable=SC2016
expect_status 3 "$BERTH" run -t 1m -N 2 -n 2 sh -c 'exit $((BERTH_TASK_INDEX * 3))' </dev/null

# It is held while the server is away, whatever of it ends meanwhile, and has one end.
# shellcheck disable=SC2016
job=$("$BERTH" submit -t 1m -N 2 -n 4 -o wide sh -c 'echo "begun $BERTH_TASK_INDEX"; [ $BERTH_TASK_INDEX -lt 2 ] && exit 0
    while [ ! -e wide.go ]; do sleep 0.05; done; exit $BERTH_TASK_INDEX')
await 'all tasks to begin' sh -c '[ "$(wc -l <wide)" = 4 ]'
crash
expect_status 0 "$BERTH" server start
await_state "$job" running
touch wide.go
expect_status 3 "$BERTH" wait "$job"
expect 'tasks that have begun' 4 "$(wc -l <wide)"

# Stopped, it ends on both.
job=$("$BERTH" submit -t 1m -N 2 -n 2 sh -c 'exec sleep '$((4000 + $$)))
await_state "$job" running
expect_status 0 "$BERTH" cancel "$job"
await_state "$job" cancelled
pgrep -f "sleep $((4000 + $$))" >/dev/null && fail 'a task of a job that is cancelled runs on'

# A gang of a member on each meets there, though the server was away in between.
if command -v python3 >/dev/null; then
    sed -n '/^```python$/,/^```/p' "$BERTH_SOURCE/doc/gangs.md" | sed '1d; $d' >sum.py
    # shellcheck disable=SC2016
    gang=$("$BERTH" submit -t 1m --gang 2 -c 2 -o 'gang.%a' sh -c 'echo "on $BERTH_NODE"
        while [ ! -e gang.go ]; do sleep 0.05; done; exec timeout 30 python3 sum.py')
    await 'both members to begin' grep -q on gang.0 gang.1
    crash
    expect_status 0 "$BERTH" server start
    touch gang.go
    expect_status 0 "$BERTH" wait "$gang"
    cat gang.? >gang
    grep -q 'rank 0 of 2: the sum is 1' gang && grep -q 'rank 1 of 2: the sum is 1' gang || fail "a gang: $(cat gang)"
    expect 'nodes of a gang' 2 "$(grep '^on f' gang | sort -u | wc -l)"
fi

# 300 jobs, and meanwhile the server is killed, the gate, and agents: each has run once.
mkdir ran
# shellcheck disable=SC2016
array=$("$BERTH" submit -t 1m --array 300 -o /dev/null sh -c 'mkdir ran/$BERTH_ARRAY_INDEX && sleep 0.02')
sleep 0.5
crash
expect_status 0 "$BERTH" server start
for program in berth-gate berth-agent berth-gate; do
    sleep 0.3
    who=called
    [ $program = berth-agent ] && who=childless # of two the one that started the other lives on
    for pid in $($who $program); do
        kill -9 "$pid"
    done
done
expect_status 0 "$BERTH" wait "$array"
expect 'members that have run' 300 "$(find ran -mindepth 1 | wc -l)"

# A job outlives the server.
job=$("$BERTH" submit -t 1m -c 2 -o there sh -c 'touch begun; while [ ! -e go ]; do sleep 0.05; done; echo once')
await 'the job to begin' test -e begun
crash
expect_status 0 "$BERTH" server start
touch go
expect_status 0 "$BERTH" wait "$job"
expect 'what it wrote' once "$(cat there)"
await 'both nodes again' is_up "$first" 2

# sbatch says that it does not know: the pilot is kept, and its node comes.
echo late >"$slurm/mood"
expect_status 1 "$BERTH" pilot add slurm --time 1h
second=$((first + 1))
grep -q "^berth pilot: pilot $second is kept, since Slurm may have its job all the same$" err || fail "late: $(cat err)"
rm "$slurm/mood"
await 'the node of a job that nobody knew' is_up $second 1
expect 'cores with a third node' 7 "$(cores)"
"$BERTH" pilot list | grep -q "^ *$second  up  *$((job_number + 1)) " || fail "the job's number is learnt: $("$BERTH" pilot list)"

# Cancelled: what runs there is lost, or comes again; then all is as before.
lost=$("$BERTH" submit -t 1m -c 2 sleep 1000)
again=$("$BERTH" submit -t 1m -c 2 --requeue sleep 1000)
third=$("$BERTH" submit -t 1m -c 2 --requeue sleep 1000)
await_state "$lost" running
await_state "$again" running
await_state "$third" running
expect_status 0 "$BERTH" pilot remove "$first"
expect_status 0 "$BERTH" pilot remove $second
await_state "$lost" failed
await 'the pilots to be gone' no_pilots
expect 'cores of this machine' 1 "$(cores)"
"$BERTH" cancel "$again" "$third" 2>/dev/null
ls "$BERTH_DIR"/pilots/*/key >/dev/null 2>&1 && fail 'a secret is left'

finish
