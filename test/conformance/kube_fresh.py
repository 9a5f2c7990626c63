"""Cases of all of kube-batch's kinds, each of two or more rules, with what is expected worked out by hand from the words of the
reference alone. Writes them as JSON.
"""
import json
import sys

from kube_write import *

GPU = 'nvidia.com/gpu'
GANGS = p('gang', 'jobOrder', 'jobReady', 'jobPipelined', 'jobStarving', 'preemptable', 'reclaimable')
PRIORITY = p('priority', 'jobOrder', 'taskOrder', 'preemptable', 'jobPipelined', 'jobStarving')
CONFORMANCE = p('conformance', 'preemptable', 'reclaimable')
CAPACITY = p('capacity', 'queueOrder', 'allocatable', 'reclaimable', 'preemptive', 'jobEnqueued')
TREE = p('capacity', 'queueOrder', 'allocatable', 'reclaimable', 'preemptive', 'jobEnqueued', 'hierarchy')
DRF = p('drf', 'jobOrder')
PREEMPT = [[CONFORMANCE, GANGS, PRIORITY], [PREDICATES]]
BY_NAME = [[CAPACITY, PREDICATES, p('gang', 'jobStarving')]]
IN_TREE = [[TREE, PREDICATES, p('gang', 'jobStarving')]]
BY_WEIGHT = [[CONFORMANCE, GANGS], [PREDICATES, PROPORTION]]


def n(cpu=4000, name='n', **k):
    return node(name, cpu, **k)


def run(job, m, cpu=1000, **k):
    return [t(f'{job}r{i}', job, cpu, 'Running', **k) for i in range(m)]


def on(node, *names):
    return dict(binds={x: node for x in names}, bind_count=len(names))


def add(kind, name, system='volcano', **k):
    cases.append(dict(id='berth.fresh_' + name, name=name, kind=kind, system=system, group='unit', **k))


def f(name, nodes, jobs, tasks, tiers=PLAIN, queues=None, actions=('allocate',), system='volcano', extra=None, **expect):
    s('fresh_' + name, nodes, jobs, tasks, tiers, queues, actions, system, extra, **expect)


# ---- Pods, and tasks that ask for nothing else ----

# Every task asks for a pod too: a node with 3 pods has room for three of the five, whatever they ask for besides.
f('pods_of_a_node', [n(pods=3)], [j('a')], ts('a', 5, 500), bind_count=3)
f('pods_of_a_node_are_too_few_for_a_gang', [n(pods=3)], [j('a', least=4), j('b', least=2)], ts('a', 4, 500) + ts('b', 2, 500),
  **on('n', 'b-0', 'b-1'))
f('pods_of_two_nodes', [n(name='n1', pods=1), n(name='n2', pods=2)], [j('a', least=3)], ts('a', 3, 100), bind_count=3)
# kube-batch counts pods in the plugin predicates alone.
f('pods_of_kube_batch', [n(pods=1)], [j('a')], ts('a', 3, 500), [[GANG], [PREDICATES]], system='kube-batch', bind_count=1)
f('pods_of_kube_batch_uncounted', [n(pods=1)], [j('a')], ts('a', 3, 500), [[GANG]], system='kube-batch', bind_count=3)
# What runs and asks for nothing has a pod as well.
f('pods_in_use', [n(pods=2)], [j('r'), j('a')], [t('r0', 'r', None, 'Running')] + ts('a', 2), bind_count=1)
# A task that asks for nothing counts towards the min while it waits (kind job_readiness): the other one starts at once.
MIXED = [t('a0', 'a'), t('a1', 'a', None)]
f('nothing_asked_counts_towards_the_min', [n()], [j('a', least=2)], MIXED, **on('n', 'a0'))
f('nothing_asked_fills_up', [n()], [j('a', least=2)], MIXED, actions=('allocate', 'backfill'), **on('n', 'a0', 'a1'))
f('nothing_asked_counts_not_where_the_other_has_no_room', [n(500)], [j('a', least=2)], MIXED, **NOBODY)
f('nothing_asked_before_the_higher', [n(pods=1)], [j('a'), j('b')], [t('a0', 'a', None), t('b0', 'b')],
  actions=('backfill', 'allocate'), **on('n', 'a0'))

# ---- Gangs, roles, and what has begun ----

f('gang_of_two_kinds_of_nodes', [n(2000, 'n1', labels=dict(k='x')), n(2000, 'n2', labels=dict(k='y'))], [j('a', least=3)],
  [t('a0', 'a', node_selector=dict(k='x')), t('a1', 'a', node_selector=dict(k='x')), t('a2', 'a', 2000, node_selector=dict(k='y'))],
  binds=dict(a0='n1', a1='n1', a2='n2'), bind_count=3)
f('gang_of_two_kinds_of_nodes_one_full', [n(2000, 'n1', labels=dict(k='x')), n(2000, 'n2', labels=dict(k='y'))],
  [j('r'), j('a', least=3)], run('r', 1, on='n2') +
  [t('a0', 'a', node_selector=dict(k='x')), t('a1', 'a', node_selector=dict(k='x')), t('a2', 'a', 2000, node_selector=dict(k='y'))],
  **NOBODY)
# The worker that runs counts for its role: one more worker and the server are missing.
ROLES = dict(min_task_available=dict(ps=1, w=2))
f('role_in_part', [n(3000)], [j('a', least=3, **ROLES)], run('a', 1, role='w') + [t('p', 'a', role='ps'), t('w', 'a', role='w')],
  **on('n', 'p', 'w'))
