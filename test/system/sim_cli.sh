#!/bin/sh
# berth sim: wrong command lines, failures that are not the command line's, and where results go.
. "$BERTH_SOURCE/test/lib.sh"
cd "$scratch" || exit 1

wrong() { # MESSAGE ARG...: one line on standard error, nothing on standard output, status 2
    message=$1
    shift
    expect_status 2 "$BERTH" sim "$@"
    expect_line err "berth sim: $message; see 'berth sim --help'"
    [ -s out ] && fail "writes to standard output: berth sim $*"
}
wrong "no trace given: name a file, - or --model lublin"
wrong "one trace at a time, but 'b' follows 'a'" a b
wrong "the trace's name is empty" ''
wrong "unknown option '--verbose'" --verbose
wrong "unknown option '--jobs-countt' (did you mean '--jobs-count'?)" --jobs-countt 3
wrong "unknown option '-x'" -x
wrong "--json takes no argument" --json=yes a
wrong "'--policy' takes a value" a --policy
wrong "--policy: 'sjf' is not fcfs, easy, hybrid, conservative or ageing" --policy fcfs,sjf a
wrong "--policy: '' is not fcfs, easy, hybrid, conservative or ageing" --policy easy, a
wrong "--policy: 'easy' is given twice" --policy easy,fcfs,easy a
wrong "--events: 'together' is not batched or per-event" --events together a
wrong "--order: 'longest' is not submit, shortest or priority" --order longest a
wrong "--estimates: 'none' is not user or exact" --estimates none a
for option in procs tau limit queue-depth; do
    for value in 0 -1 1.5 1e3 ten '' ' 1' 9999999999999999999999; do
        wrong "--$option: '$value' is not a whole number from 1 to 1000000000000000" "--$option" "$value" a
    done
done
wrong "--reservation-depth: '-1' is not a whole number from 1 to 1000000000000000" --reservation-depth -1 a
wrong "--jobs: the file's name is empty" --jobs '' a
wrong "--plot: the file's name is empty" --plot= a
wrong "--model: 'jann' is not lublin" --model jann
wrong "--jobs-count: '0' is not a whole number from 1 to 100000000" --model lublin --jobs-count 0
wrong "--seed: '-1' is not a whole number from 0 to 18446744073709551615" --model lublin --seed -1
wrong "either a trace or --model, but got 'a' too" --model lublin a
wrong "--limit is for traces; a model takes --jobs-count" --model lublin --limit 5
wrong "--procs: the model goes up to 1000000000" --model lublin --procs 1000000001
wrong "--seed is for --model lublin" --seed 5 a
wrong "--jobs-count is for --model lublin" --jobs-count 5 a

failing() { # PATTERN ARG...: one line on standard error that matches, status 1
    pattern=$1
    shift
    expect_status 1 "$BERTH" sim "$@"
    [ "$(wc -l <err)" -eq 1 ] || fail "not one line on standard error: berth sim $*"
    grep -q "^berth sim: $pattern" err || fail "expected '$pattern', got $(cat err)"
}
cat >good.swf <<'SWF'
; MaxProcs: 4
1 0 -1 10 4 -1 -1 4 20 -1 1 1 1 1 1 1 -1 -1
3 1 -1 10 2 -1 -1 2 10 -1 1 1 1 1 1 1 -1 -1
2 2 -1  5 4 -1 -1 4 10 -1 1 1 1 1 1 1 -1 -1
4 3 -1  0 1 -1 -1 1 10 -1 1 1 1 1 1 1 -1 -1
5 3 -1  5 8 -1 -1 8 10 -1 1 1 1 1 1 1 -1 -1
SWF
sed 's/^3 1 /3 one /' good.swf >bad.swf
sed '1d' good.swf >sizeless.swf
failing 'missing.swf: No such file or directory' missing.swf
failing 'bad.swf:3: field 2 ' bad.swf
failing 'sizeless.swf:1: ' sizeless.swf
failing 'none/a.csv: No such file or directory' --jobs none/a.csv good.swf
failing 'none/a.svg: No such file or directory' --plot none/a.svg good.swf
if [ -w /dev/full ]; then
    failing '/dev/full: No space left on device' --jobs /dev/full good.swf
    failing '/dev/full: No space left on device' --plot /dev/full good.swf
    "$BERTH" sim --json good.swf >/dev/full 2>err
    [ $? -eq 1 ] || fail "a full disk goes unnoticed"
    [ "$(wc -l <err)" -eq 1 ] || fail "a full disk is not told in one line"
