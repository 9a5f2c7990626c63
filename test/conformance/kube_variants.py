"""Cases of kube-batch's kinds with what is expected worked out by hand from the formulas: weights and none, empty
queues, guarantees, capabilities above a queue, nodes without pods, selectors, weights by path. Writes them as JSON.
"""
import json
import sys
G = 1 << 30


def node(n, cpu, mem=8, pods=100, **k):
    return dict(name=n, allocatable=dict(cpu=cpu, memory=mem * G, pods=pods, **k.pop('more', {})), **k)


def q(n, w=1, **k):
    return dict(name=n, weight=w, state=k.pop('state', 'Open'), **k)


def j(n, queue, phase='Inqueue', **k):
    return dict(name=n, queue=queue, min_available=k.pop('min', 0), phase=phase, **k)


def t(n, job, cpu, mem=0, status='Pending', nd=None, **k):
    r = {}
    if cpu is not None:
        r = dict(cpu=cpu, memory=mem * G)
    r.update(k.pop('more', {}))
    return dict(name=n, job=job, status=status, node=nd, request=r, preemptable=k.pop('preemptable',
        True), **k)


def p(n, *on, **args):
    d = dict(name=n, enabled={f: True for f in on})
    if args:
        d['arguments'] = args
    return d


cases = []


def case(name, tiers, queues, nodes, jobs, tasks, expect, actions=('allocate',), group='core', **k):
    cases.append(dict(id='berth.' + name, name=name, system='volcano', kind='session', group=group,
        config=dict(actions=list(actions), tiers=tiers), queues=queues, nodes=nodes, jobs=jobs,
        tasks=tasks, expect=expect, **k))


def many(job, n, cpu, mem=0, **k):
    return [t(f'{job}-p{i}', job, cpu, mem, **k) for i in range(n)]


def has(cpu, mem=0, pods=0):
    return dict(milli_cpu=cpu, memory=mem * G, scalars=dict(pods=pods))


prop = [[p('drf', 'jobOrder'), p('proportion', 'queueOrder', 'allocatable'), p('predicates',
    'predicate')]]
cap = [[p('capacity', 'allocatable', 'queueOrder', 'hierarchy', 'jobEnqueued', 'preemptive',
    'reclaimable'), p('predicates', 'predicate'), p('priority', 'jobStarving')]]
case('weights', prop, [q('a', 1), q('b', 3)], [node('n', 8000)], [j('s/a', 'a'), j('s/b', 'b')],
    many('s/a', 8, 1000) + many('s/b', 8, 1000), {'job_allocated': {'s/a': has(2000, 0, 2),
    's/b': has(6000, 0, 6)}})
case('deserved_is_the_most', prop, [q('a'), q('b')], [node('n1', 2000), node('n2', 2000)], [j('s/a',
    'a'), j('s/b', 'b')], many('s/a', 4, 1000) + [t('s/b-0', 's/b', 3000)], {'binds': {'s/a-p0': 'n1',
    's/a-p1': 'n1'}, 'bind_count': 2})
case('zero_weight', prop, [q('a', 0), q('b', 1)], [node('n', 8000)], [j('s/a', 'a'), j('s/b', 'b')],
    many('s/a', 8, 1000) + many('s/b', 8, 1000), {'job_allocated': {'s/b': has(8000, 0, 8)}})
case('empty_queue', prop, [q('a'), q('b'), q('c', 5)], [node('n', 4000)], [j('s/a', 'a'), j('s/b', 'b')],
    many('s/a', 4, 1000) + many('s/b', 4, 1000), {'job_allocated': {'s/a': has(2000, 0, 2),
    's/b': has(2000, 0, 2)}})
case('guarantee_of_others', cap, [q('root'), q('a', parent='root', guarantee=dict(cpu=5000)), q('b',
    parent='root')], [node('n', 8000)], [j('s/b', 'b')], many('s/b', 8, 1000), {'bind_count': 3},
    group='hierarchical_queues')
