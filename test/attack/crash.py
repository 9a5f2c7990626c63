"""Kills and stops berthd and berth-keeper at random moments under load, then holds the server's word against the books.

Clients note what they ask and what they hear, jobs note their own starts and ends: see account.py for what must be true.
"""
import http.client
import os
import random
import signal
import socket
import sqlite3
import time

from account import Account
from common import Book, Connection, Process, Server, become, descendants, job, now, send

CLIENTS = 3
BACKLOG = 150  # jobs that wait, above which a client rests
RECENT = 30  # jobs that a client may change


# ---- Clients ----


class Client:
    """Asks for all kinds of things, one at a time, until it is told to stop."""

    def __init__(self, trial, server, number, raises):
        self.server, self.number, self.raises = server, number, raises
        self.random = random.Random(f"{trial.random.random()}/{number}")
        self.marks = trial.path("marks")
        self.book = Book(trial.path("books", f"client{number}"))
        self.recent, self.asked, self.jobs, self.stopped = (), 0, 0, False

    def run(self):
        signal.signal(signal.SIGTERM, self.stop)
        rest = 0
        while not self.stopped:
            if self.asked % 20 == 0:
                status, reply = self.server.ask("GET", "/v1/server")
                rest = 0.5 if status == 200 and reply["jobs"]["pending"] > BACKLOG else 0
            if rest:
                time.sleep(rest)
                self.asked += 1
                continue
            ask = self.random.choices((self.submit, self.change), (6, 4))[0]
            ask()
            time.sleep(self.random.random() * 0.04)

    def stop(self, *_):
        self.stopped = True

    def ask(self, what, method, target, body):
        """The reply, or None if it was refused or there was none; both are noted."""
        self.asked += 1
        self.book.note("ask", self.asked, now(), *what)
        status, reply = self.server.ask(method, target, body)
        self.book.note("told", self.asked, now(), status or None, reply)
        if not status:
            time.sleep(0.02)
        return reply if status in (200, 201) else None

    def request(self, kind):
        """A job of that kind. Its name says whose it is and is never used again."""
        self.jobs += 1
        r = self.random
        seconds = r.choice((0, 0, 0.01, 0.1, 0.3))
        more = {}
        if kind == "array":
            more["array"] = r.randint(2, 5)
        elif kind == "tasks":
            more["tasks"] = 2
        elif kind == "hold":
            more["hold"] = True
        elif kind == "requeue":
            more["requeue"] = True
            seconds = 1
        elif kind == "priority":
            more["priority"] = r.randint(-9, 9 if self.raises else 0)
        elif kind == "dependency" and self.recent:
            how = r.choice(("afterok", "afternotok", "afterany"))
            more["dependency"] = f"{how}:{r.choice(self.recent)}"
        return job(self.marks, f"c{self.number}-{self.jobs}", seconds, r.choice((0, 0, 1, 2, 77)), **more)

    def submit(self):
        kind = self.random.choices(("plain", "array", "tasks", "bulk", "dependency", "hold", "requeue", "priority"),
                                   (6, 1, 1, 1, 3, 2, 1, 1))[0]
        requests = [self.request(kind) for _ in range(3 if kind == "bulk" else 1)]
        body = requests if kind == "bulk" else requests[0]
        noted = [{"name": x["name"], "status": int(x["command"][-1]), "array": x.get("array"), "tasks": x.get("tasks", 1),
                  "hold": x.get("hold", False), "requeue": x.get("requeue", False), "priority": x.get("priority", 0),
                  "dependency": x.get("dependency")} for x in requests]
        reply = self.ask(("submit", noted), "POST", "/v1/jobs", body)
        if reply:
            ids = reply.get("ids") or [reply["id"]]
            self.recent = (*self.recent, *ids)[-RECENT:]

    def change(self):
        if not self.recent:
            return
        r = self.random
        which = r.choice(self.recent)
        what = r.choices(("cancel", "hold", "release", "requeue", "priority", "cancel many"), (3, 2, 3, 2, 2, 1))[0]
        if what == "cancel":
            self.ask((what, [which]), "DELETE", f"/v1/jobs/{which}", None)
        elif what in ("hold", "release"):
            self.ask((what, [which]), "PATCH", f"/v1/jobs/{which}", {"hold": what == "hold"})
        elif what == "requeue":
            self.ask((what, [which]), "POST", f"/v1/jobs/{which}/requeue", None)
        elif what == "priority":
            value = r.randint(-9, -1)
            self.ask((what, [which], value), "PATCH", f"/v1/jobs/{which}", {"priority": value})
        else:
            many = sorted({which, r.choice(self.recent)})
            self.ask((what, many), "POST", "/v1/jobs/cancel", {"jobs": many})


