#!/bin/sh
# berth query: command lines, where commands come from and answers go, and what becomes of wrong ones.
. "$BERTH_SOURCE/test/lib.sh"
cd "$scratch" || exit 1

cat >machine.json <<'R'
{"version": 1, "execution": {"R_lite": [{"rank": "0-1", "children": {"core": "0-1"}}],
 "nodelist": ["n[0-1]"], "starttime": 0, "expiration": 0}}
R
cat >job.yaml <<'JOB'
version: 9999
resources:
  - {type: slot, count: 1, label: default, with: [{type: core, count: 2}]}
tasks: [{command: [app], slot: default, count: {per_slot: 1}}]
attributes: {system: {duration: 3600}}
JOB
rule='INFO: ============================='
machine='-L machine.json -f rv1exec'

# shellcheck disable=SC2086  # what is a machine is several words
query() { # COMMANDS ARG...: run them on the machine
    commands=$1
    shift
    printf "$commands" | "$BERTH" query $machine "$@" >out 2>err
    status=$?
}

expect() { # FILE LINE...: the file has exactly these lines
    file=$1
    shift
    for line in "$@"; do
        printf '%s\n' "$line"
    done | cmp -s - "$file" && return
    fail "in $file of '$commands', expected: $*"
    sed 's/^/    got: /' "$file"
}

# Command lines.
wrong() { # MESSAGE ARG...
    message=$1
    shift
    expect_status 2 "$BERTH" query "$@"
    expect_line err "berth query: $message; see 'berth query --help'"
    [ -s out ] && fail "writes to standard output: berth query $*"
}
wrong "'x' is not an option; commands come from standard input" -L machine.json x
wrong "--load-format: unknown format 'xml'" -f xml
wrong "--match-format: unknown format 'xml'" --match-format xml
wrong "--graph-format: unknown format 'png'" -g png
wrong "either --load-file or --local" -L machine.json --local
wrong "--load-format is for --load-file" -f jgf --local
wrong "--load-file: the file's name is empty" -L ''
wrong "'-L' takes a value" -L
wrong "--elapse-time takes no argument" --elapse-time=1
wrong "unknown option '-x'" -x
wrong "unknown option '--match'" --match x
expect_status 1 "$BERTH" query -L missing
expect_line err 'berth query: missing: No such file or directory'
expect_status 1 "$BERTH" query -L .
expect_line err 'berth query: .: Is a directory'
expect_status 1 "$BERTH" query
expect_line err 'berth query: conf/default: No such file or directory'
expect_status 1 "$BERTH" query -L job.yaml -f jgf
[ "$(wc -l <err)" -eq 1 ] || fail "a wrong machine is not told in one line"
expect_status 2 "$BERTH" query $machine -P nopolicy
[ "$(wc -l <err)" -eq 1 ] || fail "a wrong policy is not told in one line"
expect_status 0 "$BERTH" query $machine -r 3000000
expect_line err 'WARN: out of range specified for --reserve-vtx-vec: 3000000'
expect_status 0 "$BERTH" query $machine -W node
expect_line err 'WARN: allowlist unsupported'

# A session ends with quit or with the input, and needs no newline at its end.
query ''
[ $status -eq 0 ] || fail "no commands: status $status"
expect out
query '# nothing\n\nquit\nhelp\n'
[ $status -eq 0 ] || fail "quit: status $status"
expect out
query 'match satisfiability job.yaml'
expect out "$rule" 'INFO: Satisfiable request' "$rule"
query 'm allocate job.yaml\r\nm allocate job.yaml\nm allocate job.yaml\n'
[ "$(grep -c 'RESOURCES=ALLOCATED' out)" -eq 2 ] || fail "not two jobs fit"
tail -n 4 out >end
expect end "$rule" 'INFO: No matching resources found' 'INFO: JOBID=3' "$rule"

# What is wrong with a command is told in its place, and the session goes on.
query 'match allocate none\nmatch\nmatch foo job.yaml\nget-status /x\nmatch satisfiability job.yaml\n'
[ $status -eq 0 ] || fail "wrong commands: status $status"
expect err "ERROR: can't open none: No such file or directory" 'ERROR: malformed command' \
    'ERROR: unknown subcmd foo'
expect out 'Could not find path /x in resource graph.' "$rule" 'INFO: Satisfiable request' "$rule"
printf 'get-status /x\nmatch\nget-status /y\n' | "$BERTH" query $machine >both 2>&1
expect both 'Could not find path /x in resource graph.' 'ERROR: malformed command' \
    'Could not find path /y in resource graph.'
query 'cancel 1\001\000\nq'
expect err 'ERROR: line 1 has a zero byte'
{ head -c 1100000 /dev/zero | tr '\0' x && printf '\nget-status /x\n'; } |
    "$BERTH" query $machine >out 2>err
