#!/bin/sh
# What people read: why a job waits or is refused, in words; wrong words on the command line; where a file is meant.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
cat >"$BERTH_DIR.yaml" <<'END'
resources: {nodes: 1, cores: 2, memory: 4}
queues:
  main: {limits: {job: {duration: 2h, core: 1}, user: {running: 1}}, default-limit: 1h}
  wide: {policy: fcfs}
default-queue: main
END
expect_status 0 "$BERTH" server start --config "$BERTH_DIR.yaml"
"$BERTH" server status >out
grep -qx "configured $BERTH_DIR.yaml" out || fail "no configuration in the status: $(cat out)"

# Who is refused for a limit is told of which queue it is, and what was asked for.
expect_status 1 "$BERTH" submit -t 3h true
expect_err 'berth submit: a job in queue main may last at most 2h, it asks for 3h'
expect_status 1 "$BERTH" submit -t unlimited true
expect_err 'berth submit: a job in queue main may last at most 2h, it has no limit'
expect_status 1 "$BERTH" submit -c 2 true
expect_err 'berth submit: a job in queue main may have at most 1 core'

# The column REASON has words, --json the reason.
mkfifo gate
first=$("$BERTH" submit sh -c "cat $scratch/gate")
await_state "$first" running
second=$("$BERTH" submit true)
third=$("$BERTH" submit -q wide -c 2 --dependency "afterany:$first" true)
"$BERTH" jobs >out
grep -q "^ *$second .* reserved\$" out || fail "a limit, with a promise: $(cat out)"
grep -q "^ *$third .* waits for job $first\$" out || fail "a dependency: $(cat out)"
"$BERTH" submit -q wide -c 2 true >/dev/null
"$BERTH" drain node0/core1 a fan
"$BERTH" jobs >out
grep -q ' waits for cores$' out || fail "cores: $(cat out)"
"$BERTH" jobs --json >out
grep -q '"reason":"resources core"' out || fail "the reason as it is: $(cat out)"
"$BERTH" resume node0/core1
echo >gate
for job in "$first" "$second" "$third"; do
    expect_status 0 "$BERTH" wait "$job"
done
"$BERTH" explain "$second" >out
expect_line out 'It has ended after less than a second.'

# A wrong word on the command line is a wrong command line.
for wrong in --name= --queue=; do
    expect_status 2 "$BERTH" submit "$wrong" true
    expect_err "berth submit: ${wrong%=} is '', expected a text that is not empty; see 'berth submit --help'"
done
expect_status 2 "$BERTH" signal -s FOO 1
expect_err "berth signal: --signal is 'FOO', expected a signal such as USR1; see 'berth signal --help'"
expect_status 2 "$BERTH" cancel --state done
expect_err "berth cancel: --state is 'done', expected pending, held or running; see 'berth cancel --help'"
for wrong in waiting ,done '' done,waiting; do
    expect_status 2 "$BERTH" jobs --state "$wrong"
    expect_err "berth jobs: --state is '$wrong', expected pending, held, running, done, failed, cancelled or timeout; see 'berth jobs --help'"
done
expect_status 0 "$BERTH" jobs --state DONE,held
expect_status 2 "$BERTH" history --state waiting
expect_err "berth history: --state is 'waiting', expected done, failed, cancelled or timeout; 'berth jobs' lists others; see 'berth history --help'"
expect_status 2 "$BERTH" history --plot x.png
expect_err "berth history: --plot is 'x.png', expected the name of an SVG file, such as jobs.svg; see 'berth history --help'"

# A size without a unit is bytes, which hardly anybody means.
expect_status 0 "$BERTH" submit --hold --mem 512 true
expect_err 'berth: --mem 512 is 512 bytes; 512M is in megabytes'
expect_status 0 "$BERTH" submit --hold --mem 512M true
[ ! -s err ] || fail "512M: $(cat err)"

expect_status 1 "$BERTH" submit --mem 5G true
expect_err 'berth submit: unsatisfiable: asks for 5 GB of memory, the machine has 4'

# What is shown of a job: a reason as the lists have it, and a script as it is written.
printf '#!/bin/sh\n# Two lines\n\n  echo done\n' >lines.sh
chmod +x lines.sh
one_waits() {
    [ "$("$BERTH" jobs --no-header -o reason "$1" | head -n 1)" = "the array's limit: 1 running" ]
}
few=$("$BERTH" submit --array 0-3%1 sleep 1000)
await 'the array to wait for one of it' one_waits "$few"
expect_status 0 "$BERTH" show "$few"
grep -qx "reason  *the array's limit: 1 running" out || fail "the reason: $(cat out)"
script=$("$BERTH" submit --hold ./lines.sh)
expect_status 0 "$BERTH" show "$script"
expect 'a script' '  #!/bin/sh
  # Two lines

    echo done' "$(sed -n '/^script$/,/^events$/p' out | sed '1d; /^[a-z]/d')"
expect_status 0 "$BERTH" cancel "$few"

# Which file it is that is wrong, and which is meant.
echo '{"corez": 3, "command": ["true"]}' >bulk
expect_status 1 "$BERTH" submit --bulk bulk
expect_err 'berth submit: bulk: unknown key "corez", did you mean "cores"?'
printf 'echo hi\n' >plain
chmod +x plain
expect_status 127 "$BERTH" run plain
grep -qx "berth run: there is no program 'plain'; the file of this folder is ./plain" err || fail "a file: $(cat err)"
finish
