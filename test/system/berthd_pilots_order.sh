#!/bin/sh
# Nodes are told in the order of their names, whichever has come first.
. "$BERTH_SOURCE/test/daemon.sh"
. "$BERTH_SOURCE/test/system/fake_slurm.sh"
cd "$scratch" || exit 1
TMPDIR=$scratch
export TMPDIR
machine 1

up() { # PILOT NODES
    [ "$("$BERTH" pilot show "$1" | grep -c ' up ')" = "$2" ]
}
no_pilots() {
    [ "$("$BERTH" pilot list --json)" = '[]' ]
}
names() { # the first words of a table's lines that are nodes of a pilot, in their order
    sed -n 's/^\(f[0-9]*\) .*/\1/p' | tr '\n' ' '
}

for order in '2 10' '10 2'; do
    touch "$slurm/hold"
    echo "$order" >"$slurm/order"
    expect_status 0 "$BERTH" pilot add slurm --nodes 2
    pilot=$(sed 's/^pilot \([0-9]*\),.*/\1/' out)
    await 'the first node' up "$pilot" 1
    expect 'the node that came first' "f${order% *} " "$("$BERTH" pilot show "$pilot" | names)"
    rm "$slurm/hold"
    await 'the second node' up "$pilot" 2

    # shellcheck disable=SC2016
    job=$("$BERTH" submit -t 1m -N 2 -n 4 -o wide sh -c 'echo "$BERTH_TASK_INDEX $BERTH_NODE $BERTH_NODES"')
    expect_status 0 "$BERTH" wait "$job"
    expect "tasks, joined in the order $order" '0 f2 f[2,10],1 f2 f[2,10],2 f10 f[2,10],3 f10 f[2,10],' \
        "$(sort wide | tr '\n' ',')"
    "$BERTH" show "$job" | grep -q 'f\[2,10\]' || fail "show, joined in the order $order: $("$BERTH" show "$job")"
    expect "nodes, joined in the order $order" 'f2 f10 ' "$("$BERTH" nodes | names)"
    expect "nodes of a pilot, joined in the order $order" 'f2 f10 ' "$("$BERTH" pilot show "$pilot" | names)"

    # Another server puts them into its machine in the order that it has noted, and tells the same.
    crash
    expect_status 0 "$BERTH" server start
    await 'both nodes again' up "$pilot" 2
    expect 'nodes after a restart' 'f2 f10 ' "$("$BERTH" nodes | names)"
    expect_status 0 "$BERTH" pilot remove "$pilot"
    await 'the pilot to be gone' no_pilots
done

finish
