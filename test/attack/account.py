"""What must be true of jobs after an attack: the clients' books and the jobs' own notes against the server's list."""
import os

from common import entries, marks

SLACK = 0.05  # seconds: /proc/uptime has hundredths
STARTS_LATE = 30.0  # seconds that a task which was on its way may still start after it was cancelled
LOST = "lost: "
ACKNOWLEDGED = {"cancel": "cancels acknowledged", "cancel many": "cancels acknowledged", "hold": "holds acknowledged",
                "release": "releases acknowledged", "requeue": "requeues acknowledged",
                "priority": "priorities acknowledged"}


class Asked:
    """A job as it was asked for, and what was asked of it later."""

    def __init__(self, request):
        self.name, self.request = request["name"], request
        self.status = None  # of the reply; None: there was none
        self.id = None
        self.changes = []  # (what, when it was acknowledged, status, value)


class Account:
    def __init__(self, trial, rows):
        self.trial = trial
        self.marks = marks(trial.path("marks"))
        self.rows = {}
        for row in rows:
            self.rows.setdefault(row["name"], []).append(row)
        self.jobs, self.by_id = {}, {}
        for name in sorted(os.listdir(trial.path("books"))):
            if name.startswith("client"):
                self.read_book(trial.path("books", name))
        self.killed = set()  # tasks that this attack has killed
        if os.path.exists(trial.path("killed")):
            with open(trial.path("killed"), encoding="utf-8") as file:
                self.killed = {int(line) for line in file}

    # ---- Books ----

    def read_book(self, path):
        asked = {}
        for what, number, time, *rest in entries(path):
            if what == "ask":
                asked[number] = rest
                if rest[0] == "submit":
                    self.jobs.update((r["name"], Asked(r)) for r in rest[1])
                else:  # until it is known to be refused or done
                    for i in rest[1]:
                        if i in self.by_id:
                            self.by_id[i].changes.append([number, rest[0], None, None, rest[2:]])
            else:
                self.read_reply(number, time, asked[number], *rest)

    def read_reply(self, number, time, asked, status, reply):
        if asked[0] == "submit":
            ids = reply.get("ids") or [reply["id"]] if status == 201 else [None] * len(asked[1])
            for request, i in zip(asked[1], ids):
                job = self.jobs[request["name"]]
                job.status, job.id = status, i
                if i is not None:
                    self.trial.count("jobs acknowledged")
                    if i in self.by_id:
                        self.trial.lost("jobs acknowledged", f"id {i} was given twice")
                    self.by_id[i] = job
            if status is None:
                self.trial.count("jobs in doubt", len(asked[1]))
            return
        refused = [x["id"] for x in reply.get("refused", [])] if isinstance(reply, dict) else []
        for i in asked[1]:
            for change in self.by_id[i].changes if i in self.by_id else []:
                if change[0] == number:
                    change[2], change[3] = time, 409 if i in refused else status

    # ---- Checks ----

    def check(self, server):
        for job in self.jobs.values():
            if job.id is not None:
                self.check_is_there(job)
        for name, rows in self.rows.items():
            self.check_is_known(name, rows)
        for name, notes in self.marks.items():
            self.check_starts(name, notes)
        for name, rows in self.rows.items():
            if name in self.jobs:
                for row in rows:
                    self.check_member(self.jobs[name], row, self.of_member(name, row))
                self.check_changes(self.jobs[name], rows)
        self.check_events(server)

    def of_member(self, name, row):
        return [m for m in self.marks.get(name, []) if m.member == (row["member"] or 0)]

    def check_is_there(self, job):
        rows = self.rows.get(job.name, [])
        if not rows:
            self.trial.lost("jobs acknowledged", f"job {job.id} ({job.name}) is not there")
        elif {row["id"] for row in rows} != {job.id} or len(rows) != (job.request["array"] or 1):
            self.trial.lost("jobs acknowledged", f"job {job.id} ({job.name}) is there as {[r['id'] for r in rows]}")

    def check_is_known(self, name, rows):
        job = self.jobs.get(name)
        self.trial.count("members in the list", len(rows))
        if job is None:
            self.trial.lost("members in the list", f"{name}: nobody asked for it")
        elif job.status not in (None, 201):
            self.trial.lost("members in the list", f"{name}: it was refused with {job.status}")
        elif len({(r["id"], r["member"]) for r in rows}) < len(rows) or len({r["id"] for r in rows}) > 1:
            self.trial.lost("members in the list", f"{name}: it is there more than once")

    def check_starts(self, name, notes):
        starts = [m for m in notes if m.what == "start"]
        self.trial.count("starts of tasks", len(starts))
        once = {(m.member, m.attempt, m.task) for m in starts}
        if len(once) < len(starts):
            self.trial.lost("starts of tasks", f"{name}: a task ran twice in one attempt")
        ids = {row["id"] for row in self.rows.get(name, [])}
        if {m.value for m in starts} - ids:
            self.trial.lost("starts of tasks", f"{name} ran, and is not in the list")

    def may_come_again(self, job):
        return job.request["requeue"] or any(c[1] == "requeue" for c in job.changes)

    def check_member(self, job, row, notes):
        starts = [m for m in notes if m.what == "start"]
        ends = [m for m in notes if m.what == "end" and m.attempt == row["attempts"]]
        attempts = {m.attempt for m in starts}
        self.trial.count("ends of members" if row["end"] else "members that wait")
        what = f"{job.name} = {row['id']}.{row['member']} ({row['state']}, {row['reason']}, exit {row['exit']})"
        if attempts and max(attempts) > row["attempts"]:
            self.lost_end(what, f"it started {max(attempts)} times, and the list says {row['attempts']}")
        if not self.may_come_again(job) and len(attempts) > 1:
            self.lost_end(what, "it ran again and nobody asked for that")
        ended_well = len(ends) == job.request["tasks"]
        state = row["state"]
        if state == "done" and (job.request["status"] != 0 or not ended_well):
            self.lost_end(what, f"its tasks noted {[m.value for m in ends]}")
        elif state == "failed":
            self.check_failed(job, row, starts, ended_well, what)
        elif state == "cancelled" and not any(c[1].startswith("cancel") for c in job.changes):
            self.lost_end(what, "nobody cancelled it")
        elif state in ("running", "timeout"):
            self.lost_end(what, "it should have ended by itself")
        elif state == "held" and not (job.request["hold"] or any(c[1] == "hold" for c in job.changes)):
            self.lost_end(what, "nobody held it")
        if job.request["dependency"] and starts:
            self.check_dependency(job, starts, what)

    def never_met(self, job, row):
        """What it waited for has ended in another way than it was to."""
        return job.request["dependency"] and row["state"] == "failed" and (row["reason"] or "").startswith("dependency")

    def lost_end(self, what, why):
        self.trial.lost("ends of members", f"{what}: {why}")

    def check_failed(self, job, row, starts, ended_well, what):
        reason = row["reason"] or ""
        if reason.startswith(LOST):
            self.trial.count("members that were lost with their keeper")
            killed = any(self.trial.rows.get(k) for k in ("kill -9 of berth-keeper", "kill -9 of both"))
            if not killed:
                self.lost_end(what, "no keeper was killed")
        elif self.never_met(job, row):
            if starts:
                self.lost_end(what, "it ran")
        elif row["signal"] == 9 and not reason and self.was_killed(starts):
            self.trial.count("tasks that were the command when they were killed")
        elif row["exit"] is None or reason:
            self.lost_end(what, "there was no reason for that")
        elif row["exit"] != job.request["status"] or row["exit"] == 0 or not ended_well:
            self.lost_end(what, f"it was to end with {job.request['status']}")

    def was_killed(self, starts):
        """By this attack: by the pids that were noted, if there was time for that."""
        return self.killed & {m.pid for m in starts} if starts else self.killed

    def check_dependency(self, job, starts, what):
        """The job it waits for has ended before, in the way that was asked for."""
        how, _, which = job.request["dependency"].partition(":")
        first = self.by_id.get(int(which))
        states = {row["state"] for row in self.rows.get(first.name, [])} if first else set()
        wrong = how == "afterok" and states != {"done"} or how == "afternotok" and states == {"done"}
        ends = [m.time for m in self.marks.get(first.name, []) if m.what == "end"] if first else []
        self.trial.count("starts after a dependency")
        if wrong or (ends and min(m.time for m in starts) < max(ends) - SLACK):
            self.trial.lost("starts after a dependency", f"{what}: {how} of {first.name}, which is {states}")

    def check_changes(self, job, rows):
        for change in job.changes:
            if change[3] == 200:
                self.trial.count(ACKNOWLEDGED[change[1]])
        if job.request["hold"] and not any(c[1] == "release" for c in job.changes):
            self.check_held(job, rows, 0, "jobs held from the first")
        last = [c for c in job.changes if c[1] in ("hold", "release")][-1:]
        if last and last[0][3] == 200 and len(rows) == 1:
            if last[0][1] == "hold":
                self.check_held(job, rows, last[0][2], "holds acknowledged")
            elif rows[0]["state"] == "held":
                self.trial.lost("releases acknowledged", f"{job.name}, job {job.id}, is held")
        for change in job.changes:
            if change[1].startswith("cancel") and change[3] == 200:
                self.check_cancelled(job, rows, change[2])
        last = [c for c in job.changes if c[1] == "priority"][-1:]
        if last and last[0][3] == 200 and {r["priority"] for r in rows} != {last[0][4][0]}:
            self.trial.lost(ACKNOWLEDGED["priority"], f"{job.name}: {rows[0]['priority']}, not {last[0][4][0]}")

    def check_held(self, job, rows, since, what):
        if since == 0:
            self.trial.count(what)
        late = [m for m in self.marks.get(job.name, []) if m.what == "start" and m.time > since + SLACK]
        gone = {r["state"] for r in rows if not self.never_met(job, r)} - {"held", "cancelled"}
        if late or gone:
            self.trial.lost(what, f"{job.name}, job {job.id}, is {rows[0]['state']}, {len(late)} starts")

    def check_cancelled(self, job, rows, since):
        """Who has not ended before is cancelled, and starts no more."""
        for row in rows:
            notes = self.of_member(job.name, row)
            late = [m for m in notes if m.what == "start" and m.time > since + STARTS_LATE]
            ends = [m for m in notes if m.what == "end" and m.time < since + SLACK]
            over = ends and row["state"] == "done" or row["state"] == "failed" and (ends or row["reason"])
            if late or not (row["state"] == "cancelled" or over):
                self.trial.lost("cancels acknowledged", f"{job.name}, job {row['id']}.{row['member']}, is {row['state']}, "
                                f"{len(late)} starts")

    # ---- Events ----

    def check_events(self, server):
        """Those that a client was told are still there, and no number was used for two."""
        told, before = {}, 0
        for number, text in entries(self.trial.path("books", "events")):
            if number <= before:
                self.trial.lost("events told", f"number {number} came after {before}")
            told[number], before = text, number
        status, text = server.ask("GET", "/v1/events?since=0")
        there = {}
        for line in text.splitlines() if status == 200 else []:
            if line.startswith("data: "):
                there[int(line.partition(":")[2].partition(":")[2].partition(",")[0])] = line[6:]
        self.trial.count("events told", len(told))
        for number, text in told.items():
            if there.get(number) != text:
                self.trial.lost("events told", f"{number} was {text}, and is {there.get(number)}")
                break
