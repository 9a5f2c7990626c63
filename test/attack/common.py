"""What the attacks share: a trial and its counts, processes, a server and its clients, the books of jobs."""
import ctypes
import http.client
import json
import os
import pwd
import random
import resource
import signal
import socket
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PATIENCE = float(os.environ.get("BERTH_PATIENCE", "60"))  # seconds that a server has for what it must do
OPEN_FILES = 4096
CUT = 0  # in place of the status of a reply that broke off
LIBC = ctypes.CDLL(None, use_errno=True)
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


class Skip(Exception):
    """Why an attack can't be made here."""


def become_reaper():
    """From now on whatever our descendants leave behind becomes our child."""
    LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def become(user):
    """The rest of this process is that user's."""
    entry = pwd.getpwnam(user)
    os.setgroups([])
    os.initgroups(user, entry.pw_gid)
    os.setgid(entry.pw_gid)
    os.setuid(entry.pw_uid)


def now():
    """Seconds on the clock of /proc/uptime, which the jobs note."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


# ---- Processes ----


def read(path):
    """A file of /proc; nothing of a process that has gone."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


class Process:
    """A line of /proc/PID/stat."""

    def __init__(self, pid):
        self.pid = pid
        head, _, rest = read(f"/proc/{pid}/stat").rpartition(b")")
        fields = rest.split()
        self.name = head.partition(b"(")[2].decode(errors="replace")
        self.state = fields[0].decode() if fields else "X"
        self.parent = int(fields[1]) if fields else 0
        self.started = int(fields[19]) if fields else 0

    def known(self):
        """What tells it from others that had, or will have, its pid."""
        return self.pid, self.started

    def directory(self):
        """Where it is; nothing if it has gone."""
        try:
            return os.readlink(f"/proc/{self.pid}/cwd")
        except OSError:
            return ""

    def command(self):
        return read(f"/proc/{self.pid}/cmdline").split(b"\0")


def descendants(root=None):
    """All that we started and what that started, the dead that nobody has waited for too."""
    children = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            process = Process(int(name))
            children.setdefault(process.parent, []).append(process)
    found, queue = [], [root or os.getpid()]
    while queue:
        for process in children.get(queue.pop(), []):
            found.append(process)
            queue.append(process.pid)
    return found


def send(pid, number):
    """A signal for a process, if it is still a descendant of ours: a number may be another's by now."""
    try:
        fd = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        if not any(p.pid == pid for p in descendants()):
            return False
        signal.pidfd_send_signal(fd, number)
        return True
    except OSError:
        return False
    finally:
        os.close(fd)


def kill_descendants():
    for _ in range(100):
        left = descendants()
        if not left:
            return
        for process in left:
            if process.state != "Z":
                send(process.pid, signal.SIGKILL)
        reap(())
        time.sleep(0.02)


def reap(known):
    """Waits for what others left us, as init would; `known` are children that somebody asks for."""
    for process in descendants():
        if process.state == "Z" and process.parent == os.getpid() and process.known() not in known:
            try:
                os.waitpid(process.pid, os.WNOHANG)
            except ChildProcessError:
                pass


# ---- A trial ----


