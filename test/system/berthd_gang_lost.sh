#!/bin/sh
# A node under a running gang never comes back, and a person says so: all of the gang fails, the others go on, or the member
# that is lost comes again elsewhere, as the gang chose.
. "$BERTH_SOURCE/test/daemon.sh"
. "$BERTH_SOURCE/test/system/fake_slurm.sh"
cd "$scratch" || exit 1
TMPDIR=$scratch
export TMPDIR
machine 2

is_up() { # PILOT NODES
    [ "$("$BERTH" pilot show "$1" | grep -c ' up ')" = "$2" ]
}
no_pilots() {
    [ "$("$BERTH" pilot list --json)" = '[]' ]
}
member_state() { # GANG MEMBER
    "$BERTH" show --json "$1[$2]" | tr -d ' \n' | sed 's/.*"state":"\([a-z]*\)".*/\1/'
}
is_member() { # GANG MEMBER STATE
    [ "$(member_state "$1" "$2")" = "$3" ]
}

# A gang of two on f1 and f2, beside a job that has node0. f2 is lost: $stays is the member on f1, $lost that on f2.
lose() { # OPTION...
    here=$("$BERTH" submit -t 10m -c 2 sleep 1000)
    await_state "$here" running
    expect_status 0 "$BERTH" pilot add slurm --nodes 2
    pilot=$(sed 's/^pilot \([0-9]*\),.*/\1/' out)
    slurm_job=$(sed 's/.* job //' out)
    await 'two nodes' is_up "$pilot" 2
    gang=$("$BERTH" submit -t 10m -c 2 "$@" sleep 1000)
    for member in 0 1; do
        await 'its members to run' is_member "$gang" $member running
    done
    stays=0 lost=1
    "$BERTH" show "$gang[0]" | grep -q 'f2/' && stays=1 lost=0
    power_loss "$pilot" "$slurm_job" f2
    await 'the node to be down' is_up "$pilot" 1
    expect 'a member that may run on' running "$(member_state "$gang" $lost)"
    expect_status 0 "$BERTH" drain --lost f2
}
clear() {
    "$BERTH" cancel "$here" "$gang" 2>/dev/null
    expect_status 0 "$BERTH" pilot remove "$pilot"
    await 'the pilot to be gone' no_pilots
}

lose --gang 2
await 'the lost member to fail' is_member "$gang" $lost failed
await 'the other to be stopped' is_member "$gang" $stays failed
await_state "$gang" failed
clear

lose --gang 2 --min 1 --failure go-on
await 'the lost member to fail' is_member "$gang" $lost failed
sleep 1
expect 'the other' running "$(member_state "$gang" $stays)"
clear

lose --gang 2 --failure replace
await 'the lost member to wait again' is_member "$gang" $lost pending
expect 'the other' running "$(member_state "$gang" $stays)"
expect_status 0 "$BERTH" cancel "$here"
await 'it to run again' is_member "$gang" $lost running
"$BERTH" show "$gang[$lost]" | grep -q 'node0/' || fail "where it runs: $("$BERTH" show "$gang[$lost]")"
expect 'the other, which has not been stopped' running "$(member_state "$gang" $stays)"

# The server finds both again where they are, though nodes of pilots before this one are no more.
runs() {
    for member in 0 1; do
        "$BERTH" show "$gang[$member]" | grep -E '^(state|resources|attempts) '
    done
}
runs >before
crash
expect_status 0 "$BERTH" server start
await 'the nodes to be heard of' is_up "$pilot" 1
runs >after
diff before after >&2 || fail 'the gang after a restart'
clear

finish
