#!/bin/sh
# Members of a gang find each other: the program of doc/gangs.md, which meets over TCP.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
machine 4

cat >told.sh <<'EOS'
echo "$BERTH_MEMBER_RANK of $BERTH_MEMBER_COUNT on $BERTH_MEMBER_HOSTS at $BERTH_RENDEZVOUS; $MASTER_ADDR $MASTER_PORT $RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE; $PET_NNODES $PET_NODE_RANK $PET_MASTER_ADDR $PET_MASTER_PORT"
echo >"told.$BERTH_MEMBER_RANK.$LOCAL_RANK"
EOS
expect_status 0 "$BERTH" run --gang 2 -n 2 sh told.sh
cat >expected <<'END'
0: 0 of 2 on node0,node0 at 127.0.0.1:P; 127.0.0.1 P 0 4 0 2; 2 0 127.0.0.1 P
0: 0 of 2 on node0,node0 at 127.0.0.1:P; 127.0.0.1 P 1 4 1 2; 2 0 127.0.0.1 P
1: 1 of 2 on node0,node0 at 127.0.0.1:P; 127.0.0.1 P 2 4 0 2; 2 1 127.0.0.1 P
1: 1 of 2 on node0,node0 at 127.0.0.1:P; 127.0.0.1 P 3 4 1 2; 2 1 127.0.0.1 P
END
port=$(sed -n '1s/.*at 127.0.0.1:\(2[0-9]\{4\}\);.*/\1/p' out)
[ -n "$port" ] || fail "no port: $(cat out)"
sed "s/ $port/ P/g; s/:$port/:P/" out | sort | cmp -s - expected || fail "what members are told: $(sort out)"

# One that starts later is the next one, and a job that is none knows nothing of a gang, also if one of a gang submits it.
busy=$("$BERTH" submit sh -c 'until [ -e go ]; do sleep 0.02; done')
await_state "$busy" running
cat >later.sh <<'EOS'
echo "$BERTH_MEMBER_RANK of $BERTH_MEMBER_COUNT"
touch "later.$BERTH_ARRAY_INDEX"
until [ -e later.3 ]; do sleep 0.02; done
EOS
gang=$("$BERTH" submit --gang 4 --min 3 sh later.sh)
await "three to start" ls later.0 later.1 later.2
touch go
expect_status 0 "$BERTH" wait "$gang"
expect "their numbers" '0 of 3,1 of 3,2 of 3,3 of 4,' "$("$BERTH" log -f "$gang" | sed 's/^[0-9]*: //' | sort | tr '\n' ',')"
expect_status 0 "$BERTH" run --gang 2 sh -c 'id=$("$0" submit sh -c "echo \${BERTH_MEMBER_RANK-none}"); "$0" wait $id; "$0" log $id' "$BERTH"
expect "of no gang" '0: none 1: none' "$(sort out | tr '\n' ' ' | sed 's/ $//')"

command -v python3 >/dev/null || finish
sed -n '/^```python$/,/^```/p' "$BERTH_SOURCE/doc/gangs.md" | sed '1d; $d' >sum.py
expect_status 0 timeout "$PATIENCE" "$BERTH" run --gang 2 python3 sum.py
expect "two members meet" '0: rank 0 of 2: the sum is 1 1: rank 1 of 2: the sum is 1' "$(sort out | tr '\n' ' ' | sed 's/ $//')"
expect_status 0 timeout "$PATIENCE" "$BERTH" run --gang 2 -n 2 python3 sum.py
expect "four tasks of two members" 4 "$(grep -c 'of 4: the sum is 6$' out)"
finish
