#!/bin/sh
# The machine is smaller after a restart, and a member of a gang runs on what is not there any more: it is of its gang still.
# When it fails, all fail, the others go on, or it comes again, as the gang chose.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1

member_state() { # GANG MEMBER
    "$BERTH" show --json "$1[$2]" | tr -d ' \n' | sed 's/.*"state":"\([a-z]*\)".*/\1/'
}
is_member() { # GANG MEMBER STATE
    [ "$(member_state "$1" "$2")" = "$3" ]
}
kill_member() { # MEMBER
    kill -9 "$(cat "pid.$1")"
}
is_said() { # FILE: there is a line in it
    [ -s "$1" ]
}

# A gang of two, of two cores each, on four cores, of which two are left when the server is there again: member 1 runs on
# the others.
shrink() { # OPTION...
    rm -f pid.0 pid.1
    machine 4 'match: {policy: low}'
    expect_status 0 "$BERTH" server start
    gang=$("$BERTH" submit -t 10m -c 2 --gang 2 "$@" sh -c 'echo $$ >"pid.$BERTH_ARRAY_INDEX"; exec sleep 1000')
    for member in 0 1; do
        await "member $member to run" is_member "$gang" $member running
        await "member $member to say so" is_said pid.$member
    done
    crash
    machine 2 'match: {policy: low}'
    expect_status 0 "$BERTH" server start
    "$BERTH" server status | grep -qF "job $gang[1] could not be restored and runs outside the schedule: " ||
        fail "no word of it: $("$BERTH" server status)"
    expect 'both run' 'running running' "$(member_state "$gang" 0) $(member_state "$gang" 1)"
}
clear() {
    "$BERTH" cancel "$gang" 2>/dev/null
    await_end "$gang"
    expect_status 0 "$BERTH" server stop
}
is_over() { # JOB
    ! "$BERTH" jobs --no-header "$1" 2>/dev/null | grep -Eq 'running|pending'
}
await_end() { # JOB
    await "job $1 to end" is_over "$1"
}

shrink
kill_member 1
await 'it to fail' is_member "$gang" 1 failed
await 'the other to fail' is_member "$gang" 0 failed
expect 'why' '"member 1 failed"' "$(get "$gang[0]" reason)"
is_gone "$(cat pid.0)" || fail 'member 0 goes on'
clear

shrink
kill_member 0
await 'it to fail' is_member "$gang" 0 failed
await 'the other to fail' is_member "$gang" 1 failed
await 'it to be gone' is_gone "$(cat pid.1)"
clear

shrink --min 1 --failure go-on
kill_member 1
await 'it to fail' is_member "$gang" 1 failed
expect 'the other' running "$(member_state "$gang" 0)"
clear

shrink --min 1 --failure go-on
kill_member 0
await 'it to fail' is_member "$gang" 0 failed
expect 'the one that is off the machine' running "$(member_state "$gang" 1)"
other=$("$BERTH" submit -c 2 sleep 1000)
await_state "$other" running # in the place of the one that failed
expect_status 0 "$BERTH" cancel "$other"
await_end "$other"
clear

shrink --failure replace
kill_member 1
await 'it to wait again' is_member "$gang" 1 pending
expect 'the other' running "$(member_state "$gang" 0)"
clear

finish
