#!/bin/sh
# What users write is shown to others: nothing of it controls a terminal.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
machine 2
esc=$(printf '\033')
csi=$(printf '\302\233') # the same in one character, U+009B

# clean FILE: no control character but the ends of lines
clean() {
    LC_ALL=C grep -q "[$(printf '\001')-$(printf '\011')$(printf '\013')-$(printf '\037')$(printf '\177')]" "$1" &&
        fail "$2 prints control characters: $(cat -v "$1")"
    grep -qF "$csi" "$1" && fail "$2 prints control characters beyond ASCII"
}

# Names and reasons are refused, with a line.
for name in "a${esc}[31m" "a${csi}31m" "$(printf 'a\tb')" "$(printf 'a\nb')" "$(printf 'a\177')" a/b "$(printf '%0256d' 0)"; do
    expect_status 1 "$BERTH" submit --name "$name" true
    expect_err "berth submit: key \"name\": expected at most 255 bytes without '/' or control characters"
done
"$BERTH" jobs >out || fail "refused submissions do not start a server"
for reason in "red${esc}[31m" "red$csi" "$(printf '%01001d' 0)"; do
    expect_status 1 "$BERTH" drain node0 "$reason"
    expect_err 'berth drain: key "reason": expected at most 1000 bytes without control characters'
done
expect_status 1 "$BERTH" submit -q "x${esc}[31m" true
expect_err 'berth submit: key "queue": there is no queue "x?[31m"'
expect_status 1 "$BERTH" update -q "x${csi}31m" 1

# A command and an environment may have any; a name that follows from a command is made plain.
printf '#!/bin/sh\necho ran\n' >"e${esc}${csi}.sh"
chmod +x "e${esc}${csi}.sh"
expect_status 0 "$BERTH" run "./e${esc}${csi}.sh"
expect_line out ran
expect "the name of a script" '"e??.sh"' "$(get 1 name)"
expect_status 127 "$BERTH" run "./none${esc}[31m" "${csi}arg" "$(printf 'two\nlines')"
clean err 'berth run'
mkdir "d${esc}${csi}"
expect_status 0 "$BERTH" submit --chdir "d${esc}${csi}" -o "o${esc}.txt" true
expect_status 0 "$BERTH" wait 3
expect_status 0 "$BERTH" submit -c 2 --name tïtle-名前 sleep 1000
expect_status 1 "$BERTH" submit -c 2 --dependency "after${esc}:1" true
clean err 'berth submit'
for verb in 'jobs -a' 'history' 'show 1' 'show 2' 'show 3' 'explain 4' 'resources' 'block list' 'queues' 'server status'; do
    # shellcheck disable=SC2086 # words of a command line
    "$BERTH" $verb >shown 2>&1
    [ -s shown ] || fail "berth $verb prints nothing"
    clean shown "berth $verb"
done
"$BERTH" jobs 4 | grep -q 'tïtle-名前' || fail "a name in UTF-8 is not shown"

# JSON escapes what JSON has to, and says what is there.
"$BERTH" jobs -a --json 2 >shown
LC_ALL=C grep -q "$esc" shown && fail "JSON has raw control characters"
grep -qF '\u001b' shown || grep -qF '\u001B' shown || fail "JSON does not have the name: $(cat shown)"

# On a terminal: the last column is cut to its width, and who waits is told what for.
if command -v script >/dev/null 2>&1; then
    on_terminal() { # COMMAND: with its output as a terminal has it, without the carriage returns
        script -qec "stty cols 86; $1" /dev/null </dev/null | tr -d '\r' >shown
    }
    await_state 4 running
    "$BERTH" submit -c 2 true >/dev/null
    on_terminal "'$BERTH' jobs -a"
    expect "the width of the table on a terminal" 86 "$(grep -v tïtle shown | wc -L)"
    "$BERTH" hold 5
    on_terminal "'$BERTH' run --hold true & sleep 0.2; until '$BERTH' jobs 6 >/dev/null 2>&1; do sleep 0.05; done; sleep 1.5; '$BERTH' cancel 6; wait"
    grep -qx "berth run: job 6: It is held: it waits for 'berth release 6'." shown || fail "a job that waits: $(cat shown)"
    grep -qx 'berth run: job 6: cancelled' shown || fail "a job that was cancelled: $(cat shown)"
    on_terminal "'$BERTH' submit --array 3 --hold --name many true; '$BERTH' cancel --name many"
    grep -qx 'berth cancel: [1-9]' shown || fail "how many were cancelled: $(cat shown)"
fi

# Output goes to a closed pipe, to a full disk, to nobody.
"$BERTH" jobs -a | true
"$BERTH" jobs -a >&- 2>err
[ "$(wc -l <err)" -le 1 ] || fail "a closed output: $(cat err)"
if [ -w /dev/full ]; then
    "$BERTH" jobs -a >/dev/full 2>err
    expect "the status with a full disk" 1 $?
    expect_err 'berth: standard output: No space left on device'
fi
finish