class Trial:
    """One attack: its random moments, its directory, its time, and what it counts."""

    def __init__(self, name, build, directory, seed, rounds=None, seconds=None):
        self.name, self.build, self.directory = name, build, directory
        self.random = random.Random(f"{seed}/{name}")
        self.most_rounds, self.end = rounds, now() + seconds if seconds else None
        self.begin, self.seconds = now(), seconds
        self.rows = {}  # what: [how many, how many of these were lost]
        self.losses, self.notes = [], []
        self.known = set()  # children that somebody waits for (Process.known)
        self.round = 0

    def path(self, *parts):
        return os.path.join(self.directory, *parts)

    def rounds(self):
        """As many as the plan has, or as there is time for."""
        while self.round < self.most_rounds if self.most_rounds else now() < self.end:
            self.round += 1
            yield self.round
            self.progress()

    def progress(self):
        if self.most_rounds:
            done = self.round / self.most_rounds
        else:
            done = (now() - self.begin) / self.seconds
        tell({"progress": min(done, 1), "round": self.round, "losses": len(self.losses)})

    def count(self, what, n=1):
        self.rows.setdefault(what, [0, 0])[0] += n

    def note(self, text):
        """Something to be shown that is not judged."""
        self.notes.append(text)

    def lost(self, what, why):
        self.rows.setdefault(what, [0, 0])[1] += 1
        self.losses.append(f"{what}: {why}")
        with open(self.path("lost"), "a", encoding="utf-8") as file:
            file.write(f"{what}: {why}\n")
        tell({"lost": what, "why": str(why)})

    def pause(self, seconds):
        end = now() + seconds
        while True:
            reap(self.known)
            left = end - now()
            if left <= 0:
                return
            time.sleep(min(left, 0.05))

    def wait(self, what, is_so, patience=PATIENCE):
        """Until it is so; True, or False after `patience` with a loss."""
        end = now() + patience
        while not is_so():
            if now() > end:
                self.lost("waits that came to an end", f"gave up waiting: {what}")
                return False
            self.pause(0.05)
        return True

    def look_for_reports(self):
        """Of the sanitizers, where the build has them."""
        for name in os.listdir(self.directory):
            if name.startswith("sanitizer."):
                with open(self.path(name), errors="replace", encoding="utf-8") as file:
                    lines = [x for x in file.read().splitlines() if "ERROR:" in x or "runtime error" in x]
                self.lost("reports of sanitizers", f"{self.path(name)}: {lines[:1]}")


def tell(what):
    """A line for the runner."""
    try:
        os.write(3, (json.dumps(what) + "\n").encode())
    except OSError:
        pass


def is_sanitized(program):
    """Whether it was built with the address sanitizer, by gcc or clang."""
    return b"__asan_init" in read(program)


def base_environment(directory):
    """What programs of ours and jobs find, and nothing of the caller's."""
    report = os.path.join(directory, "sanitizer")
    return {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": directory, "LC_ALL": "C.UTF-8",
            "ASAN_OPTIONS": f"log_path={report}:allocator_may_return_null=1",
            "UBSAN_OPTIONS": f"log_path={report}:print_stacktrace=1"}


def die_with_us():
    os.setsid()
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, OPEN_FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, wanted))


# ---- A server and its clients ----


