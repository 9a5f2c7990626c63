"""Random scenes, played by `berth sim`, whose decisions the ledger reads.

usage: run.py BERTH [KIND...]; SCENES: how many of each kind, SCENE_SEED: the first seed, SCENE_KEEP: a folder for
the scenes that break a law."""
import collections
import json
import os
import subprocess
import sys
import tempfile

import words
from ledger import Ledger
from scenes import KINDS, Scene


def save(scene, folder, lines):
    for name, config in [("config.json", scene.config)] + list(scene.others.items()):
        with open(os.path.join(folder, name), "w") as f:
            json.dump(config, f)
    with open(os.path.join(folder, "events.jsonl"), "w") as f:
        f.write("\n".join(lines) + "\n")


def play(berth, folder):
    command = [berth, "sim", "--config", "config.json", "--scenario", "events.jsonl", "--decisions", "-"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)


def play_what_is_valid(berth, scene, folder):
    """Leave out events that can't be, such as the end of a job that does not run, whose message names their line."""
    while True:
        save(scene, folder, scene.lines())
        done = play(berth, folder)
        if done.returncode == 0:
            return words.decisions(done.stdout)
        at = done.stderr.split("events.jsonl:")[-1].split(":")[0]
        event = scene.events[int(at) - 1] if at.isdigit() else {"submit": 0}
        if done.returncode != 1 or "submit" in event:
            raise ValueError("%s seed %d: %s" % (scene.kind, scene.seed, done.stderr))
        del scene.events[int(at) - 1]


def look(berth, scene, folder, decisions):
    """Play again, with expectations that are never met at each instant, so that what is promised is told."""
    times = sorted({d["at"] for d in decisions} | {e["at"] for e in scene.events})
    promised = {}
    lines, by_line = [], {}
    waiting = {}
    for t in times:
        lines += [json.dumps(e) for e in scene.events if e["at"] == t]
        for d in decisions:
            if d["at"] == t:
                waiting[d["job"]] = d["decision"] == "reserve"
        promised = [j for j in waiting if waiting[j]]
        if promised:
            lines.append(json.dumps({"at": t, "expect": {j: {"resources": "?"} for j in promised}}))
            by_line[len(lines)] = t
    save(scene, folder, lines)
    done = play(berth, folder)
    if words.decisions(done.stdout) != decisions:
        return {}, False
    return {by_line[n]: found for n, found in words.found(done.stderr).items()}, True


def judge(berth, kind, seed, counts):
    """What breaks a law in this scene."""
    scene = Scene(kind, seed)
    with tempfile.TemporaryDirectory() as folder:
        decisions = play_what_is_valid(berth, scene, folder)
        shown, same = look(berth, scene, folder, decisions)
    for d in decisions:
        counts[d["decision"]] += 1
    broken = Ledger(scene, decisions, shown).check()
    return scene, broken if same else [(0, "same", "", "expectations change decisions")] + broken


def main():
    berth, kinds = os.path.abspath(sys.argv[1]), sys.argv[2:] or KINDS
    first, scenes = int(os.environ.get("SCENE_SEED", "1")), int(os.environ.get("SCENES", "100"))
    counts, laws = collections.Counter(), collections.Counter()
    for kind in kinds:
        for seed in range(first, first + scenes):
            scene, broken = judge(berth, kind, seed, counts)
            for name in sorted({b[1] for b in broken}):
                laws[name] += 1
            for at, name, job, text in broken[:3]:
                print("%s seed %d: at %s: law \"%s\": %s %s" % (kind, seed, at, name, job, text), flush=True)
            if broken and "SCENE_KEEP" in os.environ:
                folder = os.path.join(os.environ["SCENE_KEEP"], "%s-%d" % (kind, seed))
                os.makedirs(folder, exist_ok=True)
                save(scene, folder, scene.lines())
    print("%d scenes of each of %s: %s" % (scenes, ", ".join(kinds), dict(counts)))
    if laws:
        print("broken: %s" % dict(laws))
    sys.exit(1 if laws else 0)


if __name__ == "__main__":
    main()
