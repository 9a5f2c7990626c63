"""Damages the store and the keeper's journal of a server that was killed, and starts it again.

It may refuse with a reason, or serve. It may not crash or hang, nor run a member twice at once, nor say that something runs
which does not or the other way round. Where a whole store is moved away or a copy is put back, new jobs must run.
"""
import glob
import os
import shutil
import signal
import sqlite3

from common import PATIENCE, Server, descendants, job, marks, now, send

PAGE = 4096
STORE, LOG, JOURNAL = "berth.db", "berth.db-wal", "keeper/keeper.journal"
RUNS = 1.2  # seconds that the longer jobs of a scene last
WRONG = (None, -1, 0, 1, 2**31, 2**62, -2**63, "", "x", "x" * 5000, "\u00e9\n{", b"", b"\0" * 8, b"\xff" * 40, 1e308)


class Scene:
    """A server with jobs of all kinds: ended, running, waiting, held; and what it had on disk a while ago."""

    def __init__(self, trial):
        self.trial = trial
        self.random = trial.random
        shutil.rmtree(trial.path("marks"), ignore_errors=True)
        os.makedirs(trial.path("marks"))
        self.server = Server(trial, 6, name=f"store{trial.round}")
        self.aged = trial.path(f"aged{trial.round}")
        self.jobs, self.requeued = 0, None
        self.moved = False  # a row may now be another member's: nobody could tell whose run it was

    def submit(self, seconds, status=0, **more):
        self.jobs += 1
        body = job(self.trial.path("marks"), f"j{self.jobs}", seconds, status, **more)
        code, reply = self.server.ask("POST", "/v1/jobs", body)
        return reply["id"] if code == 201 else None

    def is_over(self, i):
        rows = self.server.jobs(f"ids={i}")
        return bool(rows) and all(row["end"] for row in rows)

    def set_up(self):
        server = self.server
        server.start()
        ids = [self.submit(0, n % 2) for n in range(4)]
        self.submit(0, hold=True)
        self.trial.wait("the first jobs to end", lambda: all(self.is_over(i) for i in ids))
        self.set_aside()
        self.submit(RUNS, requeue=True)
        self.requeued = f"j{self.jobs}"
        array = self.submit(RUNS, array=3)
        self.submit(0, dependency=f"afterok:{array}")
        self.submit(0, array=2, begin="+1h")
        self.submit(0, tasks=6)
        self.submit(0, script="#!/bin/sh\nexit 3\n", command=None)
        self.trial.wait("jobs to run", lambda: sum(r["state"] == "running" for r in server.jobs("") or []) >= 3)

    def set_aside(self):
        """What is on disk now, as a copy that was made while nothing ran."""
        keeper = self.server.keeper()
        self.server.stop()
        self.trial.wait("the keeper to end", lambda: keeper is None or not self.server.keepers())
        shutil.copytree(self.server.directory, self.aged, ignore=lambda d, names: [n for n in names if n.endswith(".sock")
                                                                                 or n == "socket"])
        self.server.start()

    def bring_down(self, both):
        pid = self.server.keeper()
        self.server.kill()
        if both and pid:
            send(pid, signal.SIGKILL)
            self.trial.wait("the keeper to be gone", lambda: pid not in [p.pid for p in self.server.keepers()])

    def file(self, name):
        return os.path.join(self.server.directory, name)

    def pick(self, *names):
        """One of these that is there and has something in it."""
        there = [n for n in names if os.path.exists(self.file(n)) and os.path.getsize(self.file(n)) > 0]
        return self.file(self.random.choice(there)) if there else None

    def alive(self):
        """Names of jobs of which a task runs, whatever the server says: their files are an argument of job.sh."""
        found = set()
        for process in descendants():
            words = process.command() if process.state != "Z" and process.name == "sh" else []
            if len(words) > 2:
                found.add(os.path.basename(words[2].decode(errors="replace")))
        return found

    def tear_down(self):
        self.bring_down(True)
        for process in descendants():
            send(process.pid, signal.SIGKILL)
        self.trial.pause(0.1)
        shutil.rmtree(self.server.directory, ignore_errors=True)
        shutil.rmtree(self.aged, ignore_errors=True)


# ---- Damage ----


def change_bytes(scene, path, change):
    with open(path, "r+b") as file:
        data = bytearray(file.read())
        change(scene.random, data)
        file.seek(0)
        file.truncate()
        file.write(data)


def flip(random, data):
    for _ in range(random.choice((1, 3, 20))):
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)