class Connection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("berth", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def ask(path, method, target, body=None, timeout=PATIENCE):
    """(status, value); (None, why) if no answer came, (CUT, why) if it broke off. The body is a value or a text."""
    connection = Connection(path, timeout)
    try:
        text = body if body is None or isinstance(body, (str, bytes)) else json.dumps(body)
        connection.request(method, target, text)
        reply = connection.getresponse()
        data = reply.read()
    except http.client.IncompleteRead as why:
        return CUT, str(why)
    except (OSError, http.client.HTTPException) as why:
        return None, str(why)
    finally:
        connection.close()
    try:
        return reply.status, json.loads(data)
    except ValueError:
        return reply.status, data.decode(errors="replace")


class Server:
    """A berthd in a directory of its own, with its keeper."""

    def __init__(self, trial, cores=16, name="berth"):
        self.trial = trial
        self.directory = trial.path(name)
        self.socket = os.path.join(self.directory, "berth.sock")
        self.process = None
        self.log = trial.path(name + ".said")
        os.makedirs(self.directory, exist_ok=True)
        os.chmod(self.directory, 0o755)
        with open(os.path.join(self.directory, "berth.yaml"), "w", encoding="utf-8") as file:
            file.write(f"resources: {{nodes: 1, cores: {cores}}}\nserver: {{grace: 5s}}\n")

    def spawn(self):
        environment = base_environment(self.trial.directory)
        environment["BERTH_DIR"] = self.directory
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [os.path.join(self.trial.build, "berthd"), "--foreground"],
                env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.directory,
                preexec_fn=die_with_us)
        self.trial.known.add(Process(self.process.pid).known())

    def ended(self):
        """Its status, or None while it runs."""
        return self.process.poll() if self.process else 0

    def is_ready(self):
        return self.ask("GET", "/v1/server", timeout=5)[0] == 200

    def start(self):
        """True when it answers; False if it ended before that."""
        self.spawn()
        self.trial.wait("berthd to answer or to end", lambda: self.ended() is not None or self.is_ready())
        return self.ended() is None

    def send(self, number):
        if self.ended() is None:
            send(self.process.pid, number)

    def kill(self):
        if self.process and self.ended() is None:
            self.process.send_signal(signal.SIGKILL)
        self.wait_end()

    def wait_end(self):
        if self.process:
            self.trial.wait("berthd to end", lambda: self.ended() is not None)

    def stop(self):
        """As its owner stops it, and its keeper, which ends when nothing runs."""
        self.ask("POST", "/v1/server/stop")
        self.wait_end()
        if self.process and self.ended() != 0:
            self.trial.lost("servers that stopped as they should", f"status {self.ended()}; {self.last_words()}")

    def keepers(self):
        """Its keeper, and children of it that are not the command yet."""
        return [p for p in descendants() if p.name == "berth-keeper" and p.state != "Z"
                and p.directory().startswith(self.directory)]

    def keeper(self):
        """The pid of its keeper, or None."""
        pids = {p.pid for p in descendants() if p.name == "berth-keeper"}
        for process in self.keepers():
            if process.parent not in pids:
                return process.pid
        return None

    def ask(self, method, target, body=None, timeout=PATIENCE):
        return ask(self.socket, method, target, body, timeout)

    def jobs(self, query="history=1"):
        """All rows of a list, page by page; None if it can't be had."""
        rows, after = [], ""
        while True:
            status, page = self.ask("GET", f"/v1/jobs?limit=5000&{query}{after}")
            if status != 200 or not isinstance(page, dict):
                return None
            rows += page["jobs"]
            if not page["next"]:
                return rows
            after = f"&after={page['next']}"

    def open_files(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def memory(self):
        """In MiB; 0 under a sanitizer, where it means nothing."""
        if is_sanitized(f"/proc/{self.process.pid}/exe"):
            return 0
        for line in read(f"/proc/{self.process.pid}/status").splitlines():
            if line.startswith(b"VmRSS:"):
                return int(line.split()[1]) // 1024
        return 0

    def last_words(self):
        text = read(self.log).decode(errors="replace").strip().splitlines()
        return text[-1] if text else ""


# ---- Books ----


class Book:
    """A file that a client appends to: what it asks, before it does, and what it heard."""

    def __init__(self, path):
        self.fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def note(self, *entry):
        os.write(self.fd, (json.dumps(entry) + "\n").encode())


def entries(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.endswith("\n")]


class Mark:
    """A line that a job wrote: a start or an end of a task."""

    def __init__(self, line):
        words = line.split()
        self.what = words[0]
        self.member, self.attempt, self.task, self.pid = (int(x) for x in words[1:5])
        self.time = float(words[5])
        self.value = int(words[6])  # start: the job's id; end: its exit status


def marks(directory):
    """Those of all jobs by their names."""
    found = {}
    for name in os.listdir(directory):
        with open(os.path.join(directory, name), encoding="utf-8") as file:
            found[name] = [Mark(line) for line in file if line.endswith("\n")]
    return found


def job(marks_directory, name, seconds=0, status=0, **more):
    """A request for a job that notes when it starts and ends."""
    return {"name": name, "directory": "/", "output": "/dev/null", "duration": 600,
            "environment": {"PATH": "/usr/bin:/bin"},
            "command": ["sh", os.path.join(HERE, "job.sh"), os.path.join(marks_directory, name), str(seconds),
                        str(status)], **more}
