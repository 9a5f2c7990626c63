#!/bin/sh
# Standard input, terminals and signals of jobs on a node that Slurm lends.
. "$BERTH_SOURCE/test/daemon.sh"
. "$BERTH_SOURCE/test/system/fake_slurm.sh"
cd "$scratch" || exit 1
TMPDIR=$scratch
XDG_RUNTIME_DIR=$scratch
export TMPDIR XDG_RUNTIME_DIR
machine 1
TERMINAL=$BERTH_BUILD/test/system/terminal

is_up() { # PILOT NODES
    [ "$("$BERTH" pilot show "$1" | grep -c ' up ')" = "$2" ]
}
"$BERTH" pilot add slurm --time 1h >out || fail "add: $(cat out)"
pilot=$(sed 's/^pilot \([0-9]*\),.*/\1/' out)
await 'a node' is_up "$pilot" 1

# On the node, which alone has two cores.
there() {
    "$BERTH" run -t 5m -c 2 "$@"
}

# shellcheck disable=SC2016  # the job's shell
expect 'where it is' f1 "$(there sh -c 'echo $BERTH_NODE' </dev/null)"
expect 'input' data "$(echo data | there cat)"
head -c 3000000 /dev/urandom >bytes
expect 'much input' "$(cksum <bytes)" "$(there cksum <bytes)"
# shellcheck disable=SC2002  # a pipe
expect 'much input in a pipe' "$(cksum <bytes)" "$(cat bytes | there cksum)"
expect 'no input' 0 "$(there wc -c </dev/null)"
expect 'an end while input goes on' done "$(yes | there sh -c 'read x; echo done')"
expect 'a reader that is slow' 3000000 "$(there sh -c 'sleep 1; wc -c' <bytes)"
expect_status 7 there sh -c 'exit 7'
ls -d "$scratch"/berth-??????/socket 2>/dev/null && fail 'sockets stay behind'

# Its input stays, though the server, the gate and the agent are killed meanwhile; nothing is lost of it.
mkfifo pipe
there sh -c 'read a; echo "$a"; read b; echo "$b"; wc -l' <pipe >shown 2>err &
exec 9>pipe
echo first >&9
await 'its first line' grep -q first shown
crash
expect_status 0 "$BERTH" server start 9>&- # or it keeps the pipe open
for program in berth-gate berth-agent; do
    who=called
    [ $program = berth-agent ] && who=childless # of two the one that started the other lives on
    for pid in $($who $program); do
        kill -9 "$pid"
    done
done
echo second >&9
await 'its second line' grep -q second shown
cat bytes bytes | tr -d '\n' | fold >&9
exec 9>&-
wait
expect 'all lines' "$(cat bytes bytes | tr -d '\n' | fold | wc -l)" "$(tail -n 1 shown)"

# The connection is cut: the task is hung up, so that it does not take the cut for the end of its input. The shell
# obeys only when what it waits for has ended, so the signal must find the reader there: it has a name of its own.
cp "$(command -v cat)" reader-$$
there sh -c 'trap "echo cut; exit 9" HUP; read a; echo "$a"; ./reader-*; echo end; exit 0' <pipe >shown 2>err &
exec 9>pipe
echo first >&9
await 'its first line' grep -q first shown
await 'its reader' pgrep -x "reader-$$"
for pid in $(called berth-stream); do
    # Its command line, not its program: which that is only root may ask of a process that holds a key.
    case $(tr '\0' '\n' <"/proc/$pid/cmdline" | head -n 1) in *berth-gate) kill -9 "$pid" ;; esac
done
await 'it is hung up' grep -q cut shown
grep -q end shown && fail "it goes on: $(cat shown)"
exec 9>&-
wait

# A terminal, as large as ours, that follows it; keys; a status.
cat >talk.sh <<'EOS'
#!/bin/sh
trap 'echo size $(stty size)' WINCH
trap 'echo interrupted; exit 7' INT
test -t 0 && test -t 1 && test -t 2 && echo size $(stty size)
until read -r name; do :; done # a signal ends it
echo "hello $name"
while :; do sleep 0.1; done
EOS
chmod 755 talk.sh
"$TERMINAL" "$BERTH" run -t 5m -c 2 --pty ./talk.sh >shown <<'EOS'
await size 30 100
size 40 132
await size 40 132
type you\r
await hello you
type \c
await interrupted
EOS
expect 'status' 7 $?
grep -q '^size 30 100' shown || fail "shown: $(cat shown)"

# All of what a terminal shows arrives, also what is written last.
for i in 1 2 3; do
    expect "lines of terminal $i" 5000 "$("$TERMINAL" "$BERTH" run -t 5m -c 2 --pty seq 5000 </dev/null | grep -c '^[0-9]')"
done

# Whoever sits before it goes away: the job is hung up.
"$BERTH" run -t 5m -c 2 --pty sh -c 'trap "echo gone >hung; exit" HUP; echo ready >ready; while :; do sleep 0.05; done' </dev/null >/dev/null 2>&1 &
client=$!
await 'the job' test -e ready
kill -9 $client
await 'it is hung up' test -e hung

# A signal, and output that is followed.
# shellcheck disable=SC2016
job=$("$BERTH" submit -t 5m -c 2 sh -c 'trap "echo told; exit 4" USR1; echo ready; while :; do sleep 0.05; done')
"$BERTH" log -f "$job" >followed &
await 'its output' grep -q ready followed
expect_status 0 "$BERTH" signal -s USR1 "$job"
expect_status 4 "$BERTH" wait "$job"
wait
expect 'what is followed' 'ready told' "$(grep -v defined <followed | tr '\n' ' ' | sed 's/ $//')"
expect_status 0 "$BERTH" pilot remove "$pilot"
finish
