"""One user tries everything against another, who works meanwhile, at a server for all users.

The other's jobs all go through, nothing of them is changed, and nothing of what only the other may know is in any answer,
file or process that the first can read. How long the other's submissions took at worst is shown, not judged.
"""
import json
import os
import pwd
import secrets
import signal
import socket
import time

from common import Book, Server, descendants, entries, job, marks, now, read
from crash import fork, stop_clients

ATTACKER, OTHER = "games", "daemon"
BODY = 64 << 20  # bytes, the most of a request
BODIES = 6
OPEN = 1  # seconds that what is left open stays so
PIDS_FREE = 12000  # of the machine, or its pids are left alone
FORBIDDEN = (400, 403, 404, 409)


class Worker:
    """The other user: submits one job after the other, with what nobody else may know in all of its parts."""

    def __init__(self, trial, server, secret):
        self.server, self.secret, self.stopped = server, secret, False
        self.home = trial.path(OTHER)
        self.book = Book(trial.path("books", "other"))

    def request(self, name, seconds, **more):
        body = job(os.path.join(self.home, "marks"), name, seconds, 0, **more)
        body["command"].append(self.secret)
        body.update(name=f"{self.secret}-{name}", output=os.path.join(self.home, name + ".out"))
        body["environment"]["SECRET"] = self.secret
        return body

    def submit(self, name, seconds, **more):
        begin = now()
        status, reply = self.server.ask("POST", "/v1/jobs", self.request(name, seconds, **more), timeout=120)
        self.book.note(name, begin, now() - begin, status, reply)

    def run(self):
        signal.signal(signal.SIGTERM, self.stop)
        self.submit("long", 3600, duration=7200)
        self.submit("held", 0, hold=True)
        self.submit("later", 0, begin="+2h", priority=-3)
        n = 0
        while not self.stopped:
            n += 1
            self.submit(f"v{n}", 0, duration=60)
            time.sleep(0.05)

    def stop(self, *_):
        self.stopped = True