f('role_in_part_no_room', [n(2000)], [j('a', least=3, **ROLES)], run('a', 1, role='w') + [t('p', 'a', role='ps'), t('w', 'a', role='w')],
  **NOBODY)
f('role_succeeded', [n(1000)], [j('a', least=3, **ROLES)],
  [t('w0', 'a', status='Succeeded', role='w'), t('w1', 'a', status='Succeeded', role='w'), t('p', 'a', role='ps')], **on('n', 'p'))
# The first gang by priority has no room, and is in nobody's way; the second one takes its min, and the third what is left.
f('gangs_by_priority', [n(5000)], [j('a', least=6, priority=9), j('b', least=3, priority=5), j('c', least=1)],
  ts('a', 6) + ts('b', 3) + ts('c', 4), [[PRIORITY, GANGS], [PREDICATES]], bind_count=5,
  binds={**{f'b-{i}': 'n' for i in range(3)}, 'c-0': 'n', 'c-1': 'n'})
# A job without its min comes before one that has it, whatever its share.
f('gang_before_share', [n(4000)], [j('a', phase='Running'), j('b', least=2)], run('a', 2) + ts('a', 2) + ts('b', 2),
  [[GANG], [DRF, PREDICATES]], **on('n', 'b-0', 'b-1'))
# By shares alone: a has 1 of 6 and b 3 of 6, so a is given two.
f('share_by_gpu', [n(9000, more={GPU: 6})], [j('a'), j('b')],
  [t('ar', 'a', 100, 'Running', more={GPU: 1}), t('br', 'b', 100, 'Running', more={GPU: 3})] +
  ts('a', 3, 100, more={GPU: 1}) + ts('b', 3, 100, more={GPU: 1}), [[DRF, PREDICATES]], **on('n', 'a-0', 'a-1'))
f('priority_before_share', [n(4000)], [j('a', priority=1), j('b')], run('a', 3) + ts('a', 1) + ts('b', 1),
  [[PRIORITY], [DRF, PREDICATES]], **on('n', 'a-0'))
f('share_before_priority', [n(4000)], [j('a', priority=1), j('b')], run('a', 3) + ts('a', 1) + ts('b', 1),
  [[DRF, PREDICATES], [PRIORITY]], **on('n', 'b-0'))

# ---- Which node: who is nominated, taints, labels ----

# It may start on either; n2 is named for it.
f('nominated', [n(name='n1'), n(name='n2')], [j('a', least=1)], [t('a0', 'a', nominated_node='n2')], **on('n2', 'a0'))
f('nominated_but_full', [n(1000, 'n1'), n(1000, 'n2')], [j('r'), j('a', least=1)], run('r', 1, on='n2') +
  [t('a0', 'a', nominated_node='n2')], **on('n1', 'a0'))
f('nominated_but_gone', [n(1000, 'n1')], [j('a', least=1)], [t('a0', 'a', nominated_node='n9')], **on('n1', 'a0'))
TAINT = [dict(key='k', value='v', effect='NoSchedule')]
f('taint_and_a_gang', [n(2000, 'n1', taints=TAINT), n(2000, 'n2')], [j('a', least=3), j('b')], ts('a', 3) + ts('b', 1), **on('n2', 'b-0'))
f('taint_and_who_ends', [n(1000, 'n1', taints=TAINT), n(1000, 'n2')], [j('l'), j('h', least=1, priority=9)],
  [t('l1', 'l', status='Running', on='n1'), t('l2', 'l', status='Running', on='n2', priority=5), t('h0', 'h')], PREEMPT,
  actions=('preempt',), evicts=['l2'], evict_count=1)
ZONES = [n(1000, 'n1', labels=dict(z='1')), n(1000, 'n2', labels=dict(z='2'))]
# On n1 there is who has the lowest priority, but on n2 alone the task may run.
f('selector_and_who_ends', ZONES, [j('l', priority=1), j('m', priority=2), j('h', least=1, priority=9)],
  run('l', 1, on='n1') + run('m', 1, on='n2') + [t('h0', 'h', node_selector=dict(z='2'))], PREEMPT, actions=('preempt',),
  evicts=['mr0'], evict_count=1)
f('selector_and_whose_queue', ZONES, [j('x', 'a'), j('y', 'b', 1)], run('x', 2, on='n1')[:1] +
  [t('x2', 'x', status='Running', on='n2'), t('y0', 'y', node_selector=dict(z='2'))], BY_WEIGHT, [q('a'), q('b')], ('reclaim',),
  evicts=['x2'], evict_count=1)

# ---- Who ends in a queue ----


def ends(name, cpu, low, waiting, evicts, least=1, needs=0, actions=('preempt',), tiers=PREEMPT, queue=None, more=(), **expect):
    f('ends_' + name, [n(cpu, **expect.pop('node', {}))], [j('l', least=needs, phase='Running', priority=1), j('h', least=least, priority=9)] + list(more),
      low + waiting, tiers, [queue or q('q')], actions,
      **(dict(evict_count=evicts) if isinstance(evicts, int) else dict(evicts=evicts, evict_count=len(evicts))), **expect)


ends('one_beside_what_is_idle', 3000, run('l', 2), ts('h', 1, 2000), 1)
ends('one_beside_what_is_ending', 3000, run('l', 2) + [t('le', 'l', status='Releasing')], ts('h', 1, 2000), 1)
ends('none_beside_what_is_ending', 3000, run('l', 2) + [t('le', 'l', status='Releasing')], ts('h', 1), 0)
# The task of the lowest priority ends first.
ends('the_lowest_task', 3000, [t('l0', 'l', status='Running', priority=7), t('l1', 'l', status='Running', priority=3),
                               t('l2', 'l', status='Running', priority=5)], ts('h', 1), ['l1'])
