#!/bin/sh
# On a private Slurm: a gang of two members on two nodes finds each other by what torch.distributed and torchrun read, and holds
# while its server is killed and started again; and `run`, `run --pty`, `signal` and `log -f` are the same on a node as here.
. "$BERTH_SOURCE/test/slurm.sh"
TERMINAL=$BERTH_BUILD/test/system/terminal
slurm_up 2 4
machine 1
add_pilot 2

# Each member is all of a node. They meet, wait for the test, and speak again over the same connection.
cat >meet.py <<'END'
import os, socket, time
get = os.environ
rank, at = int(get['RANK']), (get['MASTER_ADDR'], int(get['MASTER_PORT']))
same = [get['PET_NODE_RANK'], get['PET_NNODES'], get['PET_MASTER_ADDR'], get['PET_MASTER_PORT'], get['WORLD_SIZE'], get['LOCAL_RANK']]
assert same == [get['RANK'], '2', get['MASTER_ADDR'], get['MASTER_PORT'], '2', '0'], same
if rank == 0:
    server = socket.create_server(at)
    peer = server.accept()[0]
else:
    for _ in range(600):
        try:
            peer = socket.create_connection(at)
            break
        except OSError:
            time.sleep(0.1)
def exchange(text):
    peer.sendall(f'{text}\n'.encode())
    return words.readline().strip()
words = peer.makefile()
other = exchange(get['BERTH_NODE'])
open(f'met.{rank}', 'w').write(f"{get['BERTH_NODE']} {other}\n")
while not os.path.exists('go'):
    time.sleep(0.05)
open(f'again.{rank}', 'w').write(exchange(rank) + '\n')
END
gang=$("$BERTH" submit -t 5m --gang 2 -c 4 -o 'gang.%a' /usr/bin/python3 -B meet.py)
have_met() {
    [ -s met.0 ] && [ -s met.1 ]
}
await 'the members to meet' have_met
expect 'the nodes of both' 'n1 n2 n2 n1' "$(sort met.0 met.1 | tr '\n' ' ' | sed 's/ $//')"
crash
expect_status 0 "$BERTH" server start
await 'two nodes again' nodes_up 2
: >go
expect_status 0 "$BERTH" wait "$gang"
expect 'what they say after a restart' '1 0' "$(cat again.0 again.1 | tr '\n' ' ' | sed 's/ $//')"

# A job of four cores is on a node of the pilot: standard input, status, a terminal of its own.
expect 'input and output' 'hello from n' "$(echo hello from | "$BERTH" run -t 1m -c 4 sh -c 'read -r line; echo "$line $BERTH_NODE"' | sed 's/[12]$//')"
expect_status 7 "$BERTH" run -t 1m -c 4 sh -c 'exit 7'
"$TERMINAL" "$BERTH" run -t 1m -c 4 --pty sh -c 'tty >/dev/null && echo "terminal on $BERTH_NODE"' </dev/null >shown
grep -q '^terminal on n[12]' shown || fail "a terminal: $(cat shown)"

# A signal reaches it, and its output is followed.
# shellcheck disable=SC2016
job=$("$BERTH" submit -t 5m -c 4 sh -c 'trap "echo told; exit 4" USR1; echo ready; while :; do sleep 0.05; done')
"$BERTH" log -f "$job" >followed &
follower=$!
await 'its output' grep -q ready followed
expect_status 0 "$BERTH" signal -s USR1 "$job"
expect_status 4 "$BERTH" wait "$job"
wait $follower
expect 'what is followed' 'ready told' "$(grep -v defined <followed | tr '\n' ' ' | sed 's/ $//')"
finish