case('capability_in_the_middle', cap, [q('root'), q('m', parent='root', capability=dict(cpu=3000)),
    q('a', parent='m'), q('b', parent='m'), q('c', parent='root')], [node('n', 8000)], [j('s/a', 'a'),
    j('s/b', 'b'), j('s/c', 'c')], many('s/a', 4, 1000) + many('s/b', 4, 1000) + many('s/c', 4, 1000),
    {'bind_count': 7, 'job_allocated': {'s/c': has(4000, 0, 4)}}, group='hierarchical_queues')
case('deep', cap, [q('root')] + [q(f'd{i}', parent=f'd{i - 1}' if i else 'root',
    capability=dict(cpu=9000 - i * 1000)) for i in range(6)] + [q('leaf', parent='d5')], [node('n',
    16000)], [j('s/x', 'leaf')], many('s/x', 10, 1000), {'bind_count': 4}, group='hierarchical_queues')
case('closed', cap, [q('a', state='Closed'), q('b')], [node('n', 8000)], [j('s/a', 'a'), j('s/b', 'b')],
    many('s/a', 1, 1000) + many('s/b', 1, 1000), {'binds': {'s/b-p0': 'n'}, 'bind_count': 1})
case('job_in_an_inner_queue', cap, [q('root'), q('a', parent='root'), q('b', parent='a')], [node('n',
    8000)], [j('s/a', 'a'), j('s/b', 'b')], many('s/a', 1, 1000) + many('s/b', 1, 1000),
    {'binds': {'s/b-p0': 'n'}, 'bind_count': 1}, group='hierarchical_queues')
case('no_such_queue', prop, [q('a')], [node('n', 8000)], [j('s/a', 'zz')], many('s/a', 1, 1000),
    {'binds': {}, 'bind_count': 0})
case('nodes_without_pods', prop, [q('a')], [dict(name='n', allocatable=dict(cpu=8000, memory=8 * G))],
    [j('s/a', 'a')], many('s/a', 1, 1000), {'binds': {}, 'bind_count': 0})
case('no_nodes', prop, [q('a')], [], [j('s/a', 'a')], many('s/a', 1, 1000), {'binds': {},
    'bind_count': 0})
case('selector_and_taint', prop, [q('a')], [node('n1', 8000, labels={'zone': 'z1'}, taints=[dict(key='k',
    value='v', effect='NoSchedule')]), node('n2', 8000, labels={'zone': 'z1'}), node('n3', 8000,
    labels={'zone': 'z2'})], [j('s/a', 'a')], [t('s/a-0', 's/a', 1000, node_selector={'zone': 'z1'}),
    t('s/a-1', 's/a', 1000, node_selector={'zone': 'z2'}), t('s/a-2', 's/a', 1000,
    node_selector={'zone': 'z3'})], {'binds': {'s/a-0': 'n2', 's/a-1': 'n3'}, 'bind_count': 2})
case('affinity', prop, [q('a')], [node('n1', 8000, labels={'zone': 'z1'}), node('n2', 8000,
    labels={'zone': 'z2'})], [j('s/a', 'a')], [t('s/a-0', 's/a', 1000,
    affinity={'NodeAffinity': {'RequiredDuringSchedulingIgnoredDuringExecution': {'NodeSelectorTerms': [{'MatchExpressions': [{'Key': 'zone',
    'Operator': 'In', 'Values': ['z2', 'z9']}]}]}}}), t('s/a-1', 's/a', 1000,
    affinity={'NodeAffinity': {'RequiredDuringSchedulingIgnoredDuringExecution': {'NodeSelectorTerms': [{'MatchExpressions': [{'Key': 'zone',
    'Operator': 'NotIn', 'Values': ['z2']}]}]}}})], {'binds': {'s/a-0': 'n2', 's/a-1': 'n1'},
    'bind_count': 2})
case('best_effort_waits_for_backfill', prop, [q('a')], [node('n', 8000)], [j('s/a', 'a')], [t('s/a-0',
    's/a', None)], {'binds': {}, 'bind_count': 0})
case('best_effort', prop, [q('a')], [node('n', 8000, pods=1)], [j('s/a', 'a')], [t('s/a-0', 's/a', None),
    t('s/a-1', 's/a', None)], {'bind_count': 1}, actions=('allocate', 'backfill'))
