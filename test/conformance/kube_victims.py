"""Random cases of kube-batch's kinds in which somebody ends for others, with what is expected by a small model of the rule:
what a gang needs stays, what is not above its priority stays, what a queue deserves stays; those that a gang can spare
go first, then the lowest priority; a gang has either all stopped that its min needs or nobody. Writes N of each kind as JSON.
"""
import json
import random
import sys

N = int(sys.argv[1])  # cases of each kind

rng = random.Random(7)


def plugin(name, *on):
    return dict(name=name, enabled={function: True for function in on})


def tiers(kind):
    first = [plugin('priority', 'jobOrder', 'preemptable'), plugin('gang', 'jobReady', 'jobPipelined', 'jobStarving', kind),
             plugin('conformance', kind)]
    second = [plugin('capacity', kind, 'preemptive', 'queueOrder')] if kind == 'reclaimable' else []
    return [first, second] if rng.random() < .5 else [first + second]


def task(job, i, queue=None):
    running = dict(status='Running', node='n')
    return dict(name=f'{job}-{i}', job=job, request=dict(cpu=1000), preemptable=True,
                **(running if queue is None else dict(status='Pending', node=None)))


def job(name, queue, least, priority, phase='Running'):
    return dict(name=name, queue=queue, min_available=least, phase=phase, priority=priority)


def case(name, kind, action, queues, jobs, tasks, idle, evicts):
    running = sum(t['status'] == 'Running' for t in tasks)
    return dict(id='random.' + name, name=name, system='volcano', kind='session', queues=queues, jobs=jobs, tasks=tasks,
                config=dict(actions=[action], tiers=tiers(kind)),
                nodes=[dict(name='n', allocatable=dict(cpu=1000 * (running + idle), pods=1000))],
                expect=dict(evicts=evicts, evict_count=len(evicts)))


def victims(owners, wanted, needs, lower):
    """The tasks of (job, number, min, priority) that go, by the order above; none if there are too few."""
    free = []
    for name, n, least, priority in owners:
        if not lower(name, priority):
            continue
        spare = n - least if least > 0 else n
        free += [(least == 0, priority, name, n - 1 - i) for i in range(spare)]
    free.sort(key=lambda v: v[:2])
    return [f'{name}-{i}' for _, _, name, i in free[:wanted]] if needs <= len(free) else []


def owners_of(n, queues):
    priorities = rng.sample(range(1, 20), n)
    return [(f'v{i}', rng.randint(1, 5), p, queues[i % len(queues)]) for i, p in enumerate(priorities)]


def preempt(i):
    owners = [(name, n, rng.randint(0, n), p) for name, n, p, _ in owners_of(rng.randint(1, 4), ['q'])]
    priority = rng.choice([x for x in range(1, 21) if x not in [o[3] for o in owners]])
    n, idle = rng.randint(1, 5), rng.choice([0, 0, 1, 2])
    least = rng.randint(1, n)
    wanted = max(0, least - idle)
    tasks = [task(name, k) for name, m, _, _ in owners for k in range(m)] + [task('p', k, 'q') for k in range(n)]
    jobs = [job(name, 'q', m, p) for name, _, m, p in owners] + [job('p', 'q', least, priority, 'Inqueue')]
    return case(f'preempt{i}', 'preemptable', 'preempt', [dict(name='q', weight=1, state='Open')], jobs, tasks, idle,
                victims(owners, wanted, wanted, lambda _, p: p < priority))


def reclaim(i):
    owners = [(name, n, rng.choice([0, rng.randint(1, n)]), p) for name, n, p, _ in owners_of(rng.randint(1, 4), ['a'])]
    has = sum(o[1] for o in owners)
    deserves, n = rng.randint(0, has), rng.randint(1, 5)
    entitled = rng.randint(0, has - deserves)  # together no more than there is
    wanted = min(n, entitled)
    tasks = [task(name, k) for name, m, _, _ in owners for k in range(m)]
    tasks += [task(f'w{k}', 0, 'b') for k in range(n)]
    jobs = [job(name, 'a', m, p) for name, _, m, p in owners]
    jobs += [job(f'w{k}', 'b', 1, 1, 'Inqueue') for k in range(n)]
    queues = [dict(name='a', weight=1, state='Open', deserved=dict(cpu=1000 * deserves)),
              dict(name='b', weight=1, state='Open', deserved=dict(cpu=1000 * entitled))]
    return case(f'reclaim{i}', 'reclaimable', 'reclaim', queues, jobs, tasks, 0,
                victims(owners, wanted, 0, lambda *_: True))


json.dump(dict(schema_version=1, cases=[preempt(i) for i in range(N)] + [reclaim(i) for i in range(N)]),
          sys.stdout)
