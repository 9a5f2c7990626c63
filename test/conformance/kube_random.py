"""Random cases of what queues deserve and of how much of it they have, expected by the formulas of Volcano's plugins
`proportion` and `capacity`: the level that fills what there is in fractions, between the ends at which queues stop.
Writes N of each kind as JSON.
"""
import json
import random
import sys
from fractions import Fraction

N = int(sys.argv[1])  # cases of each kind

rng = random.Random(3)
GIB = 1 << 30
GPU = 'nvidia.com/gpu'
WITHOUT_END = Fraction(10) ** 30


def unit(resource, amount):
    """Amounts of a vector of results: thousandths of all but memory and pods; requests have thousandths of cpu."""
    return amount * 1000 if resource == GPU else amount


def random_queue(name, total):
    queue = dict(name=name, weight=rng.choice([0, 1, 1, 2, 3, 5]), state='Open')
    if rng.random() < .4:
        queue['capability'] = {r: total[r] * rng.choice([2, 5, 10]) // 10 for r in total if rng.random() < .7}
    if rng.random() < .3:
        most = {**total, **queue.get('capability', {})}
        queue['guarantee'] = {r: min(total[r] * rng.choice([1, 2]) // 10, most[r]) for r in total if rng.random() < .8}
    return queue


def random_task(queue, total):
    request = dict(cpu=rng.choice([0, 500, 1000, 3000]), memory=rng.choice([0, 1, 2]) * GIB)
    if GPU in total and rng.random() < .5:
        request[GPU] = 1
    return dict(name=f'{queue}/{rng.random()}', job='s/' + queue, status=rng.choice(['Pending', 'Running']), node='n',
                request=request)


def deserved(resource, total, queues, asked):
    """By queue: weight times a level, from the guarantee up to what is asked for within what the queue may have."""
    guarantee = {q['name']: unit(resource, q.get('guarantee', {}).get(resource, 0)) for q in queues}
    weight = {q['name']: q['weight'] for q in queues}
    low, high = {}, {}
    for q in queues:
        name = q['name']
        capability = q.get('capability', {}).get(resource)
        may = total - sum(guarantee.values()) + guarantee[name]
        may = may if capability is None else min(may, unit(resource, capability))
        low[name] = Fraction(guarantee[name])
        high[name] = max(low[name], Fraction(min(may, asked[name])))

    def at(level):
        return {n: min(high[n], max(low[n], weight[n] * level)) for n in weight}

    ends = sorted({Fraction(0)} | {end / weight[n] for n in weight if weight[n] for end in (low[n], high[n])})
    for a, b in zip(ends, ends[1:]):
        least, most = sum(at(a).values()), sum(at(b).values())
        if least <= total < most:
            return at(a + (b - a) * (total - least) / (most - least))
    return at(ends[-1])


def deserved_case(i):
    total = dict(cpu=rng.choice([0, 4000, 10000, 12345]), memory=rng.choice([4, 8, 10]) * GIB)
    if rng.random() < .3:
        total[GPU] = rng.choice([0, 4, 7])
    queues = [random_queue(f'q{k}', total) for k in range(rng.randint(1, 5))]
    tasks = [random_task(q['name'], total) for q in queues for _ in range(rng.randint(0, 12))]
    expect = {q['name']: {} for q in queues}
    for r in total:
        asked = {q['name']: sum(unit(r, t['request'].get(r, 0)) for t in tasks if t['job'] == 's/' + q['name'])
                 for q in queues}
        for name, amount in deserved(r, unit(r, total[r]), queues, asked).items():
            if r == GPU:
                expect[name]['scalars'] = {r: float(amount)}
            else:
                expect[name]['milli_cpu' if r == 'cpu' else r] = float(amount)
    return dict(id=f'deserved#{i}', name='random', system='both', kind='proportion_deserved', queues=queues,
                nodes=[dict(name='n', allocatable=total)], tasks=tasks, expect=dict(volcano=expect),
                jobs=[dict(name='s/' + q['name'], queue=q['name'], min_available=0, phase='Inqueue') for q in queues])


def random_vector(zeros):
    vector = dict(milli_cpu=rng.choice([0] * zeros + [500, 1000, 2000, 4000]),
                  memory=rng.choice([0] * zeros + [1, 2, 3]) * GIB)
    if rng.random() < .4:
        vector['scalars'] = {GPU: rng.choice([0] * zeros + [1000, 2000, 4000])}
    return vector


def flat(vector):
    return {**{r: v for r, v in vector.items() if r != 'scalars'}, **vector.get('scalars', {})}


def share_case(i):
    vectors = dict(deserved=random_vector(2), allocated=random_vector(3), request=random_vector(3))
    deserves, has = flat(vectors['deserved']), flat(vectors['allocated'])
    parts = [has.get(r, 0) / d if d else float(has.get(r, 0) > 0) for r, d in deserves.items()]
    return dict(id=f'share#{i}', name='random', kind='capacity_queue_share', **vectors,
                expect=max(parts) if any(deserves.values()) else 1)


json.dump(dict(schema_version=1, cases=[deserved_case(i) for i in range(N)] + [share_case(i) for i in range(N)]),
          sys.stdout)