case('releasing', prop, [q('a')], [node('n', 1000)], [j('s/a', 'a'), j('s/b', 'a')], [t('s/a-0', 's/a',
    1000, status='Releasing', nd='n'), t('s/b-0', 's/b', 1000)], {'binds': {}, 'bind_count': 0,
    'pipelined': {'s/b': ['n']}})
case('priority_of_jobs', [[p('priority', 'jobOrder', 'taskOrder')]], [q('a')], [node('n', 2000)],
    [j('s/a', 'a', priority=1), j('s/b', 'a', priority=9)], many('s/a', 2, 1000) + [t('s/b-0', 's/b',
    1000, priority=1), t('s/b-1', 's/b', 1000, priority=7), t('s/b-2', 's/b', 1000, priority=5)],
    {'binds': {'s/b-1': 'n', 's/b-2': 'n'}, 'bind_count': 2})
case('gpu_of_some', prop, [q('a'), q('b')], [node('n1', 4000, more={'nvidia.com/gpu': 4}), node('n2',
    4000)], [j('s/a', 'a'), j('s/b', 'b')], many('s/a', 4, 500, more={'nvidia.com/gpu': 1}) + many('s/b',
    4, 500, more={'nvidia.com/gpu': 1}), {'bind_count': 4, 'job_allocated': {'s/a': {'milli_cpu': 1000,
    'memory': 0, 'scalars': {'pods': 2, 'nvidia.com/gpu': 2000}}}})
hdrf = [[p('drf', 'hierarchy', 'queueOrder', 'jobOrder'), p('proportion', 'queueOrder')]]
case('rescaling', hdrf, [q('sci', hierarchy='root/sci', hierarchy_weights='100/50'), q('dev',
    hierarchy='root/eng/dev', hierarchy_weights='100/50/50'), q('prod', hierarchy='root/eng/prod',
    hierarchy_weights='100/50/50')], [node('n', 10000, 10)], [j('s/sci', 'sci'), j('s/dev', 'dev'),
    j('s/prod', 'prod')], many('s/sci', 10, 1000, 1) + many('s/dev', 10, 1000, 0) + many('s/prod', 10, 0,
    1), {'job_allocated': {'s/sci': has(5000, 5, 5), 's/dev': has(5000, 0, 5), 's/prod': has(0, 5, 5)}},
    group='hierarchical_queues')
case('hierarchy_weights', hdrf, [q('x', hierarchy='root/x', hierarchy_weights='100/25'), q('y',
    hierarchy='root/y/z', hierarchy_weights='100/75/10')], [node('n', 8000)], [j('s/x', 'x'), j('s/y',
    'y')], many('s/x', 8, 1000) + many('s/y', 8, 1000), {'job_allocated': {'s/x': has(2000, 0, 2),
    's/y': has(6000, 0, 6)}}, group='hierarchical_queues')
case('enqueue_of_siblings', cap, [q('root'), q('m', parent='root', capability=dict(cpu=3000)), q('a',
    parent='m'), q('b', parent='m')], [node('n', 8000)], [j('s/a', 'a', 'Pending',
    min_resources=dict(cpu=2000)), j('s/b', 'b', 'Pending', min_resources=dict(cpu=1000)), j('s/c', 'b',
    'Pending', min_resources=dict(cpu=1000))], [], {'job_phase': {'s/a': 'Inqueue', 's/b': 'Inqueue',
    's/c': 'Pending'}}, actions=('enqueue',), group='hierarchical_queues')
case('capability_with_what_runs', cap, [q('a', capability=dict(cpu=3000))], [node('n', 8000)], [j('s/a',
    'a', 'Running'), j('s/b', 'a')], [t('s/a-0', 's/a', 2000, status='Running', nd='n')] + many('s/b', 3,
    1000), {'bind_count': 1})
case('unset_capability_is_none', cap, [q('a', capability=dict(memory=1 * G))], [node('n', 8000)],
    [j('s/a', 'a')], many('s/a', 8, 1000), {'bind_count': 8})



