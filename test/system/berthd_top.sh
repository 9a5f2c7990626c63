#!/bin/sh
# berth top in a terminal of 80 x 24: what it shows, what its keys do, what it leaves behind.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
machine 4
TERMINAL=$BERTH_BUILD/test/system/terminal
TERM=xterm
export TERM

expect_status 1 "$BERTH" top
expect_err "berth top: no server is running for $BERTH_DIR; 'berth server start' starts one"
runs=$("$BERTH" submit -c 4 -t 1h --name runs sleep 1000)
await_state "$runs" running
waits=$("$BERTH" submit -c 2 -t 10m --name waits sleep 1000)
other=$("$BERTH" submit -c 2 -t 10m --name other sleep 1000)
expect_status 1 "$BERTH" top
expect_err "berth top: standard input and output are no terminal; 'berth jobs' prints a list"
expect_status 2 "$BERTH" top jobs

# The window is 80 x 24 from the beginning. The first job is chosen; keys go to the next.
"$TERMINAL" sh -c "read x; exec '$BERTH' top" >seen <<END
size 24 80
type x\r
await 1 running, 2 pending, 0 held   cores 4 of 4
await [1 jobs]
await REASON
await runs
await q leave
type jh
await hold $waits: done
await 1 held
await held
type r
await release $waits: done
await 0 held
type e
await Job $waits: It waits
type jjc
await cancel job $other? y
type n
await q leave
type c
await cancel job $other? y
type y
await cancel $other: done
await 1 pending
type 2
await [2 nodes]
await STATUS
await node0
type 3
await [3 queues]
await POLICY
await batch
type \t
type 4
await [4 shares]
await The configuration has no shares
type 1
await [1 jobs]
await waits
type q
END
expect "its status" 0 $?
expect "a cancelled job" cancelled "$(state "$other")"
expect "a released job" pending "$(state "$waits")"

# No frame has more lines than the screen, nor wider ones, and the terminal is given back as it was.
tail -c 30 seen | grep -q '\[?1049l' || fail "the screen that was there does not come back"
sed 's/\x1b\[H/\n@frame\n/g; s/\x1b\[[0-9;?]*[a-zA-Z]//g' seen | tr -d '\r' >frames
[ "$(wc -L <frames)" -le 80 ] || fail "a line is wider than the screen"
awk '/^@frame/ { if (n > 24) bad = 1; n = 0; next } { n++ } END { exit bad || n > 25 }' frames || fail "a frame is longer than the screen"

# It outlives the server, says that it is away, and sees it again; Ctrl-C ends it.
"$TERMINAL" "$BERTH" top >seen <<END
await runs
run "$BERTH" server stop
await no server is running
run "$BERTH" server start
await q leave
type \c
END
expect "its status after Ctrl-C" 0 $?
tail -c 30 seen | grep -q '\[?1049l' || fail "the screen that was there does not come back after Ctrl-C"
finish
