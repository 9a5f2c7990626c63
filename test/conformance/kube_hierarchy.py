"""Random cases of kube-batch's kinds about who is let in and about queues within queues, with what is expected by small
models of Volcano's rules: a job is let in while what was let in before leaves room for it; a queue and all above it hold
their capability, and what guarantees of others leave; who has least over what it deserves, or over its weight, is next.
Writes them as JSON.
"""
import json
import random
import sys
from fractions import Fraction

rng = random.Random(29)
GIB = 1 << 30
ADD = dict(cpu=[0, 500, 1000, 2000, 4000], memory=[0, GIB, 2 * GIB, 3 * GIB])


def plugin(name, *on, **arguments):
    return dict(name=name, enabled={function: True for function in on}, arguments=arguments)


def task(job, i, amounts, status):
    return dict(name=f'{job}-{i}', job=job, status=status, request=amounts, preemptable=True,
                node=None if status == 'Pending' else 'n')


def session(name, actions, tiers, queues, cpu, jobs, tasks, **expect):
    return dict(id=f'random.{name}', name=name, system='volcano', kind='session', group='hierarchical_queues',
                config=dict(actions=actions, tiers=tiers), queues=queues, jobs=jobs, tasks=tasks, expect=expect,
                nodes=[dict(name='n', allocatable=dict(cpu=cpu, memory=1000 * GIB, pods=10000))])


# ---- Who is let in: what is used, and reserved for jobs that were let in, is within a limit ----

def amounts(low=0):
    return {r: rng.choice(v[low:]) for r, v in ADD.items()}


def jobs_with_tasks(n, queue):
    jobs, tasks = [], []
    for i in range(n):
        name = f's{rng.randint(0, 1)}/j{i}'
        phase = rng.choice(['Pending', 'Pending', 'Inqueue', 'Running'])
        job = dict(name=name, queue=queue, min_available=rng.randint(0, 2), phase=phase)
        if rng.random() < .8:
            job['min_resources'] = {r: a for r, a in amounts().items() if rng.random() < .8}
        if phase != 'Pending':
            tasks += [task(name, k, amounts(), rng.choice(['Running', 'Running', 'Binding', 'Pending']))
                      for k in range(rng.randint(0, 3))]
        jobs.append(job)
    return jobs, tasks


def has(job, tasks, r):
    return sum(t['request'][r] for t in tasks if t['job'] == job['name'] and t['status'] != 'Pending')


def reserved(jobs, tasks, r):
    return sum(max(0, j.get('min_resources', {}).get(r, 0) - has(j, tasks, r)) for j in jobs
               if j['phase'] in ('Inqueue', 'Running'))


def elastic(jobs, tasks, r):
    return sum(max(0, has(j, tasks, r) - j.get('min_resources', {}).get(r, 0)) for j in jobs)