ends('the_lowest_two', 3000, [t('l0', 'l', status='Running', priority=7), t('l1', 'l', status='Running', priority=3),
                              t('l2', 'l', status='Running', priority=5)], ts('h', 1, 2000), ['l1', 'l2'])
ends('none_may', 2000, run('l', 2, preemptable=False), ts('h', 1), 0)
ends('who_may', 2000, run('l', 1, preemptable=False) + [t('l9', 'l', status='Running')], ts('h', 1), ['l9'])
ends('two_but_one_may', 2000, run('l', 1, preemptable=False) + [t('l9', 'l', status='Running')], ts('h', 2), 0, 2)
ends('what_is_surplus', 4000, run('l', 4), ts('h', 2), 2, 2, 2)
ends('more_than_is_surplus', 4000, run('l', 4), ts('h', 3), 0, 3, 2)
# Nobody for a queue that may not have more: 3 of 3 are in use, and one that ends makes room for one.
CAPPED = dict(tiers=[[CONFORMANCE, GANGS, PRIORITY], [PREDICATES, PROPORTION]])
ends('within_the_capability', 9000, run('l', 3), ts('h', 1), 1, queue=q('q', capability=dict(cpu=3000)), **CAPPED)
ends('beyond_the_capability', 9000, run('l', 3), ts('h', 1, 4000), 0, queue=q('q', capability=dict(cpu=3000)), **CAPPED)
GPUS = dict(node=dict(more={GPU: 2}))
ends('who_has_a_gpu', 9000, [t('l0', 'l', 4000, 'Running'), t('l1', 'l', 100, 'Running', more={GPU: 2})], [t('h0', 'h', more={GPU: 1})],
     ['l1'], **GPUS)
ends('starts_on_what_is_idle', 4000, run('l', 2), ts('h', 2), 0, 2, actions=('allocate', 'preempt'), bind_count=2)
ends('starts_in_part', 3000, run('l', 2), ts('h', 2), 1, 2, actions=('allocate', 'preempt'), bind_count=0)
ends('of_the_system', 2000, [t('kube-system/s', 'l', status='Running'), t('l1', 'l', status='Running', priority=50)], ts('h', 1), ['l1'])
ends('nobody_above', 2000, run('m', 2), ts('h', 1), 0, more=[j('m', priority=20)])

# ---- Who gives to another queue ----


def gives(name, tasks, waiting, evicts, x=None, y=None, least=1, needs=0, cpu=4000, tiers=BY_WEIGHT, more=(), queues=(),
          actions=('reclaim',), node=None, **expect):
    f('gives_' + name, [n(cpu, **(node or {}))], [j('x', 'a', needs, 'Running'), j('y', 'b', least)] + list(more), tasks + waiting, tiers,
      [q('a', **(x or {})), q('b', **(y or {}))] + list(queues), actions,
      **(dict(evict_count=evicts) if isinstance(evicts, int) else dict(evicts=evicts, evict_count=len(evicts))), **expect)


gives('to_its_half', run('x', 4), ts('y', 2), 2, least=2)
gives('not_beyond_its_half', run('x', 4), ts('y', 3), 0, least=3)
gives('to_three_quarters', run('x', 4), ts('y', 3), 3, least=3, y=dict(w=3))
gives('nothing_of_its_guarantee', run('x', 4), ts('y', 2), 0, least=2, x=dict(guarantee=dict(cpu=3000)))
gives('beyond_its_guarantee', run('x', 4), ts('y', 1), 1, x=dict(guarantee=dict(cpu=3000)))
gives('nothing_as_it_is_said', run('x', 4), ts('y', 1), 0, x=dict(reclaimable=False))
gives('of_queues_of_which_one_gives_nothing', run('x', 3) + run('z', 3), ts('y', 1), 1, x=dict(reclaimable=False), cpu=6000,
      more=[j('z', 'c')], queues=[q('c')])
gives('what_is_surplus', run('x', 4), ts('y', 2), 2, least=2, needs=2)
gives('what_is_surplus_alone', run('x', 4), ts('y', 2), 0, least=2, needs=3)
gives('for_none_that_may_not_have_it', run('x', 4), ts('y', 2), 0, least=2, y=dict(capability=dict(cpu=1000)))
gives('where_it_is_closed', run('x', 4), ts('y', 1), 0, y=dict(state='Closing'))
gives('also_where_it_is_closed_itself', run('x', 4), ts('y', 1), 1, x=dict(state='Closed'))
gives('of_memory', [t(f'x{i}', 'x', 100, 'Running', mem=2) for i in range(4)], [t('y0', 'y', 100, mem=2)], 1)
gives('beside_what_is_idle', run('x', 3), ts('y', 1, 2000), 1)
gives('nothing_as_it_is_idle', run('x', 2), ts('y', 2), 0, least=2)
gives('and_starts_what_is_idle', run('x', 2), ts('y', 2), 0, least=2, actions=('reclaim', 'allocate'), bind_count=2)

# ---- By name: what queues deserve, of each resource ----

DESERVE = [q('a', deserved=dict(cpu=2000)), q('b', deserved=dict(cpu=2000))]