class Follower:
    """Reads the stream of events, and goes on where it was when that breaks."""

    def __init__(self, trial, server):
        self.server, self.last = server, 0
        self.book = Book(trial.path("books", "events"))

    def run(self):
        signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
        while True:
            try:
                self.follow()
            except (OSError, http.client.HTTPException):
                pass
            time.sleep(0.05)

    def follow(self):
        connection = Connection(self.server.socket, 30)
        connection.request("GET", f"/v1/events?follow=1&since={self.last}")
        reply = connection.getresponse()
        while line := reply.readline():
            if line.startswith(b"data: ") and line.endswith(b"}\n"):
                text = line[6:].decode().strip()
                self.last = int(text.partition(":")[2].partition(",")[0])
                self.book.note(self.last, text)


def fork(trial, user, run):
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.close(3)
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            if user:
                become(user)
            run()
            status = 0
        finally:
            os._exit(status)
    trial.known.add(Process(pid).known())
    return pid


# ---- Moments ----


def spoil_berthd(trial, server, _):
    trial.count("kill -9 of berthd")
    server.kill()


def spoil_keeper(trial, server, _):
    pid = server.keeper()
    if pid and send(pid, signal.SIGKILL):
        trial.count("kill -9 of berth-keeper")


def spoil_both(trial, server, _):
    pid = server.keeper()
    server.send(signal.SIGKILL)
    if pid:
        send(pid, signal.SIGKILL)
    server.wait_end()
    trial.count("kill -9 of both")


def spoil_start(trial, server, draw):
    """Both, and then the next one while it starts."""
    spoil_both(trial, server, draw)
    server.spawn()
    trial.pause(draw * 0.1)
    server.kill()
    trial.count("kill -9 of a berthd that starts")


def spoil_task(trial, server, draw):
    """A process of the keeper's that is not the command yet."""
    pids = [p.pid for p in server.keepers() if p.pid != server.keeper()]
    pid = pids[int(draw * len(pids))] if pids else None
    if pid and send(pid, signal.SIGKILL):
        trial.count("kill -9 of a task before it was the command")
        with open(trial.path("killed"), "a", encoding="utf-8") as file:
            file.write(f"{pid}\n")


def stop_berthd(trial, server, draw):
    server.send(signal.SIGSTOP)
    trial.pause(draw * 0.5)
    server.send(signal.SIGCONT)
    trial.count("STOP and CONT of berthd")


def stop_keeper(trial, server, draw):
    pid = server.keeper()
    if pid and send(pid, signal.SIGSTOP):
        trial.pause(draw * 0.5)
        send(pid, signal.SIGCONT)
        trial.count("STOP and CONT of berth-keeper")


MOMENTS = ((spoil_berthd, 5), (spoil_keeper, 3), (spoil_both, 2), (spoil_start, 2), (spoil_task, 1), (stop_berthd, 2),
           (stop_keeper, 1))


def moment(trial, server):
    """The draws are the same for a seed, whatever comes of them. False if the server does not come back."""
    pause, what, draw = (trial.random.random() for _ in range(3))
    spoil = random.Random(what).choices([m for m, _ in MOMENTS], [n for _, n in MOMENTS])[0]
    trial.pause(pause * 0.5)
    spoil(trial, server, draw)
    if server.ended() is not None and not server.start():
        trial.lost("servers that came back", server.last_words())
        return False
    return True


