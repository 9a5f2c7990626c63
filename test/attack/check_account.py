#!/usr/bin/env python3
"""Are the laws of account.py silent about what is right, and do they find each thing that is wrong?"""
import copy
import json
import os
import sys
import tempfile

import account
import common

REQUEST = {"status": 0, "array": None, "tasks": 1, "hold": False, "requeue": False, "priority": 0, "dependency": None}
ROW = {"member": None, "state": "done", "reason": None, "exit": 0, "signal": None, "attempts": 1, "priority": 0, "start": 1,
       "end": 2}


class Fake:
    """A trial without a server: a plain job, one that fails, one that is cancelled, held, an array, and what waits for these."""

    def __init__(self):
        self.rows, self.book, self.notes, self.events, self.n = [], [], {}, [[1, "one"], [2, "two"]], 0
        self.job("plain", 1)
        self.job("fails", 2, {"status": 7}, {"state": "failed", "exit": 7})
        self.job("after", 3, {"dependency": "afterok:1"}, start=20)
        self.job("never", 4, {"dependency": "afterok:2"}, {"state": "failed", "exit": None, "reason": "dependency 2: never met",
                                                          "attempts": 0, "end": 2}, start=None)
        self.job("held", 5, {"hold": True}, {"state": "held", "attempts": 0, "end": None}, start=None)
        self.job("cancelled", 6, {}, {"state": "cancelled", "exit": None, "reason": "cancelled"}, end=False)
        self.change("cancel", 6, 11)
        self.job("holds", 7, {}, {"state": "held", "attempts": 0, "end": None}, start=None)
        self.change("hold", 7, 5)
        self.job("released", 8, {"hold": True}, start=30)
        self.change("release", 8, 29)
        self.job("lifted", 9, {}, {"priority": 3})
        self.change("priority", 9, 5, 3)
        self.ask("refused", None, {}, 400)

    def ask(self, name, i, request, status=201):
        self.n += 1
        self.book += [["ask", self.n, 0, "submit", [{**REQUEST, "name": name, **request}]],
                      ["told", self.n, 1, status, {"id": i} if i else {}]]

    def job(self, name, i, request=(), row=(), start=10, end=True):
        request, row = dict(request), {**ROW, "name": name, "id": i, **dict(row)}
        self.ask(name, i, request)
        self.rows.append({**row, "dependency": request.get("dependency")})
        if start is not None:
            self.notes[name] = [f"start 0 1 0 99 {start} {i}"]
            if end:
                self.notes[name].append(f"end 0 1 0 99 {start + 1} {request.get('status', 0)}")

    def change(self, what, i, time, *value):
        self.n += 1
        self.book += [["ask", self.n, time - 1, what, [i], *value], ["told", self.n, time, 200, {}]]

    def row(self, name):
        return next(r for r in self.rows if r["name"] == name)


class Events:
    """What of a server is asked."""

    def __init__(self, events):
        self.events = events

    def ask(self, *_):
        return 200, "".join(f"data: {event_text(n, text)}\n" for n, text in self.events)


def event_text(number, text):
    return json.dumps({"number": number, "what": text})


def losses(scene, directory, told):
    trial = common.Trial("account", "", directory, 1, rounds=1)
    for part in ("books", "marks"):
        os.makedirs(trial.path(part), exist_ok=True)
        for name in os.listdir(trial.path(part)):
            os.remove(trial.path(part, name))
    for name, lines in (("client0", scene.book), ("events", told)):
        book = common.Book(trial.path("books", name))
        for line in lines:
            book.note(*line)
    for name, lines in scene.notes.items():
        with open(trial.path("marks", name), "w", encoding="utf-8") as file:
            file.write("".join(line + "\n" for line in lines))
    account.Account(trial, copy.deepcopy(scene.rows)).check(Events(scene.events))
    return trial.losses


def wrong():
    """Each thing that may go wrong: in words, which row of the table shows it, and how the scene gets there."""
    def field(name, key, value):
        return lambda s: s.row(name).update({key: value})

    def starts(name, *lines):
        return lambda s: s.notes.setdefault(name, []).extend(lines)

    return (
        ("an acknowledged job is gone", "jobs acknowledged", lambda s: s.rows.remove(s.row("plain"))),
        ("it is there under another id", "jobs acknowledged", field("plain", "id", 77)),
        ("an id is given twice", "jobs acknowledged", lambda s: s.ask("again", 1, {})),
        ("a job is there twice", "members in the list", lambda s: s.rows.append(dict(s.row("plain")))),
        ("a job that nobody asked for", "members in the list", field("plain", "name", "nobody's")),
        ("a job that was refused", "members in the list", lambda s: s.rows.append({**s.row("plain"), "id": 99, "name": "refused"})),
        ("a task runs twice in an attempt", "starts of tasks", starts("plain", "start 0 1 0 98 12 1")),
        ("something unknown runs", "starts of tasks", starts("unknown", "start 0 1 0 98 12 55")),
        ("a job comes again unasked", "ends of members", starts("plain", "start 0 2 0 98 12 1")),
        ("done that did not end", "ends of members", lambda s: s.notes["plain"].pop()),
        ("done that failed", "ends of members", field("fails", "state", "done")),
        ("another exit status", "ends of members", field("fails", "exit", 8)),
        ("failed for no reason", "ends of members", field("plain", "state", "failed")),
        ("killed by nobody", "ends of members", lambda s: s.row("plain").update(state="failed", exit=None, signal=9)),
        ("lost though no keeper was killed", "ends of members",
         lambda s: s.row("plain").update(state="failed", exit=None, reason="lost: its end was not observed")),
        ("cancelled by nobody", "ends of members", field("plain", "state", "cancelled")),
        ("held by nobody", "ends of members", field("plain", "state", "held")),
        ("it runs for ever", "ends of members", field("plain", "state", "running")),
        ("before what it waits for", "starts after a dependency", lambda s: s.notes.update(
            after=["start 0 1 0 99 5 3", "end 0 1 0 99 6 0"])),
        ("after what failed", "starts after a dependency", lambda s: s.row("plain").update(
            state="failed", exit=None, reason="lost: x")),
        ("held from the first, and ran", "jobs held from the first", starts("held", "start 0 1 0 99 9 5")),
        ("held, and ran", "holds acknowledged", starts("holds", "start 0 1 0 99 9 7")),
        ("released, and held", "releases acknowledged", field("released", "state", "held")),
        ("cancelled, and done", "cancels acknowledged", field("cancelled", "state", "done")),
        ("cancelled, and started late", "cancels acknowledged", starts("cancelled", "start 0 1 1 99 99 6")),
        ("another priority", "priorities acknowledged", field("lifted", "priority", 0)),
        ("an event is gone", "events told", lambda s: s.events.pop()),
        ("an event says something else", "events told", lambda s: s.events.__setitem__(0, [1, "other"])),
    )


def main():
    failures = 0
    told = [[n, event_text(n, text)] for n, text in Fake().events]
    with tempfile.TemporaryDirectory() as directory:
        found = losses(Fake(), directory, told)
        if found:
            failures += 1
            print(f"FAIL: what is right is lost: {found}")
        for what, row, spoil in wrong():
            scene = Fake()
            spoil(scene)
            found = losses(scene, directory, told)
            if not any(loss.startswith(row + ": ") for loss in found):
                failures += 1
                print(f"FAIL: {what}: no loss of {row}, but {found}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
