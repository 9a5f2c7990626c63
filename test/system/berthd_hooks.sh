#!/bin/sh
# A prologue before each job and an epilogue after it: what they know, and what becomes of jobs where they fail.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
export BERTH_SOURCE

hooks() { # LINES of the section about the server
    machine 2 "server:
$1"
}
reason() { # JOB
    "$BERTH" show --json "$1" | sed -n 's/^  "reason": "\(.*\)",*$/\1/p'
}
reason_is() { # JOB TEXT
    [ "$(reason "$1")" = "$2" ]
}
is_over() { # JOB
    case $(state "$1") in done | failed | cancelled | timeout) ;; *) false ;; esac
}

# They have what the server says of the job, and nothing of its environment; one after the other writes.
hooks "  prologue: env | grep -v ^BERTH_RUN= | sort >$scratch/before; echo prologue >>$scratch/order
  epilogue: echo epilogue \$BERTH_JOB_ID \$BERTH_USER >>$scratch/order"
expect_status 0 "$BERTH" submit -c 2 -t 1h --name tidy env BERTH_ARRAY_INDEX=9 LD_PRELOAD=/none sh -c "echo job >>$scratch/order; exit 3"
await 'the end of 1' is_over 1
expect 'its state' failed "$(state 1)"
me=$(id -un)
printf '%s\n' prologue job "epilogue 1 $me" >expected
cmp -s expected order || fail "the order: $(cat order)"
cat >expected <<END
BERTH_ATTEMPT=1
BERTH_CORES=2
BERTH_DIR=$BERTH_DIR
BERTH_GID=$(id -g)
BERTH_GPUS=0
BERTH_JOB_ID=1
BERTH_JOB_NAME=tidy
BERTH_QUEUE=batch
BERTH_TASKS=1
BERTH_UID=$(id -u)
BERTH_USER=$me
END
grep -v -e ^BERTH_NODES= -e ^PATH= -e ^PWD= -e ^SHLVL= -e ^_= before >got
cmp -s expected got || fail "what a prologue knows: $(diff expected got)"

# What the user's environment has reaches neither.
BERTH_ARRAY_INDEX=9 LD_PRELOAD='' SECRET=1 "$BERTH" submit true >/dev/null
await 'the end of 2' is_over 2
grep -e SECRET -e INDEX before && fail "the user's environment is in the prologue's"

# A member of an array is told which one it is.
expect_status 0 "$BERTH" submit --array 4-4 true
await 'the end of 3' is_over 3
grep -q '^BERTH_ARRAY_INDEX=4$' before || fail "no index: $(cat before)"

# A prologue that fails keeps the job waiting, says why, and is tried again; nothing is lost of it.
hooks "  prologue: test -e $scratch/room || { echo no room; exit 7; }
  epilogue: echo over >>$scratch/order"
expect_status 0 "$BERTH" server reload
: >order
expect_status 0 "$BERTH" submit sh -c "echo job >>$scratch/order"
await 'why it waits' reason_is 4 'not started: prologue: exit status 7: no room'
expect 'it waits' pending "$(state 4)"
"$BERTH" explain 4 | grep -q 'prologue: exit status 7: no room' || fail "explain: $("$BERTH" explain 4)"
touch room
await_state 4 done
printf '%s\n' job over >expected
cmp -s expected order || fail "after the prologue was mended: $(cat order)"
expect 'attempts' 1 "$(get 4 attempts)"

# One that takes too long is killed, as is an epilogue; the job's state stays what it was.
hooks "  hook-limit: 1
  epilogue: sleep 1000"
expect_status 0 "$BERTH" server reload
expect_status 0 "$BERTH" submit true
await_state 5 done
expect 'its reason' 'epilogue: took longer than 1 s' "$(reason 5)"
expect 'its exit status' 0 "$(get 5 exit)"

# Its cores are held until the epilogue is over.
hooks "  epilogue: while [ ! -e $scratch/go ]; do sleep 0.02; done"
expect_status 0 "$BERTH" server reload
expect_status 0 "$BERTH" submit -c 2 sh -c "echo first >$scratch/ran"
await 'the job to be over' grep -q first ran
expect_status 0 "$BERTH" submit -c 2 sh -c "cat $scratch/go >$scratch/seen"
expect_status 0 "$BERTH" cancel 6
expect 'the next one waits' pending "$(state 7)"
echo gone >go
await_state 7 done
expect 'what it found' gone "$(cat seen)"

# What the configuration may say of them.
for wrong in 'prologue: ""' 'epilogue: [a]' 'hook-limit: 0' 'hook-limit: unlimited' 'prologue: 3' 'epilogue: no' 'prologue: True'; do
    printf 'resources: {nodes: 1}\nserver: {%s}\n' "$wrong" >wrong.yaml
    expect_status 1 "$BERTH" config check wrong.yaml
    grep -q "^wrong.yaml:2:.*: key \"${wrong%%:*}\": expected " err || fail "$wrong: $(cat err)"
done
printf 'resources: {nodes: 1}\nserver: {prologue: "true", epilogue: true && false}\n' >right.yaml
expect_status 0 "$BERTH" config check right.yaml
hooks "  prologue: /etc/berth/prologue"
"$BERTH" config show "$BERTH_DIR/berth.yaml" >out
grep -q '^  prologue: "/etc/berth/prologue"$' out || fail "config show: $(cat out)"
grep -q '^  hook-limit: 300$' out || fail "config show: $(cat out)"

# A gang starts whole or not at all: where one member's prologue fails, the other one is stopped, and both wait.
hooks "  prologue: test \"\$BERTH_ARRAY_INDEX\" != 1 || test -e $scratch/both"
expect_status 0 "$BERTH" server reload
gang=$("$BERTH" submit --gang 2 -t 1h sleep 1000)
none_runs() {
    is_state "$gang[0]" pending && is_state "$gang[1]" pending &&
        reason_is "$gang[1]" 'not started: prologue: exit status 1'
}
await 'a gang of which one member cannot start' none_runs
touch both
await_state "$gang[0]" running
await_state "$gang[1]" running
expect_status 0 "$BERTH" cancel "$gang"
await_state "$gang[1]" cancelled
finish
