#!/bin/sh
# The MPI program and the script of doc/gangs.md: a gang of two members on this machine, as Open MPI knows its name.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
command -v mpicc >/dev/null && command -v mpirun >/dev/null ||
    skip "no mpicc and mpirun (libopenmpi-dev, openmpi-bin)"
[ "$(nproc)" -ge 2 ] || skip "one core"

sed -n '/^```c$/,/^```/p' "$BERTH_SOURCE/doc/gangs.md" | sed '1d; $d' >sum.c
sed -n '/^#BERTH --gang 2/,/^```/p' "$BERTH_SOURCE/doc/gangs.md" | sed '1i #!/bin/sh
$d' >sum.sh
chmod +x sum.sh
mpicc -o sum sum.c || fail "mpicc"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 # containers run this as root
PATH=$BERTH_BUILD:$PATH
id=$("$BERTH" submit ./sum.sh)
expect_status 0 timeout "$PATIENCE" "$BERTH" wait "$id"
expect "two members" 2 "$(get "$id" gang)"
expect "what they say" 'rank 0 of 2: the sum is 1 rank 1 of 2: the sum is 1 ' \
    "$("$BERTH" log "$id[0]" | grep '^rank' | sort | tr '\n' ' ')"

# On one node a script that is submitted runs once.
grep -q '`berth submit -n 4 ./script.sh` runs the script once' "$BERTH_SOURCE/doc/gangs.md" || fail "the page says something else"
printf '#!/bin/sh\nmpirun -n 2 ./sum\n' >script.sh
chmod +x script.sh
id=$("$BERTH" submit -n 2 ./script.sh)
expect_status 0 timeout "$PATIENCE" "$BERTH" wait "$id"
expect "what two processes say" 'rank 0 of 2: the sum is 1 rank 1 of 2: the sum is 1 ' \
    "$("$BERTH" log "$id" | grep '^rank' | sort | tr '\n' ' ')"

# All of it ends as the first member does.
id=$("$BERTH" submit --gang 2 sh -c '[ "$BERTH_MEMBER_RANK" = 0 ] || exec berth wait "$BERTH_JOB_ID[0]"; exit 3')
expect_status 3 timeout "$PATIENCE" "$BERTH" wait "$id[0]"
timeout "$PATIENCE" "$BERTH" wait "$id" >/dev/null 2>&1
expect "its state" '"failed"' "$(get "$id" state)"
finish