class Attacker:
    """What one user may try; what it found goes into a book."""

    def __init__(self, trial, server, secret, big):
        self.server, self.big = server, big
        self.secret = secret.encode()
        self.pid = server.process.pid
        self.other = trial.path(OTHER)
        self.home = trial.path(ATTACKER)
        self.book = Book(trial.path("books", "attacker"))
        self.rounds = 1 if trial.most_rounds else 10**9
        self.stopped = False

    def run(self):
        signal.signal(signal.SIGTERM, self.stop)
        for _ in range(self.rounds):
            for part in (self.look, self.meddle, self.read_files, self.read_processes, self.write_files, self.leave_bodies,
                         self.connect, self.hear_nothing, self.ask_for_many, self.ask_often, self.take_pids):
                if self.stopped:
                    return
                begin = now()
                part()
                self.book.note("part", part.__name__, begin, now())

    def stop(self, *_):
        self.stopped = True

    def count(self, what, n=1):
        self.book.note("count", what, n)

    def lost(self, what, why):
        self.book.note("lost", what, why)

    def ask(self, method, target, body=None):
        """A request whose answer may not disclose anything."""
        status, reply = self.server.ask(method, target, body, timeout=120)
        self.check_disclosed(f"{method} {target}", json.dumps(reply).encode())
        return status, reply

    def check_disclosed(self, where, data):
        self.count("answers, files and processes read")
        if self.secret in data:
            self.lost("answers, files and processes read", f"{where}: {data[:300]}")

    def others(self):
        """Ids of the other's jobs."""
        status, reply = self.ask("GET", f"/v1/jobs?user={OTHER}&history=1&limit=200")
        return sorted({row["id"] for row in reply["jobs"]}) if status == 200 else []

    # ---- To know ----

    def look(self):
        for query in ("", "history=1", f"user={OTHER}&history=1", "name=*", f"name={self.secret.decode()}-long", "state=running",
                      "order=newest&history=1", "ids=1,2,3"):
            self.ask("GET", f"/v1/jobs?limit=500&{query}")
        for i in self.others()[:20]:
            for target in ("", "?environment=1", ".0?environment=1", "/explain", "/events"):
                self.ask("GET", f"/v1/jobs/{i}{target}")
            self.ask("GET", f"/v1/events?since=0&job={i}")
        for target in ("/v1/events?since=0", "/v1/queues", "/v1/resources", "/v1/server"):
            self.ask("GET", target)

    def read_files(self):
        for top in (self.server.directory, self.other):
            for path, _, names in os.walk(top):
                for name in names:
                    self.check_disclosed(os.path.join(path, name), read(os.path.join(path, name)))
        for name in ("long.out", "secret", "v1.out"):
            self.check_disclosed(name, read(os.path.join(self.other, name)))
        for i in self.others()[:20]:
            self.check_disclosed(f"log {i}", read(f"{self.server.directory}/logs/{pwd.getpwnam(OTHER).pw_uid}/{i}.out"))

    def read_processes(self):
        """Arguments of processes are for all to see, which is the system's; the rest is not."""
        for name in os.listdir("/proc"):
            if name.isdigit() and int(name) != os.getpid() and self.may_matter(name):
                for file in ("environ", "maps", "stack", "auxv"):
                    self.check_disclosed(f"/proc/{name}/{file}", read(f"/proc/{name}/{file}"))
                for fd in ("0", "1", "2", "3", "5", "200"):
                    self.check_disclosed(f"/proc/{name}/fd/{fd}", self.read_some(f"/proc/{name}/fd/{fd}"))

    def may_matter(self, name):
        try:
            return os.stat(f"/proc/{name}").st_uid == pwd.getpwnam(OTHER).pw_uid or int(name) == self.pid
        except OSError:
            return False

    def read_some(self, path):
        try:
            fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        except OSError:
            return b""
        try:
            return os.read(fd, 65536)
        except OSError:
            return b""
        finally:
            os.close(fd)

    # ---- To change ----

    def meddle(self):
        for i in self.others()[:20]:
            for method, target, body in (
                    ("DELETE", "", None), ("PATCH", "", {"hold": True}), ("PATCH", "", {"hold": False}),
                    ("PATCH", "", {"priority": -9}), ("PATCH", "", {"duration": 1}), ("POST", "/requeue", None),
                    ("POST", "/signal", {"signal": "KILL"})):
                status, _ = self.ask(method, f"/v1/jobs/{i}{target}", body)
                self.check_refused(f"{method} of job {i}{target}", status)
        for verb in ("cancel", "hold", "release", "requeue", "signal", "update"):
            more = {"signal": {"signal": "KILL"}, "update": {"duration": 1}}.get(verb, {})
            for which in (self.others()[:100], {"user": OTHER}, {"user": "*"}, {"ids": self.others()[:100], "user": OTHER}):
                status, reply = self.ask("POST", f"/v1/jobs/{verb}", {"jobs": which, **more})
                self.count("changes tried")
                if status == 200 and reply["done"]:
                    self.lost("changes tried", f"{verb} of {which}: {reply}")
        for target, body in (("server/stop", None), ("server/reload", None)):
            self.check_refused(target, self.ask("POST", f"/v1/{target}", body)[0])
        self.check_refused("a queue", self.ask("PATCH", "/v1/queues/default", {"started": False})[0])
        self.check_refused("resources", self.ask("PATCH", "/v1/resources", {"resources": "node0", "status": "down"})[0])

    def check_refused(self, what, status):
        self.count("changes tried")
        if status not in FORBIDDEN:
            self.lost("changes tried", f"{what}: status {status}")

    def write_files(self):
        """Jobs whose files are the other's, root's, or links to such."""
        links = {}
        for n, path in enumerate(("public", "secret", "marks", "long.out")):
            links[path] = os.path.join(self.home, f"link{n}")
            if not os.path.lexists(links[path]):
                os.symlink(os.path.join(self.other, path), links[path])
        theirs = [os.path.join(self.other, p) for p in links] + list(links.values()) + \
            [f"{self.server.directory}/berth.db", f"{self.server.directory}/logs/x", "/etc/berth-attack"]
        ids = []
        for path in theirs:
            base = {"directory": "/", "environment": {"PATH": "/usr/bin:/bin"}, "duration": 30, "command": ["echo", "taken"]}
            for more in ({"output": path}, {"output": path, "append": True}, {"error": path, "output": "/dev/null"},
                         {"input": path, "command": ["cat"], "output": os.path.join(self.home, "stolen")},
                         {"directory": path, "output": "here"}):
                status, reply = self.ask("POST", "/v1/jobs", {**base, **more})
                self.count("jobs with files of others")
                ids += [reply["id"]] if status == 201 else []
        self.await_end(ids)
        self.check_disclosed("what a job could read", read(os.path.join(self.home, "stolen")))

    def await_end(self, ids):
        end = now() + 60
        while ids and now() < end:
            status, reply = self.ask("GET", "/v1/jobs?limit=200&ids=" + ",".join(map(str, ids)))
            if status == 200 and all(row["end"] for row in reply["jobs"]):
                return
            time.sleep(0.1)

    # ---- To be in the way ----

    def reach(self):
        try:
            found = socket.socket(socket.AF_UNIX)
            found.settimeout(5)
            found.connect(self.server.socket)
            return found
        except OSError:
            found.close()
            return None

    def open_all(self, n, texts):
        """Connections that said so much, and nobody hears."""
        found = []
        for i in range(n):
            connection = self.reach()
            if connection:
                found.append(connection)
                try:
                    connection.sendall(texts[i % len(texts)])
                except OSError:
                    pass
        return found

    def close_all(self, connections):
        self.count("connections left open", len(connections))
        time.sleep(OPEN)
        for connection in connections:
            connection.close()

    def leave_bodies(self):
        head = f"POST /v1/jobs HTTP/1.1\r\nHost: b\r\nContent-Length: {BODY}\r\n\r\n".encode()
        self.close_all(self.open_all(BODIES, [head + b" " * (BODY - 10)]))

    def connect(self):
        self.close_all(self.open_all(400, [b"", b"G", b"GET /v1/jobs HTTP/1.1\r\nA: "]))
        for _ in range(2000 if self.big else 300):
            connection = self.reach()
            if connection:
                connection.close()

    def hear_nothing(self):
        self.close_all(self.open_all(200, [b"GET /v1/events?since=0&follow=1 HTTP/1.1\r\nHost: b\r\n\r\n",
                                           b"GET /v1/jobs?history=1 HTTP/1.1\r\nHost: b\r\n\r\n" * 20]))

    def ask_for_many(self):
        """Arrays and lists as large as may be, taken, refused and cancelled."""
        base = {"command": ["true"], "directory": "/", "output": "/dev/null", "hold": True}
        for members in (1000000 if self.big else 20000, 2**31, 2**63):
            self.ask("POST", "/v1/jobs", {**base, "array": members})
        bulk = [base] * (100000 if self.big else 5000) + [{"command": []}]
        self.ask("POST", "/v1/jobs", bulk)
        self.ask("POST", "/v1/jobs/cancel", {"jobs": list(range(1, 100000, 7))})
        self.ask("POST", "/v1/jobs/cancel", {"jobs": {}})
        self.count("requests for very many", 6)

    def ask_often(self):
        """In a pipeline, as many as a user may in a second and more."""
        one = b"GET /v1/jobs?history=1&limit=1000 HTTP/1.1\r\nHost: b\r\n\r\n"
        end = now() + OPEN
        while now() < end:
            connection = self.reach()
            try:
                connection.sendall(one * 300)
                connection.recv(65536)
            except (OSError, AttributeError):
                pass
            if connection:
                connection.close()
            self.count("requests in a pipeline", 300)

    def take_pids(self):
        """A job with many tasks, unless the machine has hardly enough pids for that."""
        used = int(read("/proc/loadavg").split()[3].split(b"/")[1])
        if int(read("/proc/sys/kernel/pid_max")) - used < PIDS_FREE:
            return
        tasks = {"command": ["sleep", "1"], "slot": "s", "count": {"total": 2000 if self.big else 300}}
        spec = {"version": 9999, "tasks": [tasks], "attributes": {"system": {"duration": 30}}, "resources": [
            {"type": "slot", "label": "s", "count": 1, "with": [{"type": "core", "count": 1}]}]}
        status, reply = self.ask("POST", "/v1/jobs", {"jobspec": spec, "directory": "/", "output": "/dev/null",
                                                      "environment": {"PATH": "/usr/bin:/bin"}})
        self.count("jobs of very many tasks")
        if status == 201:
            self.await_end([reply["id"]])


