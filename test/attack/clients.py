"""Speaks HTTP and JSON badly to a server, which answers or closes, serves others meanwhile, and loses nothing by it."""
import json
import os
import select
import socket

from common import PATIENCE, Server, job, marks, now

AT_ONCE = 180  # connections of a round
STREAMS = 60
READ_MOST = 4 << 20  # bytes of a reply
GET = b"GET /v1/server HTTP/1.1\r\nHost: b\r\n\r\n"

BODIES = [json.dumps(body).encode() for body in (
    {"command": ["true"], "directory": "/", "output": "/dev/null", "name": "n"},
    [{"command": ["true"], "directory": "/", "array": 3, "begin": "+1h"}, {"script": "#!/bin/sh\nexit 0\n", "args": ["a"]}],
    {"command": ["true"], "directory": "/", "tasks": 2, "cores": 2, "memory": "1M", "duration": "1h30m", "hold": True,
     "environment": {"A": "b", "\u00e9": "\n"}, "dependency": "afterok:1,afterany:2", "priority": -3, "umask": 18},
    {"jobspec": {"version": 9999, "resources": [{"type": "slot", "label": "s", "count": 1, "with": [
        {"type": "core", "count": 1}]}], "tasks": [{"command": ["true"], "slot": "s", "count": {"per_slot": 1}}],
        "attributes": {"system": {"duration": 5}}}, "directory": "/"},
    {"jobs": ["3-7", 9, "17[2]"], "signal": "USR1"}, {"jobs": {"state": "running", "name": "n"}, "priority": -1},
    {"priority": -2, "duration": 60, "queue": "default", "hold": True}, {"signal": "TERM"}, {"enabled": True})]
TARGETS = ["/v1/jobs", "/v1/jobs?history=1&limit=3&order=newest", "/v1/jobs?state=held,pending&user=nobody&name=n&ids=1,2",
           "/v1/jobs/1", "/v1/jobs/1.0?environment=1", "/v1/jobs/2/explain", "/v1/jobs/2/events", "/v1/events?since=0",
           "/v1/jobs/1/signal", "/v1/jobs/1/requeue", "/v1/jobs/cancel", "/v1/jobs/hold", "/v1/jobs/update", "/v1/queues",
           "/v1/queues/default", "/v1/resources", "/v1/server"]
METHODS = ["GET", "GET", "GET", "POST", "POST", "PATCH", "DELETE"]
HAND_MADE = [
    b"", b"\r\n" * 100, b"GET\r\n\r\n", b"GET /\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\r\n\r\n", b"\0" * 64,
    b"GET /v1/server HTTP/1.1\r\n\r\n", b"GET  /v1/server  HTTP/1.1\r\nHost: b\r\n\r\n", b"GET /v1/server\r\nHost: b\r\n\r\n",
    b"GET /v1/server HTTP/1.1\nHost: b\n\n", b"GET /v1/server HTTP/1.1\r\nHost b\r\n\r\n",
    b"GET /v1/server HTTP/1.1\r\nHost: b\r\n folded: x\r\n\r\n", b"GET /v1/server HTTP/1.1\r\n: x\r\n\r\n",
    b"GET /v1/../../etc/passwd HTTP/1.1\r\nHost: b\r\n\r\n", b"GET /v1/jobs/%00%ff%zz HTTP/1.1\r\nHost: b\r\n\r\n",
    b"GET /v1/jobs?" + b"a=b&" * 100 + b" HTTP/1.1\r\nHost: b\r\n\r\n", b"GET /" + b"a" * 200000,
    b"GET / HTTP/1.1\r\nHost: b\r\nA: " + b"a" * 200000, b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 20000 + b"\r\n",
    b"POST /v1/jobs HTTP/1.1\r\nHost: b\r\nContent-Length: -5\r\n\r\n",
    b"POST /v1/jobs HTTP/1.1\r\nHost: b\r\nContent-Length: 99999999999999999999\r\n\r\n",
    b"POST /v1/jobs HTTP/1.1\r\nHost: b\r\nContent-Length: 70000000\r\n\r\n",
    b"POST /v1/jobs HTTP/1.1\r\nHost: b\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    b"POST /v1/jobs HTTP/1.1\r\nHost: b\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    b"POST /v1/jobs HTTP/1.1\r\nHost: b\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"POST /v1/jobs HTTP/1.1\r\nHost: b\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
    b"POST /v1/jobs HTTP/1.1\r\nHost: b\r\nTransfer-Encoding: gzip\r\n\r\n{}",
    b"POST /v1/jobs HTTP/1.1\r\nHost: b\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}",
    b"POST /v1/jobs HTTP/1.1\r\nHost: b\r\nContent-Length: 2\r\n\r\n\xff\xfe",
    b"HEAD /v1/server HTTP/1.1\r\nHost: b\r\n\r\n", b"OPTIONS * HTTP/1.1\r\nHost: b\r\n\r\n",
    b"CONNECT b:80 HTTP/1.1\r\nHost: b\r\n\r\n", b"TRACE / HTTP/1.1\r\nHost: b\r\n\r\n",
    b"GET /v1/events?since=-1 HTTP/1.1\r\nHost: b\r\n\r\n", b"GET /v1/events?since=99999999999999999999 HTTP/1.1\r\nHost: b\r\n\r\n",
    b"GET /v1/events HTTP/1.1\r\nHost: b\r\nLast-Event-ID: x\r\n\r\n", b"GET /v1/server HTTP/1.0\r\n\r\n",
    b"GET /v1/server HTTP/1.1\r\nHost: b\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n"]