def named(name, tasks, waiting, evicts, a=None, b=None, least=1, cpu=4000, more=(), queues=(), node=None, actions=('allocate', 'reclaim'), **expect):
    """Queue a deserves and has, b deserves and waits."""
    gives('by_name_' + name, tasks, waiting, evicts, dict(deserved=a or dict(cpu=2000)) | expect.pop('x', {}),
          dict(deserved=b or dict(cpu=2000)) | expect.pop('y', {}), least, 0, cpu, BY_NAME, more, queues, actions, node, **expect)


named('two', run('x', 4), ts('y', 2), 2, least=2)
# It starves as long as it has less than its min of 1.
named('borrowed_for_its_min_only', run('x', 4), ts('y', 4), 1)
named('none_of_what_it_deserves', run('x', 2), ts('y', 1, 4000), 0, b=dict(cpu=4000), a=dict(cpu=2000))
WITH = dict(node=dict(more={GPU: 4}))
G4 = [t(f'x{i}', 'x', 100, 'Running', more={GPU: 1}) for i in range(4)]
named('a_gpu', G4 + [t('x9', 'x', 3000, 'Running')], [t('y0', 'y', 100, more={GPU: 1})], 1, a={'cpu': 4000, GPU: 2}, b={'cpu': 100, GPU: 2}, **WITH)
# Each is entitled to all that it deserves, also where that is 5 of 4; and what is beyond that is taken.
named('no_gpu_of_what_it_deserves', G4, [t('y0', 'y', 100, more={GPU: 1})], 0, a={'cpu': 400, GPU: 4}, b={'cpu': 100, GPU: 1}, **WITH)
named('a_gpu_beyond_more_than_there_is', G4, ts('y', 2, 100, more={GPU: 1}), 1, a={'cpu': 400, GPU: 3}, b={'cpu': 200, GPU: 2}, **WITH)
named('cores_of_less_than_is_deserved', run('x', 4), ts('y', 1), 0, a=dict(cpu=5000), b=dict(cpu=3000))
# It deserves GPUs and nothing else: who has one is asked for that, and has no more of them; who has none goes.
named('nobody_with_a_gpu', [t('x0', 'x', 4000, 'Running', more={GPU: 1})], ts('y', 1), 0, a={GPU: 1}, **WITH)
named('who_has_no_gpu', [t('x0', 'x', 3000, 'Running', more={GPU: 1}), t('x1', 'x', status='Running')], ts('y', 1), ['x1'], a={GPU: 1}, **WITH)
named('guaranteed', run('x', 4), ts('y', 2), 1, x=dict(guarantee=dict(cpu=3000)), actions=('reclaim',))
named('more_than_it_may_have', run('x', 4), ts('y', 1, 2000), 0, y=dict(capability=dict(cpu=1000)))
named('borrows_what_is_idle', run('x', 1), ts('y', 3), 0, least=3, bind_count=3)
named('borrows_up_to_what_it_may_have', run('x', 1), ts('y', 3), 0, y=dict(capability=dict(cpu=2000)), bind_count=2)

# ---- Queues in queues ----


def tree(name, cpu, queues, jobs, tasks, actions=('enqueue', 'reclaim', 'allocate'), node=None, **expect):
    f('tree_' + name, [n(cpu, **(node or {}))], jobs, tasks, IN_TREE, [q('root')] + queues, actions, **expect)


def d(name, parent='root', deserved=None, capability=None, **k):
    return q(name, parent=parent, **({} if deserved is None else dict(deserved=dict(cpu=deserved))),
             **({} if capability is None else dict(capability=dict(cpu=capability))), **k)


SIBLINGS = [d('p', deserved=4000, capability=4000), d('p1', 'p', 2000), d('p2', 'p', 2000)]
tree('sibling_gives', 8000, SIBLINGS, [j('x', 'p1', 1, 'Running'), j('y', 'p2', 1)], run('x', 4) + ts('y', 1), evict_count=1)
tree('sibling_gives_nothing_it_deserves', 8000, SIBLINGS, [j('x', 'p1', 1, 'Running'), j('y', 'p2', 1)], run('x', 2) + ts('y', 1, 3000),
     evict_count=0)
tree('parent_is_full', 8000, SIBLINGS, [j('x', 'p1', 1, 'Running'), j('y', 'p2', 1)], run('x', 2) + run('y', 2) + ts('y', 1),
     evict_count=0, bind_count=0)
tree('parent_lets_one_in', 8000, [d('p', capability=3000), d('p1', 'p'), d('p2', 'p')],
     [j('x', 'p1', 1, 'Pending', min_resources=dict(cpu=2000)), j('y', 'p2', 1, 'Pending', min_resources=dict(cpu=2000))], [],
     ('enqueue',), job_phase=dict(x='Inqueue', y='Pending'))
tree('parent_lets_both_in', 8000, [d('p', capability=4000), d('p1', 'p'), d('p2', 'p')],
     [j('x', 'p1', 1, 'Pending', min_resources=dict(cpu=2000)), j('y', 'p2', 1, 'Pending', min_resources=dict(cpu=2000))], [],
     ('enqueue',), job_phase=dict(x='Inqueue', y='Inqueue'))
tree('two_levels_limit', 8000, [d('p', capability=3000), d('p1', 'p'), d('p11', 'p1', capability=9000)], [j('x', 'p11')], ts('x', 5),
     bind_count=3)
tree('other_branch_gives', 4000, [d('p', deserved=2000), d('p1', 'p', 2000), d('r', deserved=2000), d('r1', 'r', 2000)],
     [j('x', 'p1', 1, 'Running'), j('y', 'r1', 2)], run('x', 4) + ts('y', 2), evict_count=2)
