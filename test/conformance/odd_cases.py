"""Cases from a file with values that are lost, or that others took the places of: odd_cases.py FILE N."""
import copy
import json
import random
import sys

rng = random.Random(5)
ODD = [None, True, 0, -1, 1e308, -1e18, 9.3e18, 2 ** 62, 2 ** 31, 1.5, '', 'x', 'inf', '/', 'a/b/c', [], {}, [None], [[]],
       [{}], {'': None}, ['x'], '9' * 400, {'a': {'b': []}}]


def paths(value, path=()):
    for key, below in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield path + (key,)
        yield from paths(below, path + (key,))


def odd(case):
    case = copy.deepcopy(case)
    for _ in range(rng.choice([1, 1, 2, 5])):
        path = rng.choice([p for p in paths(case) if p != ('kind',)])
        at = case
        for key in path[:-1]:
            at = at[key]
        if rng.random() < .4:
            del at[path[-1]]
        else:
            at[path[-1]] = copy.deepcopy(rng.choice(ODD))
    return case


file = json.load(open(sys.argv[1]))
json.dump(dict(file, cases=[odd(c) for c in rng.sample(file['cases'], min(len(file['cases']), int(sys.argv[2])))]),
          sys.stdout)