def message(random):
    """A request that is right, or nearly so."""
    method, target = random.choice(METHODS), random.choice(TARGETS)
    if method == "POST" and random.random() < 0.6:
        target = "/v1/jobs"
    body = random.choice(BODIES) if method in ("POST", "PATCH") else b""
    if random.random() < 0.3:
        body = spoil(random, body)
    if random.random() < 0.2:
        cut = random.randint(0, len(body))
        chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:cut], body[cut:]) if part)
        return f"{method} {target} HTTP/1.1\r\nHost: b\r\nTransfer-Encoding: chunked\r\n\r\n".encode() + chunks + b"0\r\n\r\n"
    return f"{method} {target} HTTP/1.1\r\nHost: b\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def spoil(random, data):
    """Bytes changed, gone, said twice or from elsewhere."""
    for _ in range(random.choice((1, 1, 2, 5))):
        a = random.randint(0, len(data))
        b = min(len(data), a + random.choice((0, 1, 2, 8, 40)))
        new = random.choice((b"", random.randbytes(b - a), data[a:b] * 3, b"\0", b"\r\n", b"\xc3", b"9" * 25, b"[" * 300, b"{\"a\":",
                             b"null", b"1e999", b'"\\ud800"', b"%2e%2e/", b" ", b"-"))
        data = data[:a] + new + data[b:]
    return data


def is_harmless(data):
    """The server is not asked to stop: that would be no fault of its own."""
    return b"/stop" not in data and b"started" not in data


def garbage(random):
    """What one connection says."""
    kind = random.random()
    if kind < 0.15:
        return random.choice(HAND_MADE)
    if kind < 0.55:
        return spoil(random, message(random))
    if kind < 0.8:
        return b"".join(message(random) for _ in range(random.randint(2, 12)))  # in a pipeline
    if kind < 0.9:
        return spoil(random, b"".join(message(random) for _ in range(3)))
    whole = message(random)
    return whole[:random.randrange(len(whole))]


class Talk:
    """A connection: says its piece in pieces, hears until the server closes or has no more to say."""

    def __init__(self, path, data, ways):
        self.data, self.left, self.heard, self.tail = data, data, 0, b""
        self.half, self.slow, self.deaf = ways
        self.shut = self.closed = False
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.setblocking(False)
        try:
            self.socket.connect(path)
        except OSError:
            self.close()

    def close(self):
        self.socket.close()
        self.closed = True

    def say(self):
        try:
            sent = self.socket.send(self.left[:1 if self.slow else 65536])
            self.left = self.left[sent:]
            if not self.left and self.half and not self.shut:
                self.socket.shutdown(socket.SHUT_WR)
                self.shut = True
        except BlockingIOError:
            pass
        except OSError:
            self.left = b""

    def hear(self):
        if self.deaf:
            return
        try:
            data = self.socket.recv(65536)
            self.heard += len(data)
            self.tail = (self.tail + data)[-9:]
            if not data or self.heard > READ_MOST:
                self.close()
        except BlockingIOError:
            pass
        except OSError:
            self.close()