# The sibling has borrowed; the nearer one gives.
tree('the_nearer_gives', 6000, [d('p', deserved=4000), d('p1', 'p', 2000), d('p2', 'p', 2000), d('r', deserved=1000), d('r1', 'r', 1000)],
     [j('x', 'p1', 1, 'Running'), j('z', 'r1', 1, 'Running'), j('y', 'p2', 1)], run('x', 3) + run('z', 3) + ts('y', 1),
     evict_count=1, evicts_from_job='x')
tree('guaranteed_to_a_sibling', 4000, [d('p', capability=4000), d('p1', 'p'), d('p2', 'p', guarantee=dict(cpu=1000))], [j('x', 'p1')],
     ts('x', 5), bind_count=3)

# Of GPUs it has no more than it deserves, and of cores nothing is said; then of GPUs it has.
GPUS_ALONE = [q('p', parent='root', deserved={GPU: 2}), q('p1', parent='p', deserved={GPU: 1})]
tree('cores_of_who_deserves_gpus', 4000, GPUS_ALONE + [d('r', deserved=2000), d('r1', 'r', 2000)], [j('x', 'p1', 1, 'Running'), j('y', 'r1', 1)],
     [t('x0', 'x', 4000, 'Running', more={GPU: 1})] + ts('y', 1), node=dict(more={GPU: 2}), evict_count=0)
tree('gpus_beyond', 4000, [q(x, parent=of, deserved={GPU: 1}) for x, of in (('p', 'root'), ('p1', 'p'), ('r', 'root'), ('r1', 'r'))],
     [j('x', 'p1', 1, 'Running'), j('y', 'r1', 1)], run('x', 2, more={GPU: 1}) + ts('y', 1, more={GPU: 1}), node=dict(more={GPU: 2}), evict_count=1)

# ---- Who is let in ----


def let_in(name, cpu, jobs, tasks, queue, *into, tiers=((PROPORTION,),), **k):
    f('in_' + name, [n(cpu)], jobs, tasks, [list(x) for x in tiers], [queue], ('enqueue',),
      job_phase={x['name']: 'Inqueue' if x['name'] in into else x['phase'] if x['phase'] != 'Inqueue' else 'Inqueue' for x in jobs}, **k)


def pending(name, cpu, **k):
    return j(name, phase='Pending', min_resources=dict(cpu=1000 * cpu), **k)


FOUR = q('q', capability=dict(cpu=4000))
R1 = j('r', least=1, phase='Running', min_resources=dict(cpu=1000))
let_in('beside_what_is_elastic', 9000, [R1, pending('a', 3)], run('r', 3), FOUR, 'a')
let_in('not_beside_more', 9000, [R1, pending('a', 4)], run('r', 3), FOUR)
R3 = j('r', least=3, phase='Running', min_resources=dict(cpu=3000))
let_in('not_beside_what_is_still_to_start', 9000, [R3, pending('a', 2)], run('r', 1) + ts('r', 2), FOUR)
let_in('beside_what_is_still_to_start', 9000, [R3, pending('a', 1)], run('r', 1) + ts('r', 2), FOUR, 'a')
let_in('what_names_nothing', 1000, [dict(pending('a', 1), min_resources={}), R1], run('r', 1), q('q', capability=dict(cpu=1000)), 'a')
let_in('one_that_is_in', 9000, [j('i', min_resources=dict(cpu=3000)), pending('a', 2)], [], FOUR)
OVER = p('overcommit', 'jobEnqueued')
let_in('beyond_what_there_is', 10000, [R1, pending('a', 11)], run('r', 1), q('q'), 'a', tiers=((OVER,),))
let_in('not_beyond_a_fifth_more', 10000, [R1, pending('a', 12)], run('r', 1), q('q'), tiers=((OVER,),))
let_in('each_by_what_is_left', 10000, [pending('a', 7, priority=1), pending('b', 6), pending('c', 5)], [], q('q'), 'a', 'c',
       tiers=((OVER, PRIORITY),))

# Who is let in after the others have had their turns starts in the next session.
ONE = pending('a', 1, least=1)
ENQUEUE = dict(tiers=[[GANG], [PREDICATES, PROPORTION]], job_phase=dict(a='Inqueue'))
f('in_and_started', [n()], [ONE], ts('a', 1), actions=('enqueue', 'allocate'), bind_count=1, **ENQUEUE)
f('started_and_in', [n()], [ONE], ts('a', 1), actions=('allocate', 'enqueue'), bind_count=0, **ENQUEUE)
f('in_beside_one_that_was', [n()], [ONE, j('b')], ts('a', 1) + ts('b', 1), actions=('allocate', 'enqueue'), **ENQUEUE, **on('n', 'b-0'))

# ---- Deadlines, queues by priority, and two actions ----

SLA = p('sla', 'jobOrder', 'jobEnqueued', **{'sla-waiting-time': '1h'})


def waits_at_most(name, **k):
    return j(name, annotations={'sla-waiting-time': k.pop('at_most')}, **k)


f('the_soonest_of_three', [n(1000)], [j('a'), waits_at_most('b', at_most='2h'), waits_at_most('c', at_most='30m')],
  ts('a', 1) + ts('b', 1) + ts('c', 1), [[SLA], [PREDICATES]], **on('n', 'c-0'))
f('as_soon_by_priority', [n(1000)], [j('b'), waits_at_most('a', at_most='1h', priority=1)], ts('a', 1) + ts('b', 1),
  [[SLA, PRIORITY], [PREDICATES]], **on('n', 'a-0'))