def enqueueable(i):
    total = dict(cpu=rng.choice([4000, 8000, 12000]), memory=rng.choice([4, 8, 16]) * GIB)
    kind = rng.choice(['overcommit', 'overcommit', 'resourcequota', 'proportion', 'capacity', 'both'])
    jobs, tasks = jobs_with_tasks(rng.randint(1, 4), 'q')
    factor = rng.choice([None, 1, 1.2, 1.5, 2, 0.5, 0, '1.5'])
    told = kind in ('overcommit', 'both') and rng.random() < .5
    queue = dict(name='q', weight=1, state='Open')
    if rng.random() < .6:
        queue['capability'] = {r: a * rng.choice([1, 2, 3]) // 4 for r, a in total.items() if rng.random() < .7}
    quotas = [dict(name=f'k{k}', namespace=f's{rng.randint(0, 1)}', hard={r: a for r, a in amounts(2).items() if
              rng.random() < .8}, used=rng.choice([None, {r: a // 2 for r, a in amounts().items()}]))
              for k in range(rng.randint(0, 3))]
    expect, before = {}, dict.fromkeys(total, 0)
    for j in jobs:
        least = j.get('min_resources', {})
        if told:
            before = {r: before[r] + least.get(r, 0) for r in total}
        good = True
        for r in (r for r in least if least[r] > 0):
            used = sum(has(j, tasks, r) for j in jobs)
            if kind in ('overcommit', 'both'):
                by = Fraction(str(factor)) if factor is not None and float(factor) >= 1 else Fraction(6, 5)
                good &= reserved(jobs, tasks, r) + before[r] + least[r] + used <= total[r] * by
            if kind in ('resourcequota', 'both'):
                good &= all((q['used'] or {}).get(r, 0) + least[r] <= q['hard'].get(r, float('inf')) for q in quotas
                            if q['namespace'] == j['name'].split('/')[0])
            if kind in ('proportion', 'capacity'):
                most = min(total[r], queue.get('capability', {}).get(r, total[r]))
                good &= used + reserved(jobs, tasks, r) - elastic(jobs, tasks, r) + least[r] <= most
        expect[j['name']] = good
    arguments = {} if factor is None else {'overcommit-factor': factor}
    plugins = [plugin('overcommit', 'jobEnqueued', **arguments), plugin('resourcequota', 'jobEnqueued')]
    tiers = [plugins if kind == 'both' else plugins[:1] if kind == 'overcommit' else [plugin(kind, 'jobEnqueued')]]
    return dict(id=f'random.enqueueable{i}', name=kind, system='volcano', kind='enqueueable', queues=[queue], jobs=jobs,
                tasks=tasks, nodes=[dict(name='n', allocatable=total)], config=dict(actions=[], tiers=tiers),
                namespace_quotas=quotas, expect=dict(enqueueable=expect),
                steps='for each job: call JobEnqueued(job) THEN ask JobEnqueueable(job)' if told
                else 'ask JobEnqueueable(job)')


# ---- Queues within queues ----

CAPACITY = [[plugin('capacity', 'allocatable', 'queueOrder', 'hierarchy', 'jobEnqueued', 'preemptive', 'reclaimable'),
             plugin('predicates', 'predicate')]]


class Node:
    """A queue: with so many of what there is guaranteed, or at most, and those that it deserves by name."""

    def __init__(self, name, above, depth):
        self.name, self.above, self.has, self.waits, self.least = name, above, 0, 0, 0
        self.guarantee = self.deserved = 0
        self.capability = rng.randint(1, 9) if rng.random() < .5 else None
        self.below = [Node(f'{name}{k}', self, depth - 1) for k in range(rng.randint(1, 3))] if depth > 0 and (
            above is None or rng.random() < .7) else []

    def all(self):
        return [self] + [n for b in self.below for n in b.all()]

    def leaves(self):
        return [n for n in self.all() if not n.below]

    def room(self, total):
        most = total if not self.above else self.above.room(total) - self.above.of_children() + self.guarantee
        return most if self.capability is None else min(most, self.capability)

    def of_children(self):
        return sum(b.guarantee for b in self.below)

    def received(self):
        return self.has + sum(b.received() for b in self.below)

    def guarantee_up(self):
        """What is guaranteed below it is guaranteed to it."""
        for b in self.below:
            b.guarantee_up()
        self.guarantee = self.of_children() if self.below else rng.choice([0, 0, 1, 2])
        if self.capability is not None:
            self.capability = max(self.capability, self.guarantee)

    def deserve(self):
        """Each asks for what it deserves, and there is room for that: else Volcano measures in what is configured all
        the same, Berth in what is deserved then.
        """
        for b in self.below:
            b.deserve()
        self.deserved = sum(b.deserved for b in self.below) if self.below else self.guarantee + rng.randint(1, 3)
        self.waits = 0 if self.below else self.deserved + rng.randint(0, 4)
        if self.capability is not None:
            self.capability = max(self.capability, self.deserved)

    def most(self, total):
        """What runs at the end, whoever was first: there is room at its level, and at all below."""
        return min(self.room(total), sum(b.most(total) for b in self.below) if self.below else self.has + self.waits)

    def described(self, deserves):
        of = dict(name=self.name, weight=1, state='Open')
        if self.above:
            of['parent'] = self.above.name
        for key in ('guarantee', 'capability') + (('deserved',) if deserves else ()):
            if getattr(self, key) not in (0, None) or key == 'deserved':
                of[key] = dict(cpu=1000 * getattr(self, key))
        return of


def tree():
    root = Node('root', None, 3)
    root.capability = None
    root.guarantee_up()
    return root


def jobs_of(root):
    jobs = [dict(name='s/' + n.name, queue=n.name, min_available=0, phase='Inqueue') for n in root.leaves()]
    tasks = [task('s/' + n.name, k, dict(cpu=1000), 'Running' if k < n.has else 'Pending') for n in root.leaves()
             for k in range(n.has + n.waits)]
    return jobs, tasks


def rooms(i):
    """Each task takes 1 cpu, so the number that starts doesn't depend on their order."""
    root = tree()
    total = root.guarantee + rng.randint(1, 12)
    for n in root.leaves():
        n.waits = rng.randint(0, 6)
        n.has = max(0, min([rng.randint(0, 3)] + [m.room(total) - m.received() for m in up(n)]))
    running = root.received()
    jobs, tasks = jobs_of(root)
    return session(f'rooms{i}', ['allocate'], CAPACITY, [n.described(False) for n in root.all()], 1000 * total, jobs,
                   tasks, bind_count=root.most(total) - running)


def up(node):
    return [node] + (up(node.above) if node.above else [])


def share(n):
    return Fraction(n.received(), n.deserved) if n.deserved else Fraction(n.received() > 0)


def fill(root, total, last):
    """Start tasks one by one, below the node that has least of what it deserves. Returns how many by queue."""
    starts = dict.fromkeys((n.name for n in root.leaves()), 0)

    room = {n: n.room(total) for n in root.all()}

    def may(n):
        """Whether it has room, and somebody below it who waits has."""
        if n.received() >= room[n]:
            return False
        return any(map(may, n.below)) if n.below else n.waits > starts[n.name]

    while may(root):
        n = root
        while n.below:
            open_below = list(filter(may, n.below))
            n = min(reversed(open_below) if last else open_below, key=share)
        n.has += 1
        starts[n.name] += 1
    for n in root.leaves():
        n.has -= starts[n.name]
    return starts


def turns(i):
    while True:
        root = tree()
        root.deserve()
        total = root.deserved + rng.randint(0, 8)
        first, other = fill(root, total, False), fill(root, total, True)
        if first == other:
            break
    jobs, tasks = jobs_of(root)
    return session(f'turns{i}', ['allocate'], CAPACITY, [n.described(True) for n in root.all()], 1000 * total, jobs,
                   tasks, job_allocated={j['name']: dict(milli_cpu=1000 * first[j['queue']], memory=0, scalars=dict(
                       pods=first[j['queue']])) for j in jobs})


def let_in(i):
    """Nothing runs; jobs come by the names of their queues, then by their own."""
    root = tree()
    total = root.guarantee + rng.randint(1, 12)
    jobs, phases = [], {}
    for n in sorted(root.leaves(), key=lambda n: n.name):
        for k in range(rng.randint(0, 4)):
            least = rng.randint(1, 4)
            name = f's/{n.name}-{k}'
            good = all(m.received() + least <= m.room(total) for m in up(n))
            n.has += least * good
            phases[name] = 'Inqueue' if good else 'Pending'
            jobs.append(dict(name=name, queue=n.name, min_available=1, phase='Pending',
                             min_resources=dict(cpu=1000 * least)))
    return session(f'let_in{i}', ['enqueue'], CAPACITY, [n.described(False) for n in root.all()], 1000 * total,
                   rng.sample(jobs, len(jobs)), [], job_phase=phases)


# ---- Weights by path: what there is is parted by weights from the root down, as far as it is asked for ----

HDRF = [[plugin('drf', 'hierarchy', 'queueOrder', 'jobOrder'), plugin('proportion', 'queueOrder')]]


class Path:
    def __init__(self, path, weights, depth):
        self.weight = rng.choice([1, 1, 2, 3, 5])
        self.path, self.weights = path, f'{weights}/{self.weight}' if path != 'root' else '1'
        inner = depth > 0 and (path == 'root' or rng.random() < .6)
        self.below = [Path(f'{path}/{k}', self.weights, depth - 1) for k in range(rng.randint(2, 3))] if inner else []
        self.asks = sum(b.asks for b in self.below) if inner else rng.randint(1, 8)

    def part(self, amount):
        """What its leaves have of an amount: those that ask for less than their part leave it to the others."""
        if not self.below:
            return {self.path: amount}
        left, full = list(self.below), {}
        while True:
            level = (amount - sum(full.values())) / sum(b.weight for b in left) if left else 0
            done = [b for b in left if b.asks <= b.weight * level]
            if not done:
                break
            full.update({b: Fraction(b.asks) for b in done})
            left = [b for b in left if b not in done]
        parts = {}
        for b in self.below:
            parts.update(b.part(full[b] if b in full else b.weight * level))
        return parts

    def scale(self, by):
        self.asks *= by
        for b in self.below:
            b.scale(by)

    def leaves(self):
        return [n for b in self.below for n in b.leaves()] if self.below else [self]


def weights(i):
    while True:
        root = Path('root', '', 3)
        total = rng.randint(1, root.asks)
        by = 1
        for part in root.part(Fraction(total)).values():
            by = by * part.denominator // gcd(by, part.denominator)
        if by * root.asks <= 80:
            break
    root.scale(by)
    parts = root.part(Fraction(total * by))
    queues = [dict(name='q' + n.path.replace('/', '-'), weight=1, state='Open', hierarchy=n.path,
                   hierarchy_weights=n.weights) for n in root.leaves()]
    jobs = [dict(name='s/' + n.path, queue='q' + n.path.replace('/', '-'), min_available=0, phase='Inqueue')
            for n in root.leaves()]
    tasks = [task('s/' + n.path, k, dict(cpu=1000), 'Pending') for n in root.leaves() for k in range(n.asks)]
    return session(f'weights{i}', ['allocate'], HDRF, queues, 1000 * total * by, jobs, tasks, job_allocated={
        's/' + path: dict(milli_cpu=1000 * int(n), memory=0, scalars=dict(pods=int(n))) for path, n in parts.items()})


def gcd(a, b):
    return gcd(b, a % b) if b else a


cases = [make(i) for make, n in ((enqueueable, 600), (rooms, 300), (turns, 150), (let_in, 300), (weights, 150))
         for i in range(n)]
json.dump(dict(schema_version=1, cases=cases), sys.stdout)
