"""How sessions of kube-batch's kinds are written by hand: nodes, queues, jobs and tasks in short. Others import it."""
G = 1 << 30
cases = []


def node(n, cpu, mem=8, pods=100, more=None, **k):
    return dict(name=n, allocatable=dict(cpu=cpu, memory=mem * G, pods=pods, **(more or {})), **k)


def q(n, w=1, **k):
    return dict(name=n, weight=w, state=k.pop('state', 'Open'), **k)


def j(n, queue='q', least=0, phase='Inqueue', **k):
    return dict(name=n, queue=queue, min_available=least, phase=phase, **k)


def t(n, job, cpu=1000, status='Pending', mem=0, more=None, **k):
    waits = status == 'Pending'
    request = {} if cpu is None else dict(cpu=cpu, memory=mem * G, **(more or {}))
    return dict(name=n, job=job, status=status, node=None if waits else k.pop('on', 'n'), request=request,
                preemptable=k.pop('preemptable', True), **k)


def ts(job, n, cpu=1000, status='Pending', **k):
    return [t(f'{job}-{i}', job, cpu, status, **k) for i in range(n)]


def p(name, *on, **arguments):
    return dict(name=name, enabled={f: True for f in on}, **dict(arguments=arguments) if arguments else {})


GANG = p('gang', 'jobOrder', 'jobReady', 'jobPipelined', 'jobStarving')
PREDICATES = p('predicates', 'predicate')
PROPORTION = p('proportion', 'queueOrder', 'allocatable', 'reclaimable', 'jobEnqueued', 'overused', 'preemptive')
PLAIN = [[GANG], [PREDICATES]]
NOBODY = dict(binds={}, bind_count=0)


def s(name, nodes, jobs, tasks, tiers=PLAIN, queues=None, actions=('allocate',), system='volcano', extra=None, **expect):
    cases.append(dict(id='berth.' + name, name=name, kind='session', system=system, group='core',
                      config=dict(actions=list(actions), tiers=tiers), queues=queues or [q('q')], nodes=nodes, jobs=jobs,
                      tasks=tasks, expect=expect, **(extra or {})))