for x, z, from_job in ((1, 5, 'x'), (5, 1, 'z')):
    f(f'of_the_queue_below_{from_job}', [n(6000)], [j('x', 'a', 0, 'Running'), j('z', 'c', 0, 'Running'), j('y', 'b', 1)],
      run('x', 3) + run('z', 3) + ts('y', 1), BY_NAME, [q(name, deserved=dict(cpu=2000), priority=of) for name, of in
                                                        (('a', x), ('b', 0), ('c', z))], ('reclaim',), evict_count=1,
      evicts_from_job=from_job)
f('each_in_its_queue', [n(2000)], [j('l', 'a', priority=1), j('m', 'b', priority=1), j('h', 'a', 1, priority=9), j('i', 'b', 1, priority=9)],
  run('l', 1) + run('m', 1) + ts('h', 1) + ts('i', 1), PREEMPT, [q('a'), q('b')], ('preempt',), evicts=['lr0', 'mr0'], evict_count=2)
f('a_node_that_suffices', [n(2000, 'n1'), n(2000, 'n2')], [j('l', priority=1), j('h', least=1, priority=9)],
  [t('l0', 'l', status='Running', on='n1'), t('l1', 'l', status='Running', on='n1'), t('l2', 'l', 2000, 'Running', on='n2'), t('h0', 'h', 2000)],
  PREEMPT, actions=('preempt',), evicts=['l2'], evict_count=1)
tree('gpus_of_the_parent', 4000, [q('p', parent='root', capability={GPU: 2}), d('p1', 'p')], [j('x', 'p1')], ts('x', 4, 100, more={GPU: 1}),
     node=dict(more={GPU: 4}), bind_count=2)
tree('closed', 4000, [d('p'), d('p1', 'p', state='Closed')], [j('x', 'p1')], ts('x', 1), **NOBODY)

# ---- Nodes by several plugins: the scores add up ----

LIKES = dict(affinity=dict(NodeAffinity=dict(PreferredDuringSchedulingIgnoredDuringExecution=[
    dict(Weight=1, Preference=dict(MatchExpressions=[dict(Key='z', Operator='In', Values=['1'])]))])))
SOFT = [dict(key='k', value='v', effect='PreferNoSchedule')]
ALIKE = {'leastrequested.weight': 0, 'balancedresource.weight': 0}
# By default 2 for what tasks prefer and 3 for taints: n1, which it likes, is tainted.
f('nodes_by_default', [n(name='n1', labels=dict(z='1'), taints=SOFT), n(name='n2', labels=dict(z='2'))], [j('a')], [t('a0', 'a', **LIKES)],
  [[GANG], [PREDICATES, p('nodeorder', 'nodeOrder', **ALIKE)]], **on('n2', 'a0'))
f('nodes_by_default_one_less', [n(name='n1', labels=dict(z='1'), taints=SOFT), n(name='n2', labels=dict(z='2'))], [j('a')], [t('a0', 'a', **LIKES)],
  [[GANG], [PREDICATES, p('nodeorder', 'nodeOrder', **ALIKE, **{'tainttoleration.weight': 1})]], **on('n1', 'a0'))
# kube-batch has no score for taints.
f('nodes_of_kube_batch', [n(name='n1', labels=dict(z='1'), taints=SOFT), n(name='n2', labels=dict(z='2'))], [j('a')], [t('a0', 'a', **LIKES)],
  [[GANG], [PREDICATES, p('nodeorder', 'nodeOrder', **ALIKE)]], system='kube-batch', **on('n1', 'a0'))

# ---- Kinds of formulas ----