def converse(trial, server, talks):
    """Until all have said their piece and are closed, or hear nothing more. The rest of the server's clients are served."""
    end, quiet = now() + PATIENCE, now()  # the server closes what is not complete after 15 s
    others = 0
    while any(not t.closed for t in talks) and now() < end:
        live = [t for t in talks if not t.closed]
        may_hear, may_say, _ = select.select([t.socket for t in live if not t.deaf],
                                             [t.socket for t in live if t.left], [], 0.2)
        for talk in live:
            if talk.socket in may_say and not talk.closed:
                talk.say()
            if talk.socket in may_hear and not talk.closed:
                talk.hear()
                quiet = now()
        if others % 10 == 0:
            check_served(trial, server)
        others += 1
        if may_say and all(t.slow for t in live):
            trial.pause(0.01)
        if all(t.heard or t.closed or t.deaf for t in live) and not any(t.left for t in live) and now() - quiet > 0.3:
            break  # those left open were answered: the client may go
    for talk in talks:
        if not talk.closed and not talk.heard and not talk.deaf and now() >= end:
            trial.lost("bad connections", f"neither answered nor closed: {talk.data[:200]}")
        if not talk.closed:
            talk.close()


def check_served(trial, server):
    status, why = server.ask("GET", "/v1/server", timeout=20)
    trial.count("requests of others meanwhile")
    if status != 200:
        trial.lost("requests of others meanwhile", f"{status}: {why}; {server.last_words()}")


def talk(trial, server, data):
    random = trial.random
    return Talk(server.socket, data, (random.random() < 0.5, random.random() < 0.05, random.random() < 0.1))


def leave_open(trial, server):
    """Requests that never become whole and streams that nobody reads, while others are served; then the client goes."""
    parts = [b"", b"G", b"GET /v1/jobs HT", b"POST /v1/jobs HTTP/1.1\r\nHost: b\r\nContent-Length: 100\r\n\r\n{",
             b"GET /v1/events?since=0&follow=1 HTTP/1.1\r\nHost: b\r\n\r\n", b"GET /v1/jobs?history=1 HTTP/1.1\r\nHost: b\r\n\r\n" * 9]
    talks = [Talk(server.socket, parts[n % len(parts)], (False, False, True)) for n in range(STREAMS)]
    for one in talks:
        one.say()
    for _ in range(10):
        check_served(trial, server)
    trial.count("connections left open", len(talks))
    for one in talks:
        one.close()


def check_job(trial, server):
    """A job goes through."""
    name = f"round{trial.round}"
    status, reply = server.ask("POST", "/v1/jobs", job(trial.path("marks"), name, priority=9))
    trial.count("jobs of others meanwhile")
    if status != 201:
        trial.lost("jobs of others meanwhile", f"{status}: {reply}")
        return
    # What was asked badly may have been asked well enough to be a job that waits before it.
    trial.wait(f"{name} to end", lambda: any(m.what == "end" for m in marks(trial.path("marks")).get(name, [])))


def attack(trial):
    server = Server(trial)
    os.makedirs(trial.path("marks"))
    if not server.start():
        trial.lost("servers that started", server.last_words())
        return
    check_job(trial, server)
    trial.pause(0.3)
    files = server.open_files()
    for _ in trial.rounds():
        said = [garbage(trial.random) for _ in range(AT_ONCE)]
        if trial.round == 1:
            said[:len(HAND_MADE)] = HAND_MADE
        said = [data for data in said if is_harmless(data)]
        trial.count("bad connections", len(said))
        converse(trial, server, [talk(trial, server, data) for data in said])
        leave_open(trial, server)
        check_job(trial, server)
        server.ask("POST", "/v1/jobs/cancel", {"jobs": {}})
        if server.ended() is not None:
            trial.lost("bad connections", f"berthd ended with {server.ended()}: {server.last_words()}")
            return
    trial.wait(f"the server's files to be {files} again", lambda: server.open_files() <= files + 1)
    trial.count("looks at open files and memory")
    if server.memory() > 150:
        trial.lost("looks at open files and memory", f"{server.memory()} MiB")
    server.ask("POST", "/v1/jobs/cancel", {"jobs": {}})
    server.stop()
