"""Somebody else on the network of a cluster: who has no secret, and tries what can be tried without one.

usage: pilots_attacker.py ATTACK DIRECTORY    DIRECTORY: pilots/ of the server, of which only the address is read, as it
can be found by looking for open ports; `between` and `server` take the gate's place on the network by writing it.

strangers    bytes of other protocols, random ones, nothing, half a greeting; each is closed and told nothing
flood FILE   300 connections at once with parts of a greeting, which are held open until FILE is there
between RECORD FILE  carries bytes between agents and gate, and records what each agent says, and what both say, until FILE is there
changed RECORD FILE  the same, and changes a bit in what each agent says after its greeting
replay RECORD        says again what was recorded
crowd RECORD FILE    300 connections at once that say a recorded greeting again, which are held open until FILE is there
server FILE          answers agents with 48 random bytes, and more, until FILE is there
"""
import os
import random
import select
import socket
import sys
import threading
import time

PATIENCE = float(os.environ.get("BERTH_PATIENCE", "60"))


def gate(directory):
    with open(f"{directory}/server", encoding="ascii") as f:
        lines = f.read().split()
    return int(lines[0])


def take_place(directory, port):
    """The address that agents dial, from now on."""
    path = f"{directory}/server.other"
    old = os.umask(0o077)
    with open(path, "w", encoding="ascii") as f:
        f.write(f"{port}\n127.0.0.1\n")
    os.umask(old)
    os.rename(path, f"{directory}/server")


def dial(port):
    s = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    return s


def hears(s):
    """What comes until the other side closes."""
    got = b""
    try:
        while True:
            some = s.recv(65536)
            if not some:
                return got
            got += some
    except ConnectionError:
        return got


def strangers(directory):
    port = gate(directory)
    chance = random.Random(5)
    texts = [b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"SSH-2.0-x\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(60),
             b"", b"BERTH", bytes(64), chance.randbytes(64), chance.randbytes(100000)]
    for text in texts:
        s = dial(port)
        try:
            s.sendall(text)
            s.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        answer = hears(s)
        assert answer == b"", f"{text[:20]!r} is told {answer[:20]!r}"
        s.close()


def hold(directory, says, until):
    """300 connections, the i-th of which says says(i)."""
    port = gate(directory)
    held = []
    for i in range(300):
        try:
            s = socket.create_connection(("127.0.0.1", port), timeout=1)
            s.sendall(says(i))
            held.append(s)
        except OSError:
            pass
    await_file(until)


def flood(directory, until):
    hold(directory, lambda i: (b"BERTHAG1" + bytes(56))[: i % 64], until)


def crowd(directory, record, until):
    with open(f"{record}.1", "rb") as f:
        greeting = f.read()[:64]
    hold(directory, lambda i: greeting, until)


def await_file(name):
    end = time.monotonic() + 10 * PATIENCE
    while not os.path.exists(name) and time.monotonic() < end:
        time.sleep(0.05)


def carry(a, b, record, both, change):
    """Both ways, until one side has ended."""
    said = 0
    sides = {a: b, b: a}
    while True:
        ready, _, _ = select.select(list(sides), [], [], 1)
        for side in ready:
            try:
                some = side.recv(65536)
            except OSError:
                some = b""
            if not some:
                a.close()
                b.close()
                return
            if both:
                both.write(some)
                both.flush()
            if side is a:
                if record:
                    record.write(some)
                    record.flush()
                said += len(some)
                if change and said > 64:
                    some = bytes([some[0] ^ (1 << random.randrange(8))]) + some[1:] if said == len(some) else \
                        some[:-1] + bytes([some[-1] ^ 1])
            try:
                sides[side].sendall(some)
            except OSError:
                pass


def between(directory, record, until, change=False):
    port = gate(directory)
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(0.2)
    take_place(directory, listener.getsockname()[1])
    n = 0
    while not os.path.exists(until):
        try:
            a, _ = listener.accept()
        except TimeoutError:
            continue
        n += 1
        to = open(f"{record}.{n}", "wb") if not change else None
        both = open(f"{record}.both.{n}", "wb") if not change else None
        threading.Thread(target=carry, args=(a, dial(port), to, both, change), daemon=True).start()
        open(f"{record}.dialled", "w", encoding="ascii").write(f"{n}\n")
    take_place(directory, port)


def replay(directory, record):
    port = gate(directory)
    for n in range(1, 100):
        if not os.path.exists(f"{record}.{n}"):
            assert n > 1, "nothing was recorded"
            return
        with open(f"{record}.{n}", "rb") as f:
            said = f.read()
        for cut in (len(said), 64):  # all of it; the greeting alone, which the gate can't tell from another
            s = dial(port)
            try:
                s.sendall(said[:cut])
                s.shutdown(socket.SHUT_WR)
            except OSError:
                pass
            answer = hears(s)
            assert len(answer) <= 48, f"who says again what was heard is told {len(answer)} bytes"
            s.close()


def server(directory, until):
    port = gate(directory)
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(0.2)
    take_place(directory, listener.getsockname()[1])
    while not os.path.exists(until):
        try:
            a, _ = listener.accept()
            a.settimeout(1)
            said = a.recv(65536)
            a.sendall(os.urandom(48))
            try:
                more = a.recv(65536)
            except TimeoutError:
                more = b""
            a.sendall(os.urandom(1000))
            more += hears(a)
            assert len(said) + len(more) <= 64, "an agent says more than its greeting to a false server"
            open(f"{until}.dialled", "w", encoding="ascii").write("x")
            a.close()
        except (TimeoutError, ConnectionError):
            continue
    take_place(directory, port)


if __name__ == "__main__":
    attack, rest = sys.argv[1], sys.argv[2:]
    if attack == "changed":
        between(*rest, change=True)
    else:
        {"strangers": strangers, "flood": flood, "between": between, "replay": replay, "crowd": crowd, "server": server}[attack](*rest)