def overwrite(random, data):
    size = min(PAGE, len(data))
    at = random.randrange((len(data) + size - 1) // size) * size
    kind = random.randrange(3)
    other = random.randrange((len(data) + size - 1) // size) * size
    new = bytes(size) if kind == 0 else random.randbytes(size) if kind == 1 else data[other:other + size]
    data[at:at + size] = new[:len(data) - at]


def cut(random, data):
    del data[random.randrange(len(data)):]


def bits_of(names, change):
    def damage(scene):
        path = scene.pick(*names)
        if path:
            change_bytes(scene, path, change)
    return damage


def value(scene):
    """A value in a row that is not what it should be, or a row too few."""
    store = sqlite3.connect(scene.file(STORE))
    try:
        tables = [t for (t,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
                  if store.execute(f"SELECT count(*) FROM {t}").fetchone()[0]]
        table = scene.random.choice(tables)
        columns = store.execute(f"PRAGMA table_info({table})").fetchall()
        rows = store.execute(f"SELECT * FROM {table}").fetchall()
        row, column = scene.random.choice(rows), scene.random.choice(columns)
        keys = [c for c in columns if c[5]]
        scene.moved = bool(column[5])
        where = " AND ".join(f"{c[1]} = ?" for c in keys)
        at = [row[c[0]] for c in keys]
        if scene.random.random() < 0.1:
            store.execute(f"DELETE FROM {table} WHERE {where}", at)
        else:
            store.execute(f"UPDATE OR REPLACE {table} SET {column[1]} = ? WHERE {where}",
                          [wrong(scene.random, row[column[0]], [r[column[0]] for r in rows]), *at])
        store.commit()
    except sqlite3.Error:  # the table does not take it
        pass
    finally:
        store.close()


def wrong(random, was, others):
    """A mutation of the value, another row's, or one that is wrong for all."""
    kind = random.random()
    if kind < 0.4 and isinstance(was, (bytes, str)) and was:
        data = bytearray(was.encode() if isinstance(was, str) else was)
        random.choice((flip, cut, overwrite))(random, data)
        return bytes(data) if isinstance(was, bytes) else data.decode(errors="replace")
    if kind < 0.5 and isinstance(was, int):
        return max(min(was + random.choice((-1, 1, 1000, -1000)), 2**63 - 1), -2**63)
    return random.choice(others) if kind < 0.6 else random.choice(WRONG)


def unwritable(scene):
    """A page that is read when a job has ended, and not before: the server finds it when it serves, and stores no end."""
    path = scene.file(STORE)
    store = sqlite3.connect(path)
    store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    page, = store.execute("SELECT rootpage FROM sqlite_master WHERE name = 'over_user'").fetchone()
    store.close()
    with open(path, "r+b") as file:
        file.seek((page - 1) * PAGE)
        file.write(bytes(PAGE))


def remove_store(scene):
    for path in glob.glob(scene.file(STORE) + "*"):
        os.remove(path)


def put_back(scene):
    remove_store(scene)
    for path in glob.glob(os.path.join(scene.aged, STORE) + "*"):
        shutil.copy(path, scene.server.directory)


def old_journal(scene):
    os.makedirs(scene.file("keeper"), exist_ok=True)
    old = os.path.join(scene.aged, JOURNAL)
    if os.path.exists(old):
        shutil.copy(old, scene.file(JOURNAL))
    else:
        remove_journal(scene)


def remove_journal(scene):
    if os.path.exists(scene.file(JOURNAL)):
        os.remove(scene.file(JOURNAL))


class Damage:
    def __init__(self, name, do, both=None, quiet=False, again=True, works=False, chance=False):
        """`both`: the keeper is killed too (None: by chance); `quiet`: when nothing runs; `again`: what had run may run again,
        as the store may have lost what it knew; `works`: the server must serve, and new jobs must run;
        `chance`: what is left of the store depends on where its pages happened to be, so a brief run leaves it out."""
        self.name, self.do, self.both, self.quiet = name, do, both, quiet
        self.again, self.works, self.chance = again, works, chance


DAMAGES = [
    Damage("bits flipped in the store", bits_of((STORE, LOG), flip), chance=True),
    Damage("pages of the store overwritten", bits_of((STORE, LOG), overwrite), chance=True),
    Damage("the store cut off", bits_of((STORE, LOG), cut), chance=True),
    Damage("a page of the store that only ends of jobs need overwritten", unwritable),
    Damage("values in the store wrong", value, chance=True),
    Damage("bits flipped in the keeper's journal", bits_of((JOURNAL,), flip), True, again=False),
    Damage("the keeper's journal overwritten", bits_of((JOURNAL,), overwrite), True, again=False),
    Damage("the keeper's journal cut off", bits_of((JOURNAL,), cut), True, again=False),
    Damage("the keeper's journal of another age", old_journal, True, again=False, works=True),
    Damage("the keeper's journal removed", remove_journal, True, again=False, works=True),
    Damage("the store moved away", remove_store, quiet=True, works=True),
    Damage("the store moved away while jobs ran", remove_store, works=True),
    Damage("a copy of the store put back", put_back, quiet=True, works=True),
    Damage("a copy of the store put back while jobs ran", put_back, works=True),
]


# ---- What comes of it ----


def check_refusal(scene, damage):
    """It ended: with status 1 and a reason."""
    status, words = scene.server.ended(), scene.server.last_words()
    scene.trial.count("servers that refused")
    if status != 1 or not words:
        scene.trial.lost(damage.name, f"berthd ended with status {status}: {words}")
    elif damage.works:
        scene.trial.lost(damage.name, f"berthd refuses: {words}")


def check_told(scene, damage):
    """Whose end is told has no process, for longer than the end of one may take to be heard."""
    known = set()
    for _ in range(8):
        alive = scene.alive()
        rows = scene.server.jobs()
        if rows is None:
            return
        live = {row["name"] for row in rows if not row["end"]}
        wrong = {row["name"] for row in rows if row["end"]} - live
        wrong &= alive & scene.alive()
        if wrong & known:
            scene.trial.lost(damage.name, f"jobs {sorted(wrong & known)} are said to have ended, and run")
            return
        known = wrong
        scene.trial.pause(0.1)


def use(scene):
    """All kinds of requests, each of which is answered."""
    server, answers = scene.server, []
    targets = ["/v1/jobs", "/v1/jobs?history=1", "/v1/events?since=0", "/v1/queues", "/v1/resources", "/v1/server"]
    for i in range(1, 12):
        targets += [f"/v1/jobs/{i}?environment=1", f"/v1/jobs/{i}/explain", f"/v1/jobs/{i}/events"]
    for target in targets:
        answers.append((target, server.ask("GET", target, timeout=20)[0]))
    answers.append(("release", server.ask("PATCH", "/v1/jobs/5", {"hold": False}, timeout=20)[0]))
    answers.append(("cancel", server.ask("DELETE", "/v1/jobs/9", timeout=20)[0]))
    return [target for target, status in answers if status is None]


def check_service(scene, damage):
    """It serves: so it answers, what it says runs does, and new jobs run."""
    trial, server = scene.trial, scene.server
    trial.count("servers that served")
    first = scene.jobs + 1
    probes = [scene.submit(0) for _ in range(3)]
    check_told(scene, damage)
    unanswered = use(scene)
    if server.ended() is not None:
        if server.ended() != 1:
            trial.lost(damage.name, f"berthd died with status {server.ended()}: {server.last_words()}")
        return
    if unanswered:
        trial.lost(damage.name, f"no answer to {unanswered[:3]}")
        return
    end = now() + PATIENCE
    rows, idle = [], 0
    while now() < end and server.ended() is None and idle < 3:
        rows = server.jobs() or []
        busy = any(r["state"] == "running" for r in rows)
        waits = damage.works and any(r["id"] in probes and not r["end"] for r in rows)
        idle = 0 if busy or waits else idle + 1
        trial.pause(0.1)
    ran = {r["id"] for r in rows if r["state"] == "running"}
    if idle < 3 and ran and not scene.alive():
        trial.lost(damage.name, f"jobs {sorted(ran)} are said to run, and don't")
    if damage.works:
        check_probes(scene, damage, probes, first)
    scene.trial.count("jobs submitted afterwards", sum(i is not None for i in probes))


def check_probes(scene, damage, probes, first):
    notes = marks(scene.trial.path("marks"))
    for i, name in zip(probes, (f"j{first + n}" for n in range(len(probes)))):
        ends = [m for m in notes.get(name, []) if m.what == "end"]
        if i is None or len(ends) != 1:
            scene.trial.lost(damage.name, f"new job {i} ({name}) ended {len(ends)} times")


def check_runs(scene, damage):
    """No task runs twice at once, nor again if its store knew that it had run."""
    for name, notes in marks(scene.trial.path("marks")).items():
        runs = {}
        for mark in notes:
            runs.setdefault((mark.member, mark.task), {}).setdefault(mark.pid, {})[mark.what] = mark.time
        for of_task in runs.values():
            times = sorted((r["start"], r.get("end", r["start"])) for r in of_task.values() if "start" in r)
            scene.trial.count("starts of tasks", len(times))
            if not scene.moved and any(later[0] < before[1] - 0.02 for before, later in zip(times, times[1:])):
                scene.trial.lost(damage.name, f"{name} runs twice at once: {times}")
            if len(times) > 1 and not damage.again and name != scene.requeued:
                scene.trial.lost(damage.name, f"{name} ran {len(times)} times")


def attack(trial):
    order, all_of_them = [], [d for d in DAMAGES if not trial.most_rounds or not d.chance]
    for _ in trial.rounds():
        if not order:
            order = trial.random.sample(all_of_them, len(all_of_them))
        damage = order.pop()
        before = len(trial.losses)
        scene = Scene(trial)
        scene.set_up()
        if damage.quiet:
            trial.wait("the jobs to end", lambda: not scene.alive() and not any(
                r["state"] == "running" for r in scene.server.jobs("")))
        scene.bring_down(trial.random.random() < 0.5 if damage.both is None else damage.both)
        trial.count(damage.name)
        damage.do(scene)
        damaged = trial.path(f"damaged{trial.round}")
        shutil.copytree(scene.server.directory, damaged, ignore=lambda d, names: [n for n in names if "sock" in n])
        if scene.server.start():
            check_service(scene, damage)
        else:
            check_refusal(scene, damage)
        check_runs(scene, damage)
        scene.tear_down()
        if len(trial.losses) == before:
            shutil.rmtree(damaged)
            os.remove(scene.server.log)
