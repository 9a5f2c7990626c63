#!/bin/sh
# Jobs that somebody sits before: standard input, standard error, terminals, shells in allocations.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
machine 4
TERMINAL=$BERTH_BUILD/test/system/terminal
XDG_RUNTIME_DIR=$scratch
export XDG_RUNTIME_DIR

# The id of the job that ended last
last() {
    "$BERTH" history -n 1 --json | sed -n 's/.*"id":\([0-9]*\),.*/\1/p'
}

# Standard input goes to the job, all of it, and only as much as the job reads.
expect "input" data "$(echo data | "$BERTH" run cat)"
head -c 3000000 /dev/zero >zeros
expect "much input" 3000000 "$("$BERTH" run wc -c <zeros)"
# shellcheck disable=SC2002  # a pipe
expect "much input in a pipe" 3000000 "$(cat zeros | "$BERTH" run wc -c)"
# shellcheck disable=SC2016  # the job's shell
expect "two readers" "got one two" "$(printf 'one\ntwo\n' | { "$BERTH" run sh -c 'read x; echo got $x'; cat; } | tr '\n' ' ' | sed 's/ $//')"
expect "no input" 0 "$("$BERTH" run wc -c </dev/null)"
expect "closed input" 0 "$("$BERTH" run wc -c <&-)"
# shellcheck disable=SC2016
expect "a script from the input" "here 0" "$(printf '#!/bin/sh\necho here $(wc -c)\n' | "$BERTH" run -)"
# shellcheck disable=SC2016
expect "the first task's input" "0 word 1 " "$(echo word | "$BERTH" run -n 2 sh -c 'echo $BERTH_TASK_INDEX $(cat)' | sort | tr '\n' ' ' | sed 's/  */ /g')"
# Of an array or a gang no member has it, nor a terminal.
expect_status 2 "$BERTH" run --pty --role a:1 --role b:1 true
expect_err "berth run: a job with a terminal takes no --role; see 'berth run --help'"
for several in '--array 2' '--gang 2' '--role a:1 --role b:1'; do
    # shellcheck disable=SC2086  # words
    expect "input and $several" "0 0" "$(echo data | "$BERTH" run $several wc -c | sed 's/.*: //' | tr '\n' ' ' | sed 's/ $//')"
done
cat >"$scratch/gang.json" <<'END'
{"version": 1, "resources": [{"type": "slot", "count": 1, "label": "s", "with": [{"type": "core", "count": 1}]}],
 "tasks": [{"command": ["wc", "-c"], "slot": "s", "count": {"per_slot": 1}}],
 "attributes": {"system": {"duration": 60, "gang": {"members": 2, "min": 2}}}}
END
expect "input and a jobspec of a gang" "0 0" "$(echo data | "$BERTH" run --jobspec "$scratch/gang.json" | sed 's/.*: //' | tr '\n' ' ' | sed 's/ $//')"
ls -d "$scratch"/berth-* 2>/dev/null && fail "sockets stay behind"

# Standard error stays apart; where both are one file, their order is kept.
"$BERTH" run sh -c 'echo out; echo err >&2; echo more' >out 2>err </dev/null
expect "standard output" "out more" "$(tr '\n' ' ' <out | sed 's/ $//')"
expect_err err
"$BERTH" run sh -c 'echo out; echo err >&2; echo more' >out 2>&1 </dev/null
expect "both" "out err more" "$(tr '\n' ' ' <out | sed 's/ $//')"
expect "its log" err "$("$BERTH" run sh -c 'echo err >&2' 2>/dev/null </dev/null; "$BERTH" log -e "$(last)")"

# A command that is not there, or can't be executed: as in a shell, and in the history.
expect_status 127 "$BERTH" run no-such-command
expect_line err "berth run: job $(last): failed: no-such-command: No such file or directory"
expect "the event of it" 127 "$("$BERTH" history -n 1 --json | sed -n 's/.*"exit":\([^,]*\),.*/\1/p')"
: >data
expect_status 126 "$BERTH" run ./data
expect_status 1 "$BERTH" run --chdir /no/such/folder true