def above(name, level, low, high, evicts):
    """b below high below the root has 4 CPUs, and a deserves them; b deserves `low`, and what is above it `high`."""
    by = dict(cap[0][0], arguments=dict(ancestorReclaimLevel=level))
    case(name, [[by, *cap[0][1:]]], [q('root'), q('mid-a', parent='root', deserved=dict(cpu=4000)),
        q('a', parent='mid-a', deserved=dict(cpu=4000)), q('mid-b', parent='root', deserved=dict(cpu=high)),
        q('b', parent='mid-b', deserved=dict(cpu=low))], [node('n', 4000)], [j('s/b', 'b', 'Running'), j('s/a', 'a')],
        many('s/b', 4, 1000, status='Running', nd='n') + [t('s/a-0', 's/a', 2000)], {'binds': {}, 'evict_count': evicts},
        actions=('reclaim',), group='hierarchical_queues')


# Asked alone, b has more than it deserves, whatever is deserved above it; else both are asked.
above('reclaim_by_the_queue_alone', 0, 0, 4000, 2)
above('reclaim_by_all_above', 2, 0, 4000, 0)
above('reclaim_by_all_above_that_are_over', 2, 0, 0, 2)
above('reclaim_from_none_that_deserves_it', 0, 4000, 0, 0)


def inner(name, parent='root', **k):
    """A queue in a hierarchy, of which amounts are of cpu where they are plain numbers."""
    amounts = {key: dict(cpu=1000 * k[key]) if isinstance(k.get(key), int) else k[key]
               for key in ('deserved', 'capability', 'guarantee') if key in k}
    return q(name, parent=parent, **amounts)


def run(job, n, cpu=1000, **k):
    return many(job, n, cpu, status='Running', nd='n', **k)


def taken(name, queues, jobs, tasks, n, of, level=None, cpu=8000, actions=('reclaim',), **k):
    """So many tasks of one job end for others, or none."""
    tiers = cap if level is None else [[dict(cap[0][0], arguments=dict(ancestorReclaimLevel=level)), *cap[0][1:]]]
    expect = dict(evict_count=n, evicts_from_job=of) if n else dict(evict_count=0, evicts=[])
    case(name, tiers, [q('root')] + queues, [node('n', cpu, **k)], jobs, tasks, expect, actions=actions,
        group='hierarchical_queues')


# Who ends for a queue that has less than it deserves: its siblings first, and of what others have beyond theirs.
two_sides = [inner('p1', deserved=4), inner('a', 'p1', deserved=2), inner('b', 'p1', deserved=2),
    inner('p2', deserved=4), inner('c', 'p2', deserved=4)]
three_jobs = [j('s/a', 'a'), j('s/b', 'b'), j('s/c', 'c')]
taken('reclaim_nearest_first', two_sides, three_jobs, run('s/b', 3) + run('s/c', 5) + many('s/a', 1, 1000), 1, 's/b')
taken('reclaim_where_the_parent_has_all', two_sides, three_jobs, run('s/b', 4) + run('s/c', 4) + many('s/a', 2, 1000),
    2, 's/b')
taken('reclaim_across_parents', two_sides, three_jobs, run('s/b', 2) + run('s/c', 6) + many('s/a', 2, 1000), 2, 's/c')
taken('reclaim_no_more_than_deserved', two_sides, three_jobs + [j(f's/x{i}', 'a') for i in range(4)], run('s/c', 8) + [
    t(f's/x{i}-0', f's/x{i}', 1000) for i in range(4)], 2, 's/c')
taken('reclaim_two_for_one', two_sides, three_jobs, run('s/b', 2) + run('s/c', 6) + many('s/a', 1, 2000), 2, 's/c')
taken('reclaim_nothing_beyond_what_is_deserved', two_sides, three_jobs, run('s/c', 8) + many('s/a', 1, 3000), 0, None)
taken('reclaim_from_nobody_within_what_it_deserves', two_sides + [inner('d', deserved=0)], three_jobs + [j('s/d',
    'd')], run('s/b', 2) + run('s/c', 4) + run('s/d', 2, preemptable=False) + many('s/a', 1, 1000), 0, None)
taken('no_reclaim_where_the_parent_has_what_it_deserves', two_sides, three_jobs, run('s/b', 4, preemptable=False) +
    run('s/c', 4) + many('s/a', 1, 1000), 0, None)
