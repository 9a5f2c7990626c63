"""Random sessions of queues with weights, expected by a small model of Volcano's action `allocate`: one task after another,
of the queue that has least of what it deserves, and in that of the job that is first by `drf` and `priority`. A queue that
its plugin holds to what it deserves has no task beyond that. Only such cases are kept in which it does not matter who of
equals is first. Writes N of them as JSON.
"""
import json
import random
import sys
from fractions import Fraction
from itertools import product

from kube_write import *

N = int(sys.argv[1])
DIMENSIONS = ('cpu', 'memory', 'pods')
rng = random.Random(11)


def level(total, weight, most):
    """What each deserves of one resource: its weight times a level, up to what it asks for within its capability."""
    def at(x):
        return {n: min(most[n], weight[n] * x) for n in weight}

    ends = sorted({Fraction(0)} | {Fraction(most[n], weight[n]) for n in weight})
    for a, b in zip(ends, ends[1:]):
        low, high = sum(at(a).values()), sum(at(b).values())
        if low <= total < high:
            return at(a + (b - a) * (total - low) / (high - low))
    return at(ends[-1])


def part(has, of):
    return max(Fraction(has[d]) / of[d] if of[d] else Fraction(has[d] > 0) for d in DIMENSIONS)


def deserved(total, queues, jobs):
    asked = {n: {d: 0 for d in DIMENSIONS} for n in queues if any(x['queue'] == n for x in jobs.values())}
    for x in jobs.values():
        for d in DIMENSIONS:
            asked[x['queue']][d] += (x['runs'] + x['waits']) * x['asks'][d]
    by = {d: level(total[d], {n: queues[n]['weight'] for n in asked},
                   {n: min(asked[n][d], queues[n]['capability'].get(d, asked[n][d])) for n in asked}) for d in DIMENSIONS}
    return {n: {d: by[d][n] for d in DIMENSIONS} for n in asked}


def allocate(total, queues, jobs, held, by, last_queue, last_job):
    """How many tasks of each job run at the end; of equal queues, and of equal jobs, the last by name is first, or the first."""
    parts = deserved(total, queues, jobs)
    has = {n: {d: 0 for d in DIMENSIONS} for n in (*queues, *jobs)}
    free, runs, left = dict(total), {n: 0 for n in jobs}, {}

    def start(n, times):
        runs[n] += times
        for d in DIMENSIONS:
            amount = times * jobs[n]['asks'][d]
            free[d] -= amount
            has[n][d] += amount
            has[jobs[n]['queue']][d] += amount

    for n, x in jobs.items():
        start(n, x['runs'])
        if x['waits']:
            left[n] = x['waits']
    while left:
        queue = min(sorted({jobs[n]['queue'] for n in left}, reverse=last_queue), key=lambda q: part(has[q], parts[q]))
        n = min(sorted((n for n in left if jobs[n]['queue'] == queue), reverse=last_job), key=lambda n: [
            part(has[n], total) if name == 'drf' else -jobs[n]['priority'] for name in by])
        asks = jobs[n]['asks']
        fits = all(free[d] >= asks[d] for d in DIMENSIONS)
        if fits and (not held or all(not asks[d] or has[queue][d] + asks[d] <= parts[queue][d] for d in DIMENSIONS)):
            start(n, 1)
            left[n] -= 1
        else:
            left[n] = 0
        if left[n] == 0:
            del left[n]
    return runs


def draw():
    total = dict(cpu=1000 * rng.randint(3, 20), memory=G * rng.randint(3, 20), pods=1000)
    queues = {f'q{i}': dict(weight=rng.randint(1, 4), capability={} if rng.random() < .7 else cpus(rng.randint(1, 8)))
              for i in range(rng.randint(1, 4))}
    free, jobs = dict(total), {}
    for i in range(rng.randint(1, 6)):
        asks = dict(cpu=1000 * rng.randint(1, 3), memory=G * rng.randint(0, 3), pods=1)
        runs = min([rng.choice([0, 0, 1, 2])] + [free[d] // asks[d] for d in DIMENSIONS if asks[d]])
        free = {d: free[d] - runs * asks[d] for d in DIMENSIONS}
        jobs[f'j{i}'] = dict(queue=rng.choice(list(queues)), asks=asks, runs=runs, waits=rng.randint(0, 8),
                             priority=rng.choice([0, 0, 5]))
    return total, queues, jobs


def cpus(n):
    return dict(cpu=1000 * n)


def within(queues, jobs):
    return all(sum(x['runs'] * x['asks']['cpu'] for x in jobs.values() if x['queue'] == n) <=
               q['capability'].get('cpu', float('inf')) for n, q in queues.items())


def tasks_of(n, x):
    return [t(f'{n}-{i:02}', n, x['asks']['cpu'], 'Running' if i < x['runs'] else 'Pending', x['asks']['memory'] // G)
            for i in range(x['runs'] + x['waits'])]


while len(cases) < N:
    total, queues, jobs = draw()
    held, by = rng.random() < .6, rng.choice([['drf'], ['priority', 'drf'], ['drf', 'priority']])
    runs, *others = [allocate(total, queues, jobs, held, by, *last) for last in product((False, True), repeat=2)]
    if not within(queues, jobs) or any(x != runs for x in others):
        continue
    proportion = p('proportion', 'queueOrder', *(['allocatable'] if held else []))
    tiers = [[p(name, 'jobOrder')] for name in by] + [[proportion, PREDICATES]]
    s(f'weights{len(cases)}', [dict(name='n', allocatable=total)],
      [j(n, x['queue'], phase='Running' if x['runs'] else 'Inqueue', priority=x['priority']) for n, x in jobs.items()],
      sum((tasks_of(n, x) for n, x in jobs.items()), []), tiers if rng.random() < .5 else [sum(tiers, [])],
      [q(n, x['weight'], **({'capability': x['capability']} if x['capability'] else {})) for n, x in queues.items()],
      job_allocated={n: dict(milli_cpu=runs[n] * x['asks']['cpu'], memory=runs[n] * x['asks']['memory'],
                             scalars=dict(pods=runs[n])) for n, x in jobs.items()})
json.dump(dict(schema_version=1, cases=cases), sys.stdout)