# A terminal, as large as ours, that follows it; keys; a status.
expect_status 2 "$BERTH" run --pty -o file true
expect_err "berth run: a job with a terminal takes no --output; see 'berth run --help'"
expect_status 2 "$BERTH" submit --pty true
expect_status 1 "$BERTH" run --pty -n 2 true
expect "lines of a refusal" 1 "$(wc -l <err)"
cat >talk.sh <<'END'
#!/bin/sh
trap 'echo size $(stty size)' WINCH
trap 'echo interrupted; exit 7' INT
test -t 0 && test -t 1 && test -t 2 && echo size $(stty size)
until read -r name; do :; done # a signal ends it
echo "hello $name"
while :; do sleep 0.1; done
END
chmod 755 talk.sh
"$TERMINAL" "$BERTH" run --pty ./talk.sh >shown <<'END'
await size 30 100
size 40 132
await size 40 132
type you\r
await hello you
type \c
await interrupted
END
expect "the status of a job in a terminal" 7 $?
# Our terminal is as before: after the job, the shell around it reads whole lines with an echo.
cat >around <<'END'
#!/bin/sh
stty -a >before
"$BERTH" run --pty true
stty -a >after
END
chmod 755 around
"$TERMINAL" ./around </dev/null >shown
cmp before after || fail "the terminal has other settings"

# Input that is no terminal, and its end.
echo 'test -t 0 && exit 5' | "$BERTH" run --pty sh >shown
expect "a shell whose input is a pipe" 5 $?

# It goes on over a crash of the server, and while there is none.
"$TERMINAL" "$BERTH" run --pty ./talk.sh >shown 2>err <<END
await size 30 100
run kill -9 \$(cat $BERTH_DIR/berthd.lock)
type still\r
await hello still
run until $BERTH server start 2>$scratch/said; do sleep 0.05; done
size 20 90
await size 20 90
type \\c
await interrupted
END
status=$?
[ "$status" -eq 7 ] || fail "the status over a crash: $status: $(cat err shown)"

# While it waits, Ctrl-C gives up.
block=$("$BERTH" submit -c 4 sleep 1000)
await_state "$block" running
"$TERMINAL" "$BERTH" run --pty ./talk.sh >shown <<'END'
await waits
type \c
await cancelled
END
[ $? -eq 1 ] || [ $? -eq 143 ] || fail "the status of giving up: $?"

# A client that is killed while its job waits: what would read a terminal, or a pipe, does not run at all.
"$BERTH" run sh -c "touch '$scratch/ran'" <zeros &
client=$!
await "a job that waits" sh -c "'$BERTH' jobs --no-header -s pending | grep -q ."
kill -9 $client
wait $client 2>/dev/null
id=$("$BERTH" jobs --no-header -s pending | awk '{ print $1 }')
"$BERTH" cancel "$block"
await_state "$id" failed
expect "its reason" '"input: the client that passes it on is gone"' "$(get "$id" reason)"
[ -e ran ] && fail "it ran without its input"

# Nobody else gets in: the socket is in a folder of our own.
rm -rf "$scratch"/berth-?????? # of the client that was killed
mkfifo pipe
exec 9<>pipe
"$BERTH" run cat <pipe &
client=$!
await "a job that reads" sh -c "'$BERTH' jobs --no-header -s running | grep -q ."
expect "the folder" 700 "$(stat -c %a "$scratch"/berth-??????)"
id=$("$BERTH" jobs --no-header -s running | awk '{ print $1 }')
expect_status 0 "$BERTH" cancel "$id"
wait $client
exec 9>&-

# alloc: a shell on what was asked for, given back when it ends.
export SHELL=/bin/sh PS1='$ '
"$TERMINAL" "$BERTH" alloc -n 2 -c 2 --name work >shown <<END
await \$
type echo job \$BERTH_JOB_NAME of \$BERTH_TASKS\r
await job work of 2
run test \$($BERTH jobs --no-header -s running | wc -l) = 1
run test "\$($BERTH show --json \$($BERTH jobs --no-header -s running | awk '{ print \$1 }') | sed -n 's/^  "cores": \\(.*\\),/\\1/p')" = 4
type exit 4\r
END
expect "the status of a shell" 4 $?
expect "what runs afterwards" 0 "$("$BERTH" jobs --no-header -s running | wc -l)"
expect_status 127 "$BERTH" alloc no-such-command
expect_status 2 "$BERTH" alloc --bulk x
finish