expect err 'ERROR: line 1 is longer than 1048576 bytes'
expect out 'Could not find path /x in resource graph.'
head -c 300000 "$BERTH" | "$BERTH" query $machine >out 2>err || fail "fails on random bytes"

# Answers are there while the input is open, for programs that hold a conversation.
mkfifo commands
"$BERTH" query $machine <commands >out 2>err &
exec 3>commands
echo 'get-status /x' >&3
tries=0
until [ -s out ] || [ $tries -eq 100 ]; do
    sleep 0.05
    tries=$((tries + 1))
done
expect out 'Could not find path /x in resource graph.'
exec 3>&-
wait $! || fail "a closed pipe ends with $?"

# Results go to the file of -t, made even if nothing is written; lists stay.
query 'match allocate job.yaml\nlist\n' -t result
grep -q '^INFO: JOBID=1$' result || fail "-t: no result"
grep -q '^INFO: 1, ALLOCATED, 0, job.yaml, [0-9.e-]*$' out || fail "-t: no list"
query '' -t empty
[ -e empty ] || fail "-t makes no empty file"
query 'match allocate job.yaml\n' -t missing/file
[ $status -eq 1 ] || fail "-t missing/file: status $status"
expect err 'berth query: missing/file: No such file or directory'
if [ -w /dev/full ]; then
    query 'match allocate job.yaml\n' -t /dev/full
    [ $status -eq 1 ] || fail "a full disk goes unnoticed by -t"
    echo help | "$BERTH" query $machine >/dev/full 2>err
    [ $? -eq 1 ] || fail "a full disk goes unnoticed"
fi

# Costs.
query 'match allocate job.yaml\n' -e
for line in 'Graph Load Time: ' 'Vertex Count: 7$' 'Edge Count: 6$' 'number of vertices with rank 1: 3$' \
    'ELAPSE=0' 'PREORDER VISIT COUNT='; do
    grep -q "^INFO: $line" out || fail "-e prints no '$line'"
done

# The graph at the end.
query 'set-property /cluster0/n0 a=<b>&"\n' -o machine
[ "$(grep -c 'label="n[01]"' machine.dot)" -eq 2 ] || fail "machine.dot lacks a node"
[ "$(grep -c -- '->' machine.dot)" -eq 6 ] || fail "machine.dot lacks an edge"
query 'set-property /cluster0/n0 a=<b>&"\n' -o machine -g graphml
grep -q 'a=&lt;b&gt;&amp;"' machine.graphml || fail "machine.graphml lacks a property"
[ "$(grep -c '<edge ' machine.graphml)" -eq 6 ] || fail "machine.graphml lacks an edge"
if command -v python3 >/dev/null 2>&1; then
    python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' machine.graphml ||
        fail "machine.graphml is no XML"
fi
query '' -o missing/machine
[ $status -eq 1 ] || fail "-o missing/machine: status $status"

# By its other name.
ln -s "$BERTH" resource-query
query 'find status=up\n'
cp out expected
echo 'find status=up' | ./resource-query $machine >out
cmp -s out expected || fail "resource-query is not berth query"

# A resource of a kind: one that says so, or says nothing where what it is in says so.
cat >gpus.json <<'R'
{"version": 1, "execution": {"R_lite": [{"rank": "0", "children": {"core": "0-3", "gpu": "0-2"}}],
 "nodelist": ["n0"], "starttime": 0, "expiration": 0}}
R
sed 's/, with: .*/, with: [{type: core, count: 1}, {type: gpu, count: 1, property: "gpu:a"}]}/' job.yaml >kind.yaml
kinds() { # COMMANDS: the GPUs that are given, and what is said of the rest
    printf "$1" | "$BERTH" query -L gpus.json -f rv1exec | grep -oE 'gpu[0-9]|Unsatisfiable|No matching' | tr '\n' ' '
}
[ "$(kinds 'm satisfiability kind.yaml\np /cluster0/n0/gpu1 gpu:a=1\nm allocate kind.yaml\nm allocate kind.yaml\n')" = \
    'Unsatisfiable gpu1 No matching ' ] || fail 'a GPU that is of a kind'
[ "$(kinds 'p /cluster0/n0 gpu:a=1\np /cluster0/n0/gpu2 gpu:b=1\nm allocate kind.yaml\nm allocate kind.yaml\nm allocate kind.yaml\n')" = \
    'gpu1 gpu0 No matching ' ] || fail 'GPUs of a node that is of a kind'

# At a terminal there is a prompt, and a hint for what is no command.
if command -v script >/dev/null 2>&1; then
    printf 'mach\nquit\n' | script -qec "$BERTH query $machine" /dev/null >out 2>&1 </dev/stdin
    grep -q 'resource-query> ' out || fail "no prompt at a terminal"
    grep -q 'unknown command: mach' out || fail "no hint at a terminal"
    printf 'quit\n' | script -qec "$BERTH query $machine -d" /dev/null >out 2>&1
    grep -q 'resource-query> ' out && fail "a prompt in spite of -d"
fi
finish