taken('no_reclaim_beyond_a_capability', [inner('p1', deserved=4, capability=2), inner('a', 'p1', deserved=2), inner('b',
    'p1', deserved=2), inner('c', deserved=4)], three_jobs, run('s/b', 2, preemptable=False) + run('s/c', 6) +
    many('s/a', 1, 1000), 0, None)
taken('idle_first', two_sides, three_jobs, run('s/b', 1) + run('s/c', 6) + many('s/a', 1, 1000), 0, None,
    actions=('allocate', 'reclaim'))
# Below one parent there is nobody else to ask, whatever the level.
taken('reclaim_at_level_0', two_sides[:3], three_jobs[:2], run('s/b', 4) + many('s/a', 3, 1000), 2, 's/b', level=0,
    cpu=4000)
taken('reclaim_at_level_1', two_sides, three_jobs, run('s/b', 3) + run('s/c', 5) + many('s/a', 1, 1000), 1, 's/b',
    level=1)
deep = [inner('A', deserved=4), inner('A1', 'A', deserved=2), inner('A11', 'A1', deserved=1), inner('A12', 'A1',
    deserved=1), inner('A2', 'A', deserved=2), inner('A21', 'A2', deserved=2), inner('B', deserved=4), inner('B1', 'B',
    deserved=4)]
deep_jobs = [j('s/' + name, name) for name in ('A11', 'A12', 'A21', 'B1')]
taken('reclaim_deep_from_a_sibling', deep, deep_jobs, run('s/A12', 3) + run('s/A21', 2) + run('s/B1', 3) +
    many('s/A11', 1, 1000), 1, 's/A12')
taken('reclaim_deep_from_a_cousin', deep, deep_jobs, run('s/A12', 1) + run('s/A21', 3) + run('s/B1', 4) +
    many('s/A11', 1, 1000), 1, 's/A21')
taken('reclaim_deep_across', deep, deep_jobs, run('s/A12', 3) + run('s/A21', 2) + run('s/B1', 3) +
    many('s/B1', 1, 1000), 1, 's/A12')
gpu = {'nvidia.com/gpu': 1}
gpus = dict(cpu=4000, **{'nvidia.com/gpu': 2})
taken('reclaim_what_is_asked_for', [inner('a', deserved=gpus), inner('b', deserved=gpus)], [j('s/a', 'a'), j('s/b', 'b'),
    j('s/x', 'b')], run('s/a', 1, more=gpu) + run('s/b', 3, more=gpu) + run('s/x', 1, priority=0) +
    many('s/a', 1, 1000, more=gpu), 1, 's/b', more={'nvidia.com/gpu': 4})

# Who is let in within a hierarchy, and of resources of more than two kinds.


def least(n, queue, cpu, phase='Pending', **more):
    return j('s/' + n, queue, phase, min_resources=dict(cpu=1000 * cpu, **more))


def enqueue(name, queues, jobs, into, tasks=(), **k):
    case(name, cap, [q('root')] + queues, [node('n', 8000, **k)], jobs, list(tasks), {'job_phase': {x['name']: 'Inqueue'
        if x['name'][2:] in into.split() else 'Pending' for x in jobs if x['phase'] == 'Pending'}}, actions=('enqueue',),
        group='hierarchical_queues')


enqueue('enqueue_gpus', [inner('a', capability={'nvidia.com/gpu': 2})], [least(x, 'a', 1, **gpu) for x in 'klm'] +
    [least('n', 'a', 1)], 'k l n', more={'nvidia.com/gpu': 4})
enqueue('enqueue_what_is_nowhere', [inner('a')], [least('k', 'a', 1, **gpu), least('l', 'a', 1)], 'l')
enqueue('enqueue_beside_a_guarantee', [inner('p', guarantee=5), inner('a', 'p', guarantee=3), inner('b', 'p',
    guarantee=2), inner('c')], [least('k', 'b', 6), least('l', 'b', 5), least('m', 'c', 4), least('n', 'c', 3)], 'l n')
enqueue('enqueue_beside_what_may_go', [inner('a', capability=4)], [least('k', 'a', 1, 'Running'), least('l', 'a', 3),
    least('m', 'a', 1)], 'l', run('s/k', 3))