# ---- Afterwards ----


def check_work(trial, server, secret):
    """All of the other's jobs are there, and did as they should."""
    rows = {row["name"]: row for row in server.jobs() or []}
    notes = marks(trial.path(OTHER, "marks"))
    for name, _, _, status, reply in entries(trial.path("books", "other")):
        trial.count("jobs of the other")
        row = rows.get(f"{secret}-{name}")
        if status != 201 or not row:
            trial.lost("jobs of the other", f"{name} was answered {status}: {reply}")
            continue
        starts = [m for m in notes.get(name, []) if m.what == "start"]
        expected = {"long": ("running", 1), "held": ("held", 0), "later": ("pending", 0)}.get(name, ("done", 1))
        if (row["state"], len(starts)) != expected:
            trial.lost("jobs of the other", f"{name} is {row['state']} ({row['reason']}) after {len(starts)} starts")
        if row["priority"] != (-3 if name == "later" else 0) or row["duration"] != {"long": 7200}.get(name, row["duration"]):
            trial.lost("jobs of the other", f"{name} was changed: {row}")


def check_files(trial, secret):
    for name, expected in (("public", "public\n"), ("secret", secret)):
        trial.count("looks at the other's files")
        if read(trial.path(OTHER, name)).decode() != expected:
            trial.lost("looks at the other's files", f"{name}: {read(trial.path(OTHER, name))[:100]}")
    for path in ("/etc/berth-attack", os.path.join(trial.path("berth"), "logs", "x")):
        if os.path.lexists(path):
            trial.lost("looks at the other's files", f"{path} was made")
    for name in os.listdir(trial.path(OTHER)):
        if os.lstat(trial.path(OTHER, name)).st_uid not in (0, pwd.getpwnam(OTHER).pw_uid):
            trial.lost("looks at the other's files", f"{name} is somebody else's")


