#!/bin/sh
# Waiting for many: a bar on a terminal, and nothing of it elsewhere.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
machine 4
TERMINAL=$BERTH_BUILD/test/system/terminal
TERM=xterm
export TERM

# Members end when their files appear; the second one fails.
cat >member.sh <<END
#!/bin/sh
until [ -e "$scratch/end\$BERTH_ARRAY_INDEX" ]; do sleep 0.02; done
[ "\$BERTH_ARRAY_INDEX" != 1 ]
END
chmod 755 member.sh
a=$("$BERTH" submit --array 4 ./member.sh)
"$TERMINAL" "$BERTH" wait --progress "$a" >seen <<END
await 0 of 4
run : >$scratch/end0
await [#######.......................] 1 of 4, until about 
run : >$scratch/end1
await 2 of 4, 1 failed, until about 
run : >$scratch/end2
await 3 of 4, 1 failed
run : >$scratch/end3
END
expect "the status of an array with a failed member" 1 $?
expect "what stays on the screen" "" "$(tr -d '\n' <seen | sed 's/.*\r\x1b\[K//')"
expect_status 1 "$BERTH" wait --progress "$a"
[ -s out ] || [ -s err ] && fail "a bar without a terminal: $(cat out err)"

# Several jobs are counted together; the same without the option shows nothing.
b=$("$BERTH" submit true)
c=$("$BERTH" submit sh -c "until [ -e '$scratch/go' ]; do sleep 0.02; done")
"$TERMINAL" "$BERTH" wait --progress "$b" "$c" >seen <<END
await 1 of 2
run : >$scratch/go
END
expect "its status" 0 $?
"$TERMINAL" "$BERTH" wait "$b" "$c" </dev/null >seen
expect "no bar unless it is asked for" "" "$(cat seen)"

# run of an array shows it by itself, below the members' output.
rm end?
"$TERMINAL" "$BERTH" run --array 2 sh -c "until [ -e '$scratch/end'\$BERTH_ARRAY_INDEX ]; do sleep 0.02; done; echo done" >seen <<END
await 0 of 2
run : >$scratch/end1
await 1: done
await 1 of 2
run : >$scratch/end0
await 0: done
END
expect "its status" 0 $?
"$TERMINAL" "$BERTH" run echo alone </dev/null >seen
expect "none for one job" "alone" "$(tr -d '\r' <seen)"
finish