enqueue('enqueue_without_a_least', [inner('a', capability=1)], [least('k', 'a', 1), j('s/l', 'a', 'Pending')], 'k l')
enqueue('enqueue_below_two_capabilities', [inner('p', capability=5), inner('a', 'p', capability=3), inner('b', 'p',
    capability=3)], [least('k', 'a', 3), least('l', 'b', 3), least('m', 'b', 2)], 'k m')

# Who starts: what is deserved in halves, beyond it where nobody asks, and by the largest part of three resources.
case('deserved_in_halves', prop, [q('a'), q('b')], [node('n', 7000)], [j('s/a', 'a'), j('s/b', 'b')], many('s/a', 7,
    1000) + many('s/b', 7, 1000), {'job_allocated': {'s/a': has(3000, 0, 3), 's/b': has(3000, 0, 3)}})
case('borrowed', cap, [q('root'), inner('a', deserved=1, capability=6), inner('b', deserved=3)], [node('n', 8000)],
    [j('s/a', 'a')], many('s/a', 8, 1000), {'bind_count': 6}, group='hierarchical_queues')
case('borrowed_last', cap, [q('root'), inner('a', deserved=1), inner('b', deserved=3)], [node('n', 4000)],
    [j('s/a', 'a'), j('s/b', 'b')], many('s/a', 4, 1000) + many('s/b', 3, 1000), {'job_allocated': {'s/a': has(1000, 0,
    1), 's/b': has(3000, 0, 3)}}, group='hierarchical_queues')
case('capability_of_gpus_above', cap, [q('root'), inner('p', capability={'nvidia.com/gpu': 3}), inner('a', 'p',
    capability={'nvidia.com/gpu': 2}), inner('b', 'p', capability={'nvidia.com/gpu': 2}), inner('c')], [node('n', 8000,
    more={'nvidia.com/gpu': 8})], [j('s/a', 'a'), j('s/b', 'b'), j('s/c', 'c')], many('s/a', 4, 1000, more=gpu) +
    many('s/b', 4, 1000, more=gpu) + many('s/c', 1, 1000, more=gpu), {'bind_count': 4}, group='hierarchical_queues')
case('drf_of_two', [[p('drf', 'jobOrder')]], [q('a')], [node('n', 9000, 18)], [j('s/a', 'a'), j('s/b', 'a')],
    many('s/a', 9, 1000, 4) + many('s/b', 9, 3000, 1), {'job_allocated': {'s/a': has(3000, 12, 3), 's/b': has(6000, 2,
    2)}})
case('drf_of_three', [[p('drf', 'jobOrder')]], [q('a')], [node('n', 12000, 12, more={'nvidia.com/gpu': 4})], [j('s/a',
    'a'), j('s/b', 'a'), j('s/c', 'a')], many('s/a', 12, 1000, 1) + many('s/b', 9, 1000, more=gpu) + many('s/c', 9, 0,
    2), {'bind_count': 13, 'job_allocated': {'s/a': has(6000, 6, 6), 's/c': has(0, 6, 3)}})


def pd(name, queues, nodes, tasks, expect):
    cases.append(dict(id='berth.' + name, name=name, system='both', kind='proportion_deserved',
        group='core', queues=queues, nodes=nodes, jobs=[j('s/' + x['name'], x['name']) for x in queues],
        tasks=tasks, expect={'volcano': expect}))


def rv(cpu, mem=0):
    return dict(milli_cpu=cpu, memory=mem * G)


pd('deserved_three', [q('a', 1), q('b', 2), q('c', 3)], [node('n', 12000, 12)], many('s/a', 1,
    1000) + many('s/b', 9, 1000) + many('s/c', 9, 1000), {'a': rv(1000), 'b': rv(4400), 'c': rv(6600)})
pd('deserved_zero_weight', [q('a', 0), q('b', 1)], [node('n', 10000, 10)], many('s/a', 4,
    1000) + many('s/b', 4, 1000), {'a': rv(0), 'b': rv(4000)})
pd('deserved_capability', [q('a', 1, capability=dict(cpu=2000)), q('b', 1)], [node('n', 10000, 10)],
    many('s/a', 9, 1000) + many('s/b', 9, 1000), {'a': rv(2000), 'b': rv(8000)})
