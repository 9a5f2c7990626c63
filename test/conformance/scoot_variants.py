"""Random cases of Scoot's kinds, with what is expected computed here from the formulas of Scoot's scheduler.

Berth departs from Scoot on purpose in what is marked DEPARTS below; everything else must come out to the digit.
Writes the cases as JSON: scoot_variants.py [SEED].
"""
import json
import random
import re
import sys

rng = random.Random(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
cases = []


def case(kind, **more):
    cases.append(dict(id=f'{kind}#{len(cases)}', name='random', kind=kind, **more))


def normalised(percents):
    """Percentages, the largest first, scaled to 100: each rounded down, and the first has the rest."""
    total = sum(percents)
    if total == 100:
        return percents
    rest = [p * 100 // total for p in percents[1:]]
    return [100 - sum(rest)] + rest


def targets(percents, workers):
    rest = [workers * p // 100 for p in percents[1:]]
    return [workers - sum(rest)] + rest


class Class:
    def __init__(self, name, percent, running, waiting):
        self.name, self.percent = name, percent
        # What a class of 0 percent runs and waits for is not counted.
        self.running = running if percent else 0
        self.waiting = self.left = waiting if percent else 0
        self.target = self.start = self.stop = self.part = self.lent = 0

    def borrowed(self):
        return max(0, self.running - self.target)


def grant(classes, units):
    """Each class its part of the units, rounded up, until they are gone."""
    given = 0
    for c in classes:
        n = min(c.left, (units * c.part + 99) // 100, units - given)
        c.start += n
        c.left -= n
        given += n
    return given


def entitle(classes, idle):
    for _ in classes:
        claims = [max(0, c.target - c.running - c.start) if c.left else 0 for c in classes]
        if not sum(claims) or not idle:
            break
        for c, claim in zip(classes, claims):
            c.part = claim * 100 // sum(claims)
        # DEPARTS: what rounding leaves goes to the first class that claims something, in Scoot to the first of all.
        classes[[claim > 0 for claim in claims].index(True)].part += 100 - sum(c.part for c in classes)
        idle -= grant(classes, min(idle, sum(claims)))
    return idle


def lend(classes, idle):
    while idle and any(c.left for c in classes):
        waiting = sum(c.percent for c in classes if c.left)
        lent = idle + sum(c.borrowed() for c in classes)
        claims = [max(0, lent * c.percent // waiting - c.borrowed()) if c.left else 0 for c in classes]
        if not sum(claims):
            # DEPARTS: Scoot divides 0 by 0. The rest goes one by one to who lacks most of its part of the loans.
            want = max((c for c in classes if c.left),
                       key=lambda c: lent * c.percent - max(0, c.running + c.start - c.target) * waiting)
            want.start += 1
            want.left -= 1
            idle -= 1
            continue
        for c, claim in zip(classes, claims):
            c.part = claim * 100 // sum(claims)
        idle -= grant(classes, idle)


def spread(classes, workers):
    if len(classes) < 2 or not workers:
        return 0
    off = [c.percent - c.running * 100 // workers for c in classes if c.percent]
    counts = [d for d, c in zip(off, (c for c in classes if c.percent)) if d < 0 or c.waiting]
    return max([0] + counts) - min([0] + counts)


def rebalance(classes, idle):
    """Back to the targets, and the rest is lent once. DEPARTS: no class gets more than it waits for; only as many end
    as others lack of their targets and as can start for them, the stops of the largest classes being spared first.
    """
    for c in classes:
        c.stop = c.borrowed()
        c.start = min(c.waiting, max(0, c.target - c.running))
        c.left -= c.start
    rest = idle + sum(c.stop for c in classes) - sum(c.start for c in classes)
    waiting = sum(c.percent for c in classes if c.left)
    if rest > 0 and waiting:
        claims = [max(0, rest * c.percent // waiting - (c.borrowed() - c.stop)) if c.left else 0 for c in classes]
        for c, claim in zip(classes, claims):
            c.part = claim * 100 // sum(claims) if sum(claims) else 0
        for c in classes:
            n = min(c.left, (rest * c.part + 99) // 100, rest - sum(d.lent for d in classes))
            c.lent = n
            spared = min(n, c.stop)
            c.stop -= spared
            c.start += n - spared
    fills = [min(c.start, max(0, c.target - c.running)) for c in classes]
    most = min(sum(fills), max(0, sum(c.waiting for c in classes) - idle))
    for c in classes:
        spared = min(c.stop, max(0, sum(d.stop for d in classes) - most))
        c.stop -= spared
    room = idle + sum(c.stop for c in classes)
    fill = min(room, sum(fills))
    loan = room - fill
    for c, own in zip(classes, fills):
        lent = min(c.start - own, loan)
        own = min(own, fill)
        c.start = own + lent
        fill -= own
        loan -= lent


def random_classes(workers):
    n = rng.randint(1, 9)
    percents = [rng.randint(0, 30) for _ in range(n)]
    if not sum(percents):
        percents[0] = 10
    percents.sort(reverse=True)
    percents = normalised(percents) if rng.random() < .6 else percents
    left = workers
    classes = []
    for i, (raw, p) in enumerate(zip(percents, normalised(percents))):
        running = min(left, workers * p // 100 + rng.randint(-5, 5) if rng.random() < .6 else rng.randint(0, left))
        running = max(0, running)
        left -= running
        waiting = rng.choice([0, rng.randint(0, workers), 10 * workers])
        classes.append((dict(name=f'c{i}', load_pct=raw, running=running, waiting=waiting),
                        Class(f'c{i}', p, running, waiting)))
    return [a for a, _ in classes], [b for _, b in classes], left


def counts(rebalances):
    workers = rng.choice([1, 3, 10, 50, 100, 300, 1000])
    given, classes, idle = random_classes(workers)
    for c, t in zip(classes, targets([c.percent for c in classes], workers)):
        c.target = t
    fires = rebalances and spread(classes, workers) > 1
    if fires:
        rebalance(classes, idle)
    else:
        lend(classes, entitle(classes, idle))
    case('class_counts', totalWorkers=workers, idle=idle, classes=given,
         config=dict(rebalance_threshold=int(rebalances), rebalance_min_duration_s=60 * rebalances),
         expect=dict(rebalanced=fires, start={c.name: c.start for c in classes},
                     stop={c.name: c.stop for c in classes}))


def pieces():
    percents = sorted((rng.randint(0, 60) for _ in range(rng.randint(1, 8))), reverse=True)
    percents[0] += not sum(percents)
    names = [f'c{i}' for i in range(len(percents))]
    scaled = normalised(percents)
    case('normalize', percents=dict(zip(names, percents)), order=names, expect=dict(zip(names, scaled)))
    workers = rng.choice([0, 1, 7, 100, 12345])
    case('targets', totalWorkers=workers, percents=dict(zip(names, scaled)), order=names,
         expect=dict(zip(names, targets(scaled, workers))))
    given, classes, _ = random_classes(workers)
    case('spread', totalWorkers=workers, classes=given, expect=spread(classes, workers))


def timer():
    threshold, lasts = rng.choice([0, 20]), rng.choice([0, 60, 100])
    now, since, samples, fired = 0, None, [], []
    for _ in range(30):
        now += rng.choice([1, 20, 60])
        seen = rng.choice([10, 20, 21, 90])
        samples.append(dict(t_s=now, spread=seen))
        if not threshold or not lasts or seen <= threshold:
            since = None  # DEPARTS: Scoot's clock runs on while the spread is small
        elif since is None:
            since = now
        elif now - since > lasts:
            fired.append(now)
            since = None
    case('rebalance_timer', config=dict(rebalance_threshold=threshold, rebalance_min_duration_s=lasts), samples=samples,
         expect=dict(rebalanced_at_t_s=fired))


def selections():
    jobs = [dict(name=f'j{i}', running=rng.randint(0, 6), waiting=rng.randint(0, 9)) for i in range(rng.randint(1, 8))]
    start = rng.randint(0, sum(j['waiting'] for j in jobs))
    bins, order = {}, []
    for j in jobs:
        bins.setdefault(j['running'], []).append([j, 0])
    level = 0
    while len(order) < start:
        for job, taken in bins.get(level, []):
            if taken < job['waiting'] and len(order) < start:
                order.append(f"{job['name']}.{taken}")
                bins.setdefault(level + 1, []).append([job, taken + 1])
        level += 1
    case('task_selection', jobs=jobs, start=start, expect=dict(order=order))
    ages = rng.sample(range(1, 20000), rng.randint(1, 9))
    stop = rng.randint(0, len(ages))
    young = sorted(a for a in ages if a <= 4 * 3600)[:stop]
    case('stop_selection', running=[dict(task=f't{a}', started_s_ago=a) for a in ages], stop=stop,
         expect=dict(set=[f't{a}' for a in young]))


def requestors():
    """Patterns that match any part of a requestor; Scoot tries them in any order, so that any that matches will do."""
    names = ['land', 'diff', 'ci', 'nightly', 'bot7', 'a.b']
    words = rng.sample(names, rng.randint(1, 5))
    patterns = {rng.choice(['{}', '^{}', '{}$', '{}.*', '{}|x$', '^[l-n]{}', '{}+', '(?i){}']).format(re.escape(w)):
                f'c{i % 3}' for i, w in enumerate(words)}
    percents = dict(c0=50, c1=rng.choice([30, 29]), c2=15, zz=5)
    requestor = ''.join(rng.choice(names + ['-', 'X', 'LAND', 'm']) for _ in range(rng.randint(0, 4)))
    matching = sorted({c for p, c in patterns.items() if re.search(p, requestor)})
    expect = dict(class_one_of=matching) if matching else {'class': '', 'falls_back_to': 'zz'}
    case('requestor_map', map=patterns, percents=percents, requestor=requestor, expect=expect)


def steps():
    """Requestors' jobs on so many workers, step by step; nothing ends. One requestor is one class."""
    percents = normalised(sorted((rng.randint(1, 40) for _ in range(rng.randint(1, 5))), reverse=True))
    workers = rng.choice([3, 10, 57, 200])
    classes = [Class(f'r{i}', p, 0, 0) for i, p in enumerate(percents)]
    jobs = []
    for i, c in enumerate(classes):
        tasks = [rng.randint(1, workers) for _ in range(rng.randint(0, 3))]
        jobs += [dict(requestor=c.name, tasks=n) for n in tasks]
        c.waiting = sum(tasks)
        c.left = c.waiting if c.percent else 0  # what a class of 0 percent waits for never starts, but is accepted
    for c, t in zip(classes, targets(percents, workers)):
        c.target = t
    n = rng.randint(0, 4)
    for _ in range(n):
        lend(classes, entitle(classes, workers - sum(c.running for c in classes)))
        for c in classes:
            c.running, c.start = c.running + c.start, 0
    running = {c.name: c.running for c in classes}
    progress = {c.name: c.waiting for c in classes}
    case('end_to_end_counts', nodes=workers, steps=n, jobs=rng.sample(jobs, len(jobs)),
         config=dict(class_load_pcts={c.name: c.percent for c in classes},
                     requestor_map={f'^{c.name}$': c.name for c in classes}),
         expect=dict(accepted_jobs=len(jobs), running=dict(total=sum(running.values()), **running),
                     in_progress=dict(total=sum(progress.values()), **progress)))


def durations():
    """The longest first, those that nobody knows last."""
    known = {f't{i}': s for i, s in enumerate(rng.sample(range(1, 5000), rng.randint(1, 12)))}
    jobs = [rng.sample(sorted(known), rng.randint(1, len(known))) + ['new'] * rng.randint(0, 1) for _ in range(2)]
    for job in jobs:
        rng.shuffle(job)
    case('task_order', known_durations_s=known, jobs=jobs,
         expect=[sorted(job, key=lambda t: -known.get(t, 0)) for job in jobs])


for _ in range(300):
    requestors()
    steps()
    durations()
for _ in range(2000):
    counts(False)
for _ in range(2000):
    counts(True)
for _ in range(300):
    pieces()
    timer()
    selections()
json.dump(dict(schema_version=1, default_class_load_pcts={}, default_requestor_map={}, cases=cases), sys.stdout)
