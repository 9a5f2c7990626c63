#!/bin/sh
# The first minute: run and submit with nothing set up.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1

# Nobody runs: verbs that only look say so; those that submit start one.
expect_status 1 "$BERTH" jobs
expect_err "berth jobs: no server is running for $BERTH_DIR; 'berth server start' starts one"
expect_status 0 "$BERTH" run echo hello
expect_line out hello
[ -s err ] && fail "run writes to standard error"
expect_status 0 "$BERTH" server status
grep -q "^directory  $BERTH_DIR$" out || fail "status has no directory"

# Exit statuses are those of the job.
for status in 0 1 7 255; do
    expect_status $status "$BERTH" run sh -c "exit $status"
done
expect_status 137 "$BERTH" run sh -c 'kill -KILL $$'
expect_status 134 "$BERTH" run sh -c 'kill -ABRT $$'

# Output and errors come through, in full, and also when they are long.
expect_status 3 "$BERTH" run sh -c 'echo out; echo err >&2; exit 3'
expect_line out out
expect_line err err
expect_status 0 "$BERTH" run seq 200000
seq 200000 | cmp -s - out || fail "long output is not complete"
expect_status 0 "$BERTH" run -e apart sh -c 'echo out; echo err >&2'
expect_line out out
expect_line err err
expect "the file of -e" err "$(cat apart)"

# Output goes on while the job runs: it waits for what follows from its own output.
mkfifo go
"$BERTH" run sh -c "echo ready; cat '$scratch/go'; echo end" >streamed 2>&1 &
run=$!
await "output of a running job" grep -q ready streamed
echo gone >go
wait $run || fail "run of a job that streams: status $?"
expect "streamed output" "ready gone end" "$(tr '\n' ' ' <streamed | sed 's/ $//')"

# Scripts, their lines of options, their arguments; a change after submission does not matter.
cat >work.sh <<'END'
#!/bin/sh
# a comment
#BERTH -c 1 --name "from script" -t 5m
#BERTH --env=COLOUR=blue  # another

#BERTH -n 1
echo "$BERTH_JOB_NAME $COLOUR $1 $2"
#BERTH --no-such-option
END
chmod 755 work.sh
expect_status 0 "$BERTH" run ./work.sh 'a b' c
expect_line out 'from script blue a b c'
expect_status 0 "$BERTH" run --name mine --env COLOUR=red ./work.sh x y
expect_line out 'mine red x y'
expect_status 0 sh -c "'$BERTH' run - stdin <work.sh"
"$BERTH" run - 1 2 <work.sh >out || fail "a script from standard input"
expect_line out 'from script blue 1 2'
printf '#!/bin/sh\n#BERTH --frobnicate\n' >bad.sh
chmod 755 bad.sh
expect_status 2 "$BERTH" run ./bad.sh
expect_err "berth run: ./bad.sh: line 2: unknown option '--frobnicate'; see 'berth run --help'"
printf '#!/bin/sh\n#BERTH --name "x\n' >bad.sh
expect_status 2 "$BERTH" run ./bad.sh
expect_err "berth run: ./bad.sh: line 2: a quote is not closed; see 'berth run --help'"

# Environment, directory, input and output patterns.
FROM_HERE=1 "$BERTH" run sh -c 'echo "$FROM_HERE $BERTH_QUEUE $BERTH_TASKS"' >out
expect_line out '1 default 1'
FROM_HERE=1 "$BERTH" run --env=-FROM_* --env ADDED=2 sh -c 'echo "${FROM_HERE-none} $ADDED"' >out
expect_line out 'none 2'
mkdir -p sub
expect_status 0 "$BERTH" run --chdir sub pwd
expect_line out "$(cd sub && pwd -P)"
echo input >given
expect_status 0 "$BERTH" run -i given cat
expect_line out input
expect_status 0 "$BERTH" run cat
[ -s out ] && fail "input is not empty"
id=$("$BERTH" submit --name pat -o 'sub/%n-%j.txt' echo patterned)
expect_status 0 "$BERTH" wait "$id"
expect "a pattern" patterned "$(cat "sub/pat-$id.txt")"