# ---- Afterwards ----


def waits_for_held(rows):
    """Ids of the jobs that are held, or wait for such."""
    found = {row["id"] for row in rows if row["state"] == "held"}
    more = True
    while more:
        more = {row["id"] for row in rows if row["state"] == "pending" and row["dependency"]
                and int(row["dependency"].partition(":")[2]) in found} - found
        found |= more
    return found


def settle(trial, server):
    """Until nothing runs, and nothing waits but for what is held."""
    left = []

    def is_settled():
        nonlocal left
        rows = server.jobs("") or []
        held = waits_for_held(rows)
        left = [(row["id"], row["state"], row["reason"]) for row in rows if row["id"] not in held]
        return not left and server.is_ready()
    if not trial.wait("all jobs to end", is_settled, 120):
        trial.lost("jobs that came to an end", f"{len(left)} did not: {left[:5]}")


def soak(trial, server):
    """Laps of jobs, after which as many files are open as before, and no more memory is taken."""
    laps = []
    for lap in range(4):
        for n in range(50):
            server.ask("POST", "/v1/jobs", {"name": f"lap{lap}", "command": ["true"], "directory": "/",
                                            "environment": {"PATH": "/usr/bin:/bin"}, "output": "/dev/null"})
        trial.wait("a lap's jobs to end", lambda: server.jobs("") == [])
        if laps:
            trial.wait("as few open files as before", lambda: server.open_files() <= laps[0][0] + 1)
        laps.append((server.open_files(), server.memory()))
    trial.count("laps for files and memory", len(laps))
    if laps[-1][0] > laps[0][0] + 1 or laps[-1][1] > laps[0][1] + 8:
        trial.lost("laps for files and memory", f"(files, MiB) after each lap: {laps}")


def end(trial, server):
    """Nothing is left of a server that has stopped but its store, which is sound."""
    server.ask("POST", "/v1/jobs/cancel", {"jobs": {"user": "*"}})
    trial.wait("held jobs to be cancelled", lambda: server.jobs("") == [])
    soak(trial, server)
    trial.count("looks for what is left", 2)
    ours = {server.process.pid, server.keeper()}
    if not trial.wait("all but server and keeper to be gone", lambda: {p.pid for p in descendants()} <= ours):
        trial.lost("looks for what is left", f"{[(p.pid, p.name, p.state) for p in descendants()][:5]}")
    server.stop()
    if not trial.wait("all to be gone", lambda: not descendants()):
        trial.lost("looks for what is left", f"{[(p.pid, p.name, p.state) for p in descendants()][:5]}")
    trial.count("integrity checks")
    store = sqlite3.connect(os.path.join(server.directory, "berth.db"))
    said = store.execute("PRAGMA integrity_check").fetchall()
    store.close()
    if said != [("ok",)]:
        trial.lost("integrity checks", said[:3])


def stop_clients(trial, pids):
    for pid in pids:
        send(pid, signal.SIGTERM)
    for pid in pids:
        status = os.waitpid(pid, 0)[1]
        if status:
            trial.lost("clients that went on to the end", f"status {status}")


def attack(trial, users):
    server = Server(trial)
    os.makedirs(trial.path("books"))
    os.makedirs(trial.path("marks"))
    os.chmod(trial.path("marks"), 0o1777)
    if not server.start():
        trial.lost("servers that started", server.last_words())
        return
    clients = [fork(trial, user, Client(trial, server, n, user in (None, "root")).run) for n, user in enumerate(users)]
    follower = fork(trial, None, Follower(trial, server).run)
    for _ in trial.rounds():
        if not moment(trial, server):
            break
    stop_clients(trial, clients)
    settle(trial, server)
    rows = server.jobs()
    if rows is None:
        trial.lost("lists of all jobs", "it can't be had")
        return
    stop_clients(trial, [follower])
    Account(trial, rows).check(server)
    end(trial, server)


def for_one(trial):
    attack(trial, [None] * CLIENTS)


def for_all(trial):
    attack(trial, ["root", "nobody", "daemon"])
