"""Random scenes, played by the player of `berth sim`, whose decisions the ledger reads.

usage: run.py PLAYER [KIND...]; SCENES: how many of each kind, SCENE_SEED: the first seed, SCENE_KEEP: a folder for
the scenes that break a law."""
import collections
import json
import os
import signal
import subprocess
import sys
import tempfile

import words
from ledger import Ledger
from scenes import KINDS, Scene


SECONDS_MOST = 300  # for one scene, which takes milliseconds


def stop_if_endless(player, scene):
    """What to do where a scene does not end."""
    def stop(number, frame):
        player.process.kill()
        raise SystemExit("%s seed %d: the player does not end" % (scene.kind, scene.seed))
    signal.signal(signal.SIGALRM, stop)


def write(path, text):
    with open(path, "w") as f:
        f.write(text)


def save(scene, folder):
    """As files that `berth sim` plays."""
    os.makedirs(folder, exist_ok=True)
    for name, config in [("config.json", scene.config)] + list(scene.others.items()):
        write(os.path.join(folder, name), json.dumps(config))
    write(os.path.join(folder, "events.jsonl"), "".join(line + "\n" for line in scene.lines()))


class Shown(dict):
    """By time, what each job is promised; and what each one claims."""
    claimed = {}


class Player:
    """A process that plays scenes one by one."""

    def __init__(self, program):
        self.folder = tempfile.TemporaryDirectory()
        self.program = os.path.abspath(program)
        self.begin()

    def begin(self):
        self.process = subprocess.Popen([self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self):
        return self

    def __exit__(self, *why):
        self.process.communicate()
        self.folder.cleanup()

    def answers(self, scene):
        """What the player writes, line by line, which ends with one that says so."""
        for name, config in [("config.json", scene.config)] + list(scene.others.items()) if scene.others else []:
            write(os.path.join(self.folder.name, name), json.dumps(config))
        asked = {"folder": self.folder.name, "config": json.dumps(scene.config), "events": scene.lines()}
        self.process.stdin.write(json.dumps(asked).encode() + b"\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            answer = json.loads(line)
            yield answer
            if "over" in answer:
                return
        self.process.communicate()
        self.begin()
        raise ValueError("%s seed %d: the player has stopped" % (scene.kind, scene.seed))

    def play(self, scene):
        """The decisions; by time, what each job is promised; and whether looking at that changes nothing. Events that
        can't be, such as the end of a job that does not run, are left out of the scene."""
        answers = list(self.answers(scene))
        for i in reversed(answers[0]["left out"]):
            del scene.events[i]
        shown = Shown({a["at"]: a["promised"] for a in answers if "promised" in a})
        shown.claimed = {a["at"]: a["claimed"] for a in answers if "claimed" in a}
        return words.decisions(a for a in answers if "decision" in a), shown, answers[-1]["same"]


def judge(player, scene):
    """The decisions, and what breaks a law. A scene whose jobs go on for ever ends the run."""
    stop_if_endless(player, scene)
    signal.alarm(SECONDS_MOST)
    decisions, shown, same = player.play(scene)
    signal.alarm(0)
    broken = Ledger(scene, decisions, shown).check()
    return decisions, broken if same else [(0, "same", "", "a look changes decisions")] + broken


def main():
    kinds = sys.argv[2:] or KINDS
    first, scenes = int(os.environ.get("SCENE_SEED", "1")), int(os.environ.get("SCENES", "100"))
    counts, laws = collections.Counter(), collections.Counter()
    with Player(sys.argv[1]) as player:
        for kind in kinds:
            for seed in range(first, first + scenes):
                scene = Scene(kind, seed)
                decisions, broken = judge(player, scene)
                counts.update(d["decision"] for d in decisions)
                laws.update({b[1] for b in broken})
                for at, name, job, text in broken[:3]:
                    print("%s seed %d: at %s: law \"%s\": %s %s" % (kind, seed, at, name, job, text), flush=True)
                if broken and "SCENE_KEEP" in os.environ:
                    save(scene, os.path.join(os.environ["SCENE_KEEP"], "%s-%d" % (kind, seed)))
    print("%d scenes of each of %s: %s" % (scenes, ", ".join(kinds), dict(counts)))
    if laws:
        print("broken: %s" % dict(laws))
    sys.exit(1 if laws else 0)


if __name__ == "__main__":
    main()