fi
failing 'none/a.csv: No such file or directory' --jobs none/a.csv missing.swf # before any work
failing './-: No such file' --plot a.svg ./-
# What is asked for must not cost the trace, nor one output the other.
cp good.swf precious.swf
ln precious.swf linked.swf
for output in precious.swf ./precious.swf linked.swf; do
    wrong "--plot: '$output' is the trace" --plot $output precious.swf
    wrong "--jobs: '$output' is the trace" --jobs $output precious.swf
done
wrong "--jobs and --plot are the same file, './a.out'" --jobs a.out --plot ./a.out good.swf
cp good.swf p.easy.swf
wrong "--jobs: 'p.easy.swf' is the trace" --policy fcfs,easy --jobs p.swf p.easy.swf
wrong "--jobs: '/dev/null' is a single file, but each policy needs one" --policy fcfs,easy --jobs /dev/null good.swf
# "-" is standard output, as for --decisions, and never a file of that name.
wrong "--jobs: '-' is a single file, but each policy needs one" --policy fcfs,easy --jobs - good.swf
wrong "--jobs and --plot are the same file, '-'" --jobs - --plot - good.swf
cmp good.swf precious.swf || fail "the trace was written to"
cmp good.swf p.easy.swf || fail "the trace was written to"
rm precious.swf linked.swf p.easy.swf
# No file is mistaken for a standard stream that is closed.
"$BERTH" sim --jobs a.csv good.swf >&- 2>err
[ $? -eq 1 ] || fail "a closed standard output goes unnoticed"
expect_line err 'berth: standard output: Bad file descriptor'
grep -q wait a.csv && fail "the table is in a.csv"
rm a.csv
"$BERTH" sim - <&- >out 2>err
[ $? -eq 1 ] || fail "a closed standard input goes unnoticed"
expect_line err 'berth sim: standard input: Bad file descriptor'
# A run that is interrupted leaves nothing; it waits for its input here.
mkfifo input
"$BERTH" sim --jobs a.csv --plot a.svg --procs 4 input 2>err &
exec 3>input
until [ "$(ls -- *.tmp 2>err | wc -l)" -eq 2 ]; do sleep 0.05; done
kill -TERM $!
wait $!
[ $? -eq 143 ] || fail "an interrupted run ends as if it had not been"
exec 3>&-
rm input
# Nothing is left behind by those that failed.
[ "$(ls)" = "$(printf '%s\n' bad.swf err good.swf out sizeless.swf)" ] || fail "files are left: $(ls)"

# One policy, one file; several, one each. Rows are in order of id.
expect_status 0 "$BERTH" sim --policy fcfs --jobs a.csv --plot a.svg good.swf
[ -s err ] && fail "writes to standard error: $(cat err)"
grep -q '^dropped: 1 no_run_time, 1 too_big$' out || fail "what was dropped is not told"
printf '%s\n' job,submit,start,end,procs,run,req 1,0,0,10,4,10,20 2,2,20,25,4,5,10 3,1,10,20,2,10,10 |
    cmp - a.csv || fail "a.csv: $(cat a.csv)"
tail -n 1 a.svg | grep -qx '</svg>' || fail "a.svg is not whole"
expect_status 0 "$BERTH" sim --policy fcfs --jobs - good.swf
cmp out a.csv || fail "standard output has more, or less, than the rows: $(cat out)"
expect_status 0 "$BERTH" sim --policy fcfs --json --plot - good.swf
cmp out a.svg || fail "standard output has more, or less, than the picture"
expect_status 0 sh -c "'$BERTH' sim --policy fcfs,easy --jobs b.csv.gz - <good.swf"
[ -f b.csv.gz ] && fail "b.csv.gz is not for several policies"
gzip -dc b.fcfs.csv.gz | cmp - a.csv || fail "b.fcfs.csv.gz differs from a.csv"
[ -s b.easy.csv.gz ] || fail "no b.easy.csv.gz"

# Slurm's nodes are not known here.
echo 'engine: slurm' >slurm.yaml
expect_status 1 "$BERTH" sim --config slurm.yaml good.swf
grep -q '^berth sim: slurm.yaml: key "engine": expected resources instead: ' err || fail "engine: slurm: $(cat err)"

# The same seed makes the same workload, another seed another.
for run in 1 2 3; do
    seed=7
    [ $run -eq 3 ] && seed=8
    expect_status 0 "$BERTH" sim --model lublin --jobs-count 200 --seed $seed --jobs m$run.csv
done
cmp m1.csv m2.csv || fail "one seed makes two workloads"
cmp -s m1.csv m3.csv && fail "two seeds make one workload"
finish