def deserve(name, cpu, queues, asks, expect, kb=None, mem=None):
    full = lambda w: {x: dict(milli_cpu=c, memory=m * G) for x, (c, m) in w.items()}
    add('proportion_deserved', 'deserve_' + name, 'both', queues=queues, nodes=[node('n', cpu, cpu // 1000 if mem is None else mem)],
        jobs=[j('j' + x, x) for x in asks], tasks=[x for y, m in asks.items() for x in ts('j' + y, m, mem=1)],
        expect={'volcano': full(expect), 'kube-batch': full(kb or expect)})


deserve('three_weights', 12000, [q('a'), q('b', 2), q('c', 3)], dict(a=10, b=10, c=3), dict(a=(3000, 3), b=(6000, 6), c=(3000, 3)))
deserve('no_job', 12000, [q('a'), q('b', 2), q('c', 3)], dict(a=20, b=20), dict(a=(4000, 4), b=(8000, 8)))
deserve('more_than_all_ask_for', 12000, [q('a'), q('b')], dict(a=2, b=3), dict(a=(2000, 2), b=(3000, 3)))
deserve('a_guarantee_that_is_met', 12000, [q('a', 5, guarantee=dict(cpu=2000, memory=2 * G)), q('b')], dict(a=20, b=20),
        dict(a=(10000, 10), b=(2000, 2)))
# a may have 3 of the memory: what it leaves is b's, of which each dimension is given out on its own.
deserve('a_capability_of_one', 12000, [q('a', capability=dict(memory=3 * G)), q('b')], dict(a=20, b=20), dict(a=(6000, 3), b=(6000, 9)),
        dict(a=(6000, 6), b=(6000, 6)))


def share(name, deserved, allocated, is_):
    cpu = lambda c, m, **more: dict(milli_cpu=c, memory=m * G, **(dict(scalars=more) if more else {}))
    add('capacity_queue_share', 'share_' + name, deserved=cpu(*deserved[:2], **(deserved[2] if deserved[2:] else {})),
        allocated=cpu(*allocated[:2], **(allocated[2] if allocated[2:] else {})), request=cpu(9000, 9), expect=is_)


share('of_gpus', (4000, 4, {GPU: 4000}), (1000, 1, {GPU: 3000}), 0.75)
share('of_gpus_not_deserved', (4000, 4), (1000, 1, {GPU: 3000}), 0.25)
share('beyond', (4000, 4, {GPU: 2000}), (4000, 2, {GPU: 5000}), 2.5)
share('of_nothing_taken', (4000, 4, {GPU: 2000}), (0, 0), 0.0)


def enqueueable(name, factor, cpu, asks, into, used=(), quotas=None, steps='for each job: call JobEnqueued(job) (adds minResources to inqueue) THEN ask JobEnqueueable(job)', **k):
    plugin = p('overcommit', 'jobEnqueued', **{'overcommit-factor': factor}) if factor else p('resourcequota', 'jobEnqueued')
    add('enqueueable', 'enqueueable_' + name, config=dict(actions=[], tiers=[[plugin]]), queues=[q('q')],
        nodes=[dict(name='n', allocatable=dict(cpu=cpu, memory=8 * G))] if cpu else [], jobs=[j('ns/a', min_resources=dict(cpu=asks))],
        tasks=list(used), steps=steps, expect=dict(enqueueable=into), **(dict(namespace_quotas=quotas) if quotas else {}))


# It is reserved for as it is Inqueue, is told again, and asks.
enqueueable('three_times_just', 1.2, 10000, 4000, True)
enqueueable('three_times_too_much', 1.2, 10000, 4001, False)
enqueueable('a_factor', 2, 10000, 6666, True)
enqueueable('a_factor_below_1', 0.5, 10000, 4000, True)
enqueueable('a_factor_below_1_too_much', 0.5, 10000, 4001, False)
enqueueable('beside_use', 1.2, 10000, 3000, True, [t('r', 'r', 3000, 'Running')])
enqueueable('beside_too_much_use', 1.2, 10000, 3000, False, [t('r', 'r', 3001, 'Running')])


def quota(name, asks, into, *quotas):
    enqueueable('quota_' + name, None, 0, asks, into, quotas=[dict(name=f'q{i}', namespace=ns, hard=dict(cpu=hard), used=used and dict(cpu=used))
                                                              for i, (ns, hard, used) in enumerate(quotas)], steps='ask JobEnqueueable(job)')


quota('used', 1500, True, ('ns', 2000, 500))
quota('used_up', 1501, False, ('ns', 2000, 500))
quota('of_two', 1500, False, ('ns', 2000, None), ('ns', 1000, None))
quota('of_another', 1500, True, ('other', 1000, None), ('ns', 1500, None))


def voted(name, victims, *tiers, who='abc', **k):
    add('victim_tiers', 'voted_' + name, candidates=list(who), tiers=[[dict(plugin=x, vote=vote, victims=v and list(v)) for x, vote, v in tier]
                                                                      for tier in tiers], expect=dict(victims=list(victims)), **k)


voted('second_tier', 'b', [('p', 0, None)], [('r', 1, 'b')])
voted('one_abstains', 'bc', [('p', 0, None), ('r', 1, 'bc')])
voted('three_in_a_tier', 'b', [('p', 1, 'ab'), ('r', 1, 'bc'), ('u', 1, 'b')])
voted('all_abstain', '', [('p', 0, None)], [('r', 0, None)])


def revoked(name, victims, zones, n_run, n_kept=0, **annotations):
    add('victim_count', 'revoked_' + name, flags=['wall_clock'], config=dict(actions=[], tiers=[[p('tdm', 'victim', **{
        **{f'tdm.revocable-zone.{z}': x for z, x in zones.items()}, 'tdm.evict.period': '1s'})]]), queues=[q('q')],
        nodes=[node('n', 16000, labels={'volcano.sh/revocable-zone': 'rz1'})], jobs=[j('a', annotations={
            'volcano.sh/jdb-' + k.replace('_', '-'): v for k, v in annotations.items()})],
        tasks=run('a', n_run) + [t(f'k{i}', 'a', status='Running', preemptable=False) for i in range(n_kept)], expect=dict(victims=victims))


CLOSED, OPEN = '0:00-0:01', '0:00-0:00'
revoked('at_most_1', 1, dict(rz1=CLOSED), 4, max_unavailable='1')
revoked('a_quarter_of_4', 1, dict(rz1=CLOSED), 4, max_unavailable='25%')
revoked('two_thirds_stay', 3, dict(rz1=CLOSED), 10, min_available='66%')       # 6.6: 7 stay
revoked('not_open_ones', 0, dict(rz1=OPEN, rz2=CLOSED), 4, max_unavailable='100%')
revoked('all_that_may', 2, dict(rz1=CLOSED), 2, 3, max_unavailable='100%')


def readiness(name, least, best_effort, ready, pipelined, starving, *statuses):
    """Tasks of these statuses; those in small letters ask for nothing."""
    add('job_readiness', 'readiness_' + name, min_available=least, tasks=[dict(name=f't{i}', status=x.capitalize(), best_effort=x[0].islower())
                                                                         for i, x in enumerate(statuses)],
        expect=dict(pending_best_effort=best_effort, ready=ready, pipelined=pipelined, starving=starving))


readiness('one_less', 4, 1, False, True, False, 'pending', 'Running', 'Running', 'Pipelined', 'Pipelined')
readiness('succeeded', 2, 0, True, True, False, 'Succeeded', 'Bound', 'Pending')
readiness('failed', 2, 0, False, False, True, 'Failed', 'Running', 'Pending')
readiness('nothing_asked_alone', 2, 2, True, True, True, 'pending', 'pending')
readiness('a_min_of_0', 0, 0, True, True, False, 'Pending')


def plugin_order(name, all_wait, one, other, less, into=True):
    add('plugin_order_and_enqueue', 'order_' + name, plugin='sla', arguments={'sla-waiting-time': all_wait} if all_wait else {},
        jobs=[dict(name=x, waiting_time_s=w, creation=c) for x, (w, c) in zip(('job1', 'job2'), (one, other))],
        expect={'job_order_less(job1,job2)': less, 'enqueueable(job1)': into})


plugin_order('no_deadline', None, (None, 0), (3600, 0), False)
plugin_order('the_sooner', None, (60, 0), (3600, 0), True)
plugin_order('for_all', '1h', (7200, 0), (None, 0), False)
plugin_order('created_later', None, (100, 500), (300, 0), False)              # 600 and 300

# ---- Several cycles ----


def cycles(name, cpu, queue, tiers, *steps):
    add('multi_cycle', 'cycles_' + name, config=dict(tiers=tiers), queues=[queue], nodes=[n(cpu)], cycles=[
        dict(actions=actions, add_jobs=jobs, add_tasks=tasks, expect=dict(binds={x: 'n' for x in binds})) for actions, jobs, tasks, binds in steps])


IN = [[p('capacity', 'allocatable', 'jobEnqueued'), GANG, PREDICATES]]
cycles('rest_of_a_gang', 9000, FOUR, IN, (['allocate'], [j('a', least=2)], ts('a', 3), ['a-0', 'a-1', 'a-2']),
       (['enqueue', 'allocate'], [j('b', least=2, phase='Pending', min_resources=dict(cpu=2000))], ts('b', 2), []),
       (['enqueue', 'allocate'], [j('c', least=1, phase='Pending', min_resources=dict(cpu=1000))], ts('c', 1), ['c-0']))
cycles('a_gang_waits_whole', 3000, q('q'), [[GANG, PREDICATES]], (['allocate'], [j('a', least=2)], ts('a', 2), ['a-0', 'a-1']),
       (['allocate'], [j('b', least=2), j('c', least=1)], ts('b', 2) + ts('c', 1), ['c-0']), (['allocate'], [], [], []))

# ---- The seed's scenarios ----


def seed(name, nodes, jobs, *steps, mode='preemption', threshold=3600, **k):
    add('seed_scenario', 'seed_' + name, 'seed-001', config=dict(actions=['reclaim', 'allocate', 'preempt', 'backfill'], backfill=True,
                                                                mode=mode, starvation_threshold_s=threshold), queues=[q('q')],
        nodes=[dict(name=x, allocatable=dict(cpu=c)) for x, c in nodes.items()], jobs=jobs,
        cycles=[dict(at_s=at, **({'finish': done} if done else {}), expect=expect) for at, done, expect in steps])


def sj(name, least=1, m=1, cpu=1000, at=0, fills=False, priority=0, on=None):
    return dict(name=name, queue='q', min_available=least, priority=priority, created_s=at, **(dict(backfill_eligible=True) if fills else {}),
                tasks=[dict(name=f'{name}/{i}', request=dict(cpu=cpu), **(dict(status='Running', node=on) if on else {})) for i in range(m)])


# A waits for three of which two are there; who may be stopped runs there, who may not does not.
seed('only_who_may', dict(n1=3000), [sj('x', at=-9, on='n1'), sj('A', 3, 3, priority=9), sj('B', at=1, fills=True), sj('C', at=2)],
     (10, [], dict(readiness=dict(A='NotReady'), backfill_tasks=['B/0'])))
seed('two_fill', dict(n1=3000), [sj('x', at=-9, on='n1'), sj('A', 3, 3, priority=9), sj('B', at=1, fills=True), sj('C', at=2, fills=True)],
     (10, [], dict(binds={'B/0': 'n1', 'C/0': 'n1'}, backfill_tasks=['B/0', 'C/0'], backfilled={'n1': dict(cpu=2000)},
                   accessible={'n1': dict(cpu=2000)})),
     (20, ['x/0'], dict(readiness=dict(A='ConditionallyReady'), evicts=['B/0', 'C/0'], binds={})))
seed('ready_beside', dict(n1=2000, n2=2000), [sj('x', at=-9, on='n1'), sj('A', 3, 3, priority=9), sj('B', at=1)],
     (10, [], dict(readiness=dict(A='Ready'), binds={'A/0': 'n1', 'A/1': 'n2', 'A/2': 'n2'})))
seed('starves_over_two_nodes', dict(n1=1000, n2=1000), [sj('x', at=-9, on='n1'), sj('y', at=-9, on='n2'), sj('A', 2, 2), sj('B', at=1)],
     (61, ['x/0'], dict(starving=['A'], binds={}, reserved={'A': {'n1': dict(cpu=1000)}})), (90, ['y/0'], dict(binds={'A/0': 'n1', 'A/1': 'n2'})),
     threshold=60)
seed('one_second_less', dict(n1=2000), [sj('x', at=-9, on='n1'), sj('A', cpu=2000), sj('B', at=1)], (59, [], dict(starving=[], binds={'B/0': 'n1'})),
     threshold=60)
json.dump(dict(schema_version=1, cases=cases), sys.stdout)
