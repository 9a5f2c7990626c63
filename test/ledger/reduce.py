"""Make a scene that breaks a law smaller: leave out events, and parts of jobs and queues, as long as the law is broken.

usage: reduce.py BERTH KIND SEED LAW"""
import copy
import json
import os
import sys
import tempfile

import run
import words
from ledger import Ledger
from scenes import Scene


def is_broken(berth, scene, law):
    with tempfile.TemporaryDirectory() as folder:
        run.save(scene, folder, scene.lines())
        done = run.play(berth, folder)
        if done.returncode != 0:
            return False
        decisions = words.decisions(done.stdout)
        shown, same = run.look(berth, scene, folder, decisions)
        return any(b[1] == law for b in Ledger(scene, decisions, shown).check())


def smaller(scene):
    """Each way to leave something out, the last event first."""
    for i in reversed(range(len(scene.events))):
        less = copy.deepcopy(scene)
        del less.events[i]
        yield less
    for i, event in enumerate(scene.events):
        for key in set(event.get("submit", {})) - {"id", "duration", "user", "queue", "nodes"}:
            less = copy.deepcopy(scene)
            del less.events[i]["submit"][key]
            less.events[i]["submit"].setdefault("nodes", 1)
            yield less
    for name in scene.config["queues"]:
        for key in scene.config["queues"][name]:
            less = copy.deepcopy(scene)
            del less.config["queues"][name][key]
            yield less
        less = copy.deepcopy(scene)
        del less.config["queues"][name]
        yield less


def main():
    berth, kind, seed, law = os.path.abspath(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]
    scene = Scene(kind, seed)
    with tempfile.TemporaryDirectory() as folder:
        run.play_what_is_valid(berth, scene, folder)
    found = True
    while found:
        found = False
        for less in smaller(scene):
            try:
                if is_broken(berth, less, law):
                    scene, found = less, True
                    break
            except KeyError:
                pass
    for text in [json.dumps(scene.config)] + [json.dumps(c) for c in scene.others.values()] + scene.lines():
        print(text)


if __name__ == "__main__":
    main()
