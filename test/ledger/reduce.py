"""Make a scene that breaks a law smaller: leave out events, and parts of jobs and queues, as long as the law is broken.

usage: reduce.py PLAYER KIND SEED LAW"""
import copy
import json
import sys

from run import Player, judge
from scenes import Scene


def is_broken(player, scene, law):
    return any(b[1] == law for b in judge(player, scene)[1])


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


def reduce(player, scene, law):
    """The smallest that is found."""
    is_broken(player, scene, law)
    for less in smaller(scene):
        try:
            if is_broken(player, less, law):
                return reduce(player, less, law)
        except (KeyError, ValueError):
            pass
    return scene


def main():
    program, kind, seed, law = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    with Player(program) as player:
        scene = reduce(player, Scene(kind, seed), law)
    for text in [json.dumps(scene.config)] + [json.dumps(c) for c in scene.others.values()] + scene.lines():
        print(text)


if __name__ == "__main__":
    main()
