"""Random cases of kube-batch's kinds in which gangs start, with what is expected by a small model of the rule: by priority,
each job has what is free, if that is as much as its min lacks, or else nothing. Some have two roles, of which each has a
node to itself: the mins of both start, or none. Writes N of each kind as JSON.
"""
import json
import random
import sys

N = int(sys.argv[1])  # cases of each kind

rng = random.Random(11)
TIERS = [[dict(name='priority', enabled=dict(jobOrder=True)),
          dict(name='gang', enabled=dict(jobReady=True, jobPipelined=True)),
          dict(name='predicates', enabled=dict(predicate=True))]]


def draw_job(priority, roles):
    """By role: how many there are, how many are needed, how many run."""
    job = {}
    for role in roles:
        n = rng.randint(1, 5)
        job[role] = (n, rng.randint(0, n), 0)
    if len(roles) == 1 and rng.random() < .3:  # it has started
        n, least, _ = job[roles[0]]
        job[roles[0]] = (n, least, rng.randint(max(1, least), n))
    return f'j{priority}', job


def starts_of(job, free):
    least = sum(m for _, m, _ in job.values())
    whole = least > 1
    if whole and any(free[role] < m - runs for role, (_, m, runs) in job.items()):
        return {role: 0 for role in job}
    return {role: min(n - runs, free[role]) for role, (n, _, runs) in job.items()}


def task(name, role, i, runs):
    return dict(name=f'{name}-{role}{i}', job=name, role=role, request=dict(cpu=1000), preemptable=True,
                node=role if runs else None, status='Running' if runs else 'Pending', node_selector=dict(kind=role))


def case(i):
    roles = rng.choice([['x'], ['x', 'y']])
    drawn = [draw_job(p, rng.sample(roles, rng.randint(1, len(roles))))
             for p in sorted(rng.sample(range(10, 99), rng.randint(1, 6)), reverse=True)]
    drawn = [(name, job) for name, job in drawn if len(job) == 1 or sum(m for _, m, _ in job.values()) > 1]
    free = {role: rng.randint(1, 9) for role in roles}  # each could be there: else the job is refused
    nodes = [dict(name=role, labels=dict(kind=role), allocatable=dict(
        pods=100, cpu=1000 * (free[role] + sum(job[role][2] for _, job in drawn if role in job)))) for role in roles]
    jobs, tasks, expect = [], [], {}
    for name, job in drawn:
        starts = starts_of(job, free)
        has = 0
        for role, (n, _, runs) in job.items():
            free[role] -= starts[role]
            has += starts[role] + runs
            tasks += [task(name, role, k, k < runs) for k in range(n)]
        jobs.append(dict(name=name, queue='q', phase='Inqueue', priority=int(name[1:]),
                         min_available=sum(m for _, m, _ in job.values()),
                         min_task_available={role: m for role, (_, m, _) in job.items()}))
        expect[name] = dict(milli_cpu=1000 * has, memory=0, scalars=dict(pods=has))
    return dict(id=f'random.starts{i}', name='random', system='volcano', kind='session', nodes=nodes, jobs=jobs,
                tasks=tasks, queues=[dict(name='q', weight=1, state='Open')], expect=dict(job_allocated=expect),
                config=dict(actions=['allocate'], tiers=TIERS))


json.dump(dict(schema_version=1, cases=[case(i) for i in range(N)]), sys.stdout)