# Many tasks are many processes.
if [ "$(nproc)" -ge 2 ]; then
    "$BERTH" run -n 2 sh -c 'echo $BERTH_TASK_INDEX' | sort >out
    expect "tasks" "0 1" "$(tr '\n' ' ' <out | sed 's/ $//')"
fi

# Bad jobs: one clear line each.
expect_status 127 "$BERTH" run ./no-such-command
expect "lines of a job without a command" 1 "$(wc -l <err)"
grep -q 'no-such-command.*No such file' err || fail "no clear line: $(cat err)"
expect_status 1 "$BERTH" run --chdir /no/such/folder true
grep -q '/no/such/folder.*No such file' err || fail "no clear line: $(cat err)"
: >unreadable
expect_status 126 "$BERTH" run ./unreadable
grep -q 'unreadable.*Permission denied' err || fail "no clear line: $(cat err)"
expect_status 1 "$BERTH" run -o /no/such/folder/file true
grep -q '/no/such/folder' err || fail "no clear line: $(cat err)"
expect "the status of a job that never ran" null "$("$BERTH" history -n 1 --json | sed -n 's/.*"exit":\([^,]*\),.*/\1/p')"
expect_status 1 "$BERTH" submit -c 1000000 true
expect "lines of a job that is too large" 1 "$(wc -l <err)"
[ -s out ] && fail "an id is printed of a job that was refused"

# Wrong command lines: status 2 and one line.
wrong() {
    message=$1
    shift
    expect_status 2 "$BERTH" "$@"
    expect_err "berth $1: $message; see 'berth $1 --help'"
}
wrong "no command given, expected a command or a script" submit
wrong "--cores-per-task is 'x', expected a whole number from 1 to 1000000000" submit -c x true
wrong "--time-limit is '5x', expected a duration such as 90, 30m, 1h30m or 1:30:00, or unlimited" submit -t 5x true
wrong "--estimate is 'never', expected a duration such as 90, 30m, 1h30m or 1:30:00, or unknown" submit --estimate never true
wrong "--estimate is longer than --time-limit, expected at most as long" submit -t 1h --estimate 61m true
wrong "--estimate is longer than --time-limit, expected at most as long" run --estimate 2 -t 1 true
wrong "--estimate is longer than --time-limit, expected at most as long" update -t 1h --estimate 2h 1
wrong "--mem is '4Q', expected a size such as 512M or 4G" submit --mem 4Q true
wrong "--mem is '0', expected a size such as 512M or 4G" submit --mem 0 true
wrong "--signal is 'XX', expected a signal and how long before the limit, USR1@60" submit --signal XX true
wrong "--signal is '@60', expected a signal and how long before the limit, USR1@60" submit --signal @60 true
wrong "--array is '': offset 0: expected a number of members such as 10, or their indices such as 0-8:2,17, found the end" submit --array '' true
wrong "--array is '0-8,3': index 3 is given twice" submit --array 0-8,3 true
wrong "--array is '1000000-': offset 0: expected an index from 0 to 999999, found '1'" run --array 1000000- true
wrong "--array is '9%0': offset 2: expected how many members at once, from 1 to 1000000, found '0'" submit --array 9%0 true
wrong "unknown option '--no-such'" run --no-such true
wrong "'x' is not a job, expected 17, 17[2] or a range 3-7" cancel x

# Two clients at once start one server.
"$BERTH" server stop || fail "server stop"
for i in 1 2 3 4 5; do
    "$BERTH" submit true >"id$i" 2>"err$i" &
done
wait
cat err[1-5]
expect "ids of five clients that start a server" 5 "$(sort -u id[1-5] | wc -l)"
expect "servers" 1 "$(called berthd | wc -l)"
expect_status 1 "$BERTHD"
grep -q "^berthd: another berthd (process $(daemon_pid)) serves $BERTH_DIR$" err ||
    fail "a second daemon: $(cat err)"
finish
