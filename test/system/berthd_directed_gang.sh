#!/bin/sh
# Gangs on nodes that Slurm rules: a gang of lower priority goes as a whole for one of higher, nobody of the second one
# starts before Slurm has let go all of the first one, and that comes again as a whole.
. "$BERTH_SOURCE/test/daemon.sh"
. "$BERTH_SOURCE/test/system/fake_directed.sh"
cd "$scratch" || exit 1
directed_machine
cat >>"$BERTH_DIR/berth.yaml" <<'END'
queues:
  batch: {policy: easy, preempts: lower}
END
expect_status 0 "$BERTH" server start

member() { # notes when it begins and ends
    # shellcheck disable=SC2016
    echo 'trap "echo end $0 >>'"$scratch"'/said; exit" TERM; echo begin $0 >>'"$scratch"'/said; while [ ! -e go ]; do sleep 0.05; done; echo end $0 >>'"$scratch"'/said'
}
are_in() { # GANG STATE: both members
    [ "$("$BERTH" jobs -a --no-header "$1[0]" "$1[1]" | grep -c " $2 ")" = 2 ]
}
begun() { # NAME TIMES
    [ "$(grep -cx "begin $1" said)" = "$2" ]
}

# Each member has a node.
spare=$("$BERTH" submit -t 10m --gang 2 -c 2 sh -c "$(member)" spare)
await 'the spare gang to run' are_in "$spare" running
await 'both to say so' begun spare 2
sleep 1.5 # who has just started is stopped for nobody
first=$("$BERTH" submit --priority 1 -t 5m --gang 2 -c 2 sh -c "$(member)" first)
await 'the other gang to run' are_in "$first" running
await 'both to say so' begun first 2
expect 'who runs when' 'begin spare begin spare end spare end spare begin first begin first ' "$(tr '\n' ' ' <said)"
are_in "$spare" pending || fail "some of the gang that was stopped: $("$BERTH" jobs -r)"
"$BERTH" show "$spare[0]" | grep -q "preempted" || fail "why it was stopped: $("$BERTH" show "$spare[0]")"

# They are done, and the gang that was stopped begins anew, as a whole.
touch go
expect_status 0 "$BERTH" wait "$first"
expect_status 0 "$BERTH" wait "$spare"
expect 'begins of the first gang' 2 "$(grep -cx 'begin first' said)"
expect 'begins of the other' 4 "$(grep -cx 'begin spare' said)"

finish