pd('deserved_guarantee', [q('a', 1, guarantee=dict(cpu=7000)), q('b', 1)], [node('n', 10000, 10)],
    many('s/a', 9, 1000) + many('s/b', 9, 1000), {'a': rv(7000), 'b': rv(3000)})
pd('deserved_guarantee_above_capability', [q('a', 1, capability=dict(cpu=2000), guarantee=dict(cpu=4000)), q('b', 1)],
    [node('n', 10000, 10)], many('s/a', 9, 1000) + many('s/b', 9, 1000), {'a': rv(4000), 'b': rv(6000)})
pd('deserved_guarantee_unused', [q('a', 1, guarantee=dict(cpu=4000)), q('b', 1)], [node('n', 10000, 10)],
    many('s/a', 1, 1000) + many('s/b', 9, 1000), {'a': rv(4000), 'b': rv(6000)})
pd('deserved_guarantee_without_weight', [q('a', 0, guarantee=dict(cpu=3000)), q('b', 1)], [node('n', 10000, 10)],
    many('s/a', 9, 1000) + many('s/b', 9, 1000), {'a': rv(3000), 'b': rv(7000)})
pd('deserved_without_weights', [q('a', 0), q('b', 0)], [node('n', 10000, 10)], many('s/a', 4, 1000) + many('s/b', 4,
    1000), {'a': rv(0), 'b': rv(0)})
pd('deserved_capability_of_none', [q('a', 1, capability=dict(cpu=0)), q('b', 1)], [node('n', 10000, 10)], many('s/a',
    9, 1000) + many('s/b', 9, 1000), {'a': rv(0), 'b': rv(9000)})
pd('deserved_thirds', [q('a'), q('b'), q('c')], [node('n', 10000, 10)], many('s/a', 9, 1000) + many('s/b', 9,
    1000) + many('s/c', 9, 1000), {x: rv(10000 / 3) for x in 'abc'})
pd('deserved_two_scalars', [q('a', 1), q('b', 3)], [node('n', 10000, 10, more={'nvidia.com/gpu': 8, 'x/fpga': 4})],
    many('s/a', 8, 1000, more={'nvidia.com/gpu': 1}) + many('s/b', 8, 1000, more={'nvidia.com/gpu': 1, 'x/fpga': 1}),
    {'a': dict(milli_cpu=2500, memory=0, scalars={'nvidia.com/gpu': 2000, 'x/fpga': 0}),
    'b': dict(milli_cpu=7500, memory=0, scalars={'nvidia.com/gpu': 6000, 'x/fpga': 4000})})
pd('deserved_of_what_is_nowhere', [q('a', 1, capability={'nvidia.com/gpu': 4}), q('b', 1)], [node('n', 10000, 10)],
    many('s/a', 8, 1000, more={'nvidia.com/gpu': 1}) + many('s/b', 8, 1000), {'a': dict(milli_cpu=5000, memory=0,
    scalars={'nvidia.com/gpu': 0}), 'b': rv(5000)})


def share(name, deserved, allocated, expect):
    cases.append(dict(id='berth.' + name, name=name, system='volcano', kind='capacity_queue_share', group='unit',
        deserved=deserved, allocated=allocated, request={}, expect=expect))


# What `deserved` names counts: of a resource of which none is deserved any is as much as all; the rest counts nothing.
share('share_of_nothing', {}, {}, 1)
share('share_of_no_memory', rv(2000), rv(1000, 1), 1)
share('share_of_no_memory_unused', rv(2000), rv(1000), .5)
share('share_of_gpus', has(2000, 0, 4), has(100, 0, 3), .75)
share('share_of_what_is_not_named', rv(2000, 2), has(1000, 1, 9), .5)
share('share_above_1', rv(1000, 1), rv(3000, 1), 3)
share('share_of_two_scalars', {'milli_cpu': 1000, 'memory': 0, 'scalars': {'nvidia.com/gpu': 4000, 'x/fpga': 2000}},
    {'milli_cpu': 100, 'memory': 0, 'scalars': {'nvidia.com/gpu': 1000, 'x/fpga': 2000}}, 1)
json.dump({'schema_version': 1, 'cases': cases}, sys.stdout)