def read_books(trial):
    """What the attacker found; and how long the other's submissions took, while what was done."""
    parts = []
    for what, *rest in entries(trial.path("books", "attacker")):
        if what == "count":
            trial.count(*rest)
        elif what == "lost":
            trial.lost(*rest)
        else:
            parts.append(rest)
    worst = (0, "")
    for _, begin, took, _, _ in entries(trial.path("books", "other")):
        meanwhile = [name for name, since, until in parts if since < begin + took and begin < until]
        worst = max(worst, (took, ", ".join(meanwhile)))
    trial.note(f"the other's slowest submission took {worst[0]:.2f} s, during {worst[1].replace('_', ' ') or 'nothing'}")


def homes(trial, secret):
    for user in (ATTACKER, OTHER):
        entry = pwd.getpwnam(user)
        os.makedirs(trial.path(user))
        os.makedirs(trial.path(user, "marks"))
        for name, text, mode in (("public", "public\n", 0o644), ("secret", secret, 0o600)):
            if user == OTHER:
                with open(trial.path(user, name), "w", encoding="utf-8") as file:
                    file.write(text)
                os.chmod(trial.path(user, name), mode)
                os.chown(trial.path(user, name), entry.pw_uid, entry.pw_gid)
        for path in (trial.path(user), trial.path(user, "marks")):
            os.chown(path, entry.pw_uid, entry.pw_gid)
            os.chmod(path, 0o755)


def attack(trial):
    secret = "secret" + secrets.token_hex(8)
    server = Server(trial)
    os.makedirs(trial.path("books"))
    homes(trial, secret)
    if not server.start():
        trial.lost("servers that started", server.last_words())
        return
    worker = Worker(trial, server, secret)
    attacker = Attacker(trial, server, secret, big=not trial.most_rounds)
    pids = [fork(trial, ATTACKER, attacker.run)]
    other = fork(trial, OTHER, worker.run)
    for _ in trial.rounds():
        trial.pause(1)
        if trial.most_rounds:
            trial.wait("the attacker to be done", lambda: not [p for p in descendants() if p.pid == pids[0] and p.state != "Z"],
                       240)
    trial.pause(1)
    stop_clients(trial, pids)
    stop_clients(trial, [other])
    read_books(trial)
    if server.ended() is not None:
        trial.lost("servers that stayed", server.last_words())
        return
    server.ask("POST", "/v1/jobs/cancel", {"jobs": {"user": ATTACKER}})
    trial.wait("the other's jobs to end", lambda: not [
        r for r in server.jobs(f"user={OTHER}") or [1] if r["state"] != "held" and not r["name"].endswith(("long", "later"))])
    check_work(trial, server, secret)
    check_files(trial, secret)
    server.ask("POST", "/v1/jobs/cancel", {"jobs": {"user": "*"}})
    server.stop()
