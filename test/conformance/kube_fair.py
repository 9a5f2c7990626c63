"""Sessions without gangs, with what is expected worked out by hand from the formulas of kube-batch and Volcano: tiers in
another order, shares of which another resource is the dominant one, weights, guarantees and capabilities, queues within
queues, weights by path, and who ends for whom where no plugin, or only one, says so. Writes them as JSON.
"""
import json
import sys

from kube_write import *

PRIORITY = p('priority', 'jobOrder', 'taskOrder')
DRF = p('drf', 'jobOrder')
BY_SHARE = [[DRF, PREDICATES]]
DESERVED = p('proportion', 'queueOrder', 'allocatable')  # no queue has more than it deserves
IN_TURN = p('proportion', 'queueOrder')  # queues take turns
GPU = 'nvidia.com/gpu'


def counts(**of):
    return {n: dict(milli_cpu=1000 * c, memory=0, scalars=dict(pods=c)) for n, c in of.items()}


def cpu(n):
    return dict(cpu=1000 * n)


def runs(job, n, *amounts, **k):
    return ts(job, n, *amounts, status='Running', **k) if n else []


# a runs 1 of 4 and wants 3, b wants 3 and has the lower priority: the first comparator decides, in one tier or in two.
def order(name, tiers, a, b):
    s(name, [node('n', 4000)], [j('a', priority=10, phase='Running'), j('b')],
      runs('a', 1) + [t(f'a-w{i}', 'a') for i in range(3)] + ts('b', 3), tiers, job_allocated=counts(a=a, b=b))


order('priority_then_drf', [[PRIORITY], [DRF]], 4, 0)
order('drf_then_priority', [[DRF], [PRIORITY]], 2, 2)
order('drf_first_in_a_tier', [[DRF, PRIORITY]], 2, 2)
order('priority_first_in_a_tier', [[PRIORITY, DRF]], 4, 0)
order('drf_that_orders_nothing', [[p('drf')], [PRIORITY]], 4, 0)
order('priority_of_tasks_alone', [[p('priority', 'taskOrder')], [DRF]], 2, 2)
s('tasks_by_priority', [node('n', 1000)], [j('a')], [t('a0', 'a', priority=1), t('a1', 'a', priority=9)],
  [[PRIORITY, PREDICATES]], binds={'a1': 'n'}, bind_count=1)

# One task starts, of the job that has less of its dominant resource.
BOTH = [j('a', phase='Running'), j('b', phase='Running')]
# 5 of 10 G and 1 of 10 CPUs, against 4 of 10 CPUs
s('dominant_memory', [node('n', 10000, 10, 3)], BOTH, [t('ar', 'a', 1000, 'Running', 5), t('br', 'b', 4000, 'Running', 1),
  t('aw', 'a', mem=1), t('bw', 'b', mem=1)], BY_SHARE, binds={'bw': 'n'}, bind_count=1)
# 3 of 5 pods, against 5 of 10 CPUs
s('dominant_pods', [node('n', 10000, 10, 5)], BOTH, runs('a', 3, 100) + [t('br', 'b', 5000, 'Running'), t('aw', 'a', 100),
  t('bw', 'b', 100)], BY_SHARE, binds={'bw': 'n'}, bind_count=1)
# 1 of 2 GPUs, against 4 of 10 CPUs
s('dominant_gpu', [node('n', 10000, 10, more={GPU: 2})], BOTH, [t('ar', 'a', status='Running', more={GPU: 1}),
  t('br', 'b', 4000, 'Running'), t('aw', 'a', 5000), t('bw', 'b', 5000)], BY_SHARE, binds={'bw': 'n'}, bind_count=1)
# What has been given counts, in whatever state; what has ended does not.
for status in ('Bound', 'Binding', 'Allocated'):
    s('has_' + status, [node('n', 3000)], [j('a', phase='Running'), j('b')], [t('ar', 'a', 2000, status), t('aw', 'a'),
      t('bw', 'b')], BY_SHARE, binds={'bw': 'n'}, bind_count=1)
for status in ('Succeeded', 'Failed'):
    s('had_' + status, [node('n', 2000)], BOTH, [t('ar', 'a', 2000, status), t('aw', 'a'), t('br', 'b', status='Running'),
      t('bw', 'b')], BY_SHARE, binds={'aw': 'n'}, bind_count=1)


# Two queues whose jobs ask for so many tasks; what they have at the end.
def two(name, total, asks, have, x=None, y=None, size=1, by=DESERVED):
    got = {n: dict(milli_cpu=1000 * size * c, memory=0, scalars=dict(pods=c)) for n, c in zip('ab', have)}
    s(name, [node('n', 1000 * total, 1000)], [j('a', 'x'), j('b', 'y')],
      ts('a', asks[0], 1000 * size) + ts('b', asks[1], 1000 * size), [[by, PREDICATES]], [q('x', **x or {}), q('y', **y or {})],
      job_allocated=got)


two('who_asks_for_little', 4, (4, 1), (3, 1))
two('half_a_task_is_none', 5, (5, 5), (1, 1), size=2)
two('in_turn_all_of_it', 8, (5, 5), (2, 2), size=2, by=IN_TURN)
two('weights_1_and_3', 8, (9, 9), (2, 6), y=dict(w=3))
two('weights_in_turn', 8, (9, 9), (2, 6), y=dict(w=3), by=IN_TURN)
two('weights_1_and_9', 10, (12, 12), (1, 9), y=dict(w=9))
two('beyond_a_capability', 10, (12, 12), (2, 8), x=dict(capability=cpu(2)))
two('a_capability_beyond_all', 10, (12, 12), (5, 5), x=dict(capability=cpu(20)), by=IN_TURN)
two('a_capability_of_0', 10, (3, 3), (0, 3), x=dict(capability=cpu(0)))
two('a_guarantee_over_a_weight', 10, (12, 12), (4, 6), x=dict(guarantee=cpu(4)), y=dict(w=9))
two('a_guarantee_is_kept_free', 10, (0, 12), (0, 6), x=dict(guarantee=cpu(4)))
two('a_closed_queue_deserves', 4, (3, 3), (0, 2), x=dict(state='Closed'))
two('a_queue_in_no_known_state', 4, (3, 3), (0, 2), x=dict(state='Unknown'))
gpus = [t(f'{job}{i}', job, 100, more={GPU: 1}) for job in 'ab' for i in range(8)]
s('weights_of_gpus', [node('n', 9000, more={GPU: 8})], [j('a', 'x'), j('b', 'y')], gpus, [[DESERVED, PREDICATES]],
  [q('x'), q('y', 3)], job_allocated={n: dict(milli_cpu=100 * c, memory=0, scalars={'pods': c, GPU: 1000 * c})
                                      for n, c in (('a', 2), ('b', 6))})
s('a_capability_of_gpus', [node('n', 9000, more={GPU: 8})], [j('a', 'x')], gpus[:8],
  [[p('capacity', 'queueOrder', 'allocatable'), PREDICATES]], [q('x', capability={GPU: 3})], bind_count=3)
s('beyond_it_in_what_is_not_asked_for', [node('n', 9000, more={GPU: 8})], [j('r', 'x', phase='Running'), j('a', 'x')],
  [t('r0', 'r', 1000, 'Running', more={GPU: 8})] + ts('a', 2), [[p('capacity', 'queueOrder', 'allocatable'), PREDICATES]],
  [q('x', capability={GPU: 4, 'cpu': 9000})], bind_count=2)


# Queues within queues; one job in each that waits.
def tree(name, total, queues, asks, **expect):
    s(name, [node('n', 1000 * total, 1000)], [j('j' + n, n) for n in asks], sum((ts('j' + n, c) for n, c in asks.items()), []),
      [[p('capacity', 'queueOrder', 'allocatable', 'hierarchy'), PREDICATES]], [q('root')] + queues, **expect)


def below(above, n, **k):
    return q(n, parent=above, **{key: cpu(c) for key, c in k.items()})


DEEP = [below('root', 'a', capability=9), below('a', 'aa', capability=7), below('aa', 'aaa', capability=5),
        below('aaa', 'aaaa'), below('a', 'ab')]
NAMED = [below('root', 'a', deserved=4), below('a', 'a1', deserved=3), below('a', 'a2', deserved=1),
         below('root', 'b', deserved=2)]
tree('a_capability_above', 8, [below('root', 'a', capability=4), below('a', 'a1'), below('a', 'a2'), below('root', 'b')],
     dict(a1=8, a2=8, b=3), bind_count=7)
tree('four_levels', 16, DEEP, dict(aaaa=9, ab=9), bind_count=9)
tree('the_least_of_all_above', 16, DEEP, dict(aaaa=9), bind_count=5)
tree('guaranteed_elsewhere', 8, [below('root', 'a', guarantee=3), below('a', 'a1', guarantee=3), below('root', 'b')],
     dict(b=9), bind_count=5)
tree('guaranteed_to_a_sibling', 8, [below('root', 'a', capability=6, guarantee=2), below('a', 'a1', guarantee=2),
     below('a', 'a2')], dict(a2=9), bind_count=4)
APART = [below('root', 'a', deserved=1), below('root', 'b', deserved=3)]
tree('what_they_deserve', 4, APART, dict(a=9, b=9), job_allocated=counts(ja=1, jb=3))
tree('borrows_what_is_left', 4, APART, dict(a=9, b=1), job_allocated=counts(ja=3, jb=1))
tree('who_deserves_nothing_waits', 4, [below('root', 'a'), below('root', 'b', deserved=4)], dict(a=9, b=9),
     job_allocated=counts(ja=0, jb=4))
tree('at_both_levels', 6, NAMED, dict(a1=9, a2=9, b=9), job_allocated=counts(ja1=3, ja2=1, jb=2))
tree('a_sibling_has_it_first', 6, NAMED, dict(a2=9, b=9), job_allocated=counts(ja2=4, jb=2))


# Weights by path.
def paths(name, asks, have):
    of = dict(a=('root/a', '1/1'), c=('root/b/c', '1/2/1'), d=('root/b/d', '1/2/3'))
    s(name, [node('n', 12000, 1000, 1000)], [j('j' + n, n) for n in asks], sum((ts('j' + n, c) for n, c in asks.items()), []),
      [[p('drf', 'hierarchy', 'queueOrder', 'jobOrder'), IN_TURN]],
      [q(n, hierarchy=path, hierarchy_weights=weights) for n, (path, weights) in of.items()],
      job_allocated=counts(**{'j' + n: c for n, c in have.items()}))


paths('by_path', dict(a=20, c=20, d=20), dict(a=4, c=2, d=6))
paths('by_path_without_a_sibling', dict(a=20, c=20), dict(a=4, c=8))
paths('by_path_where_two_are_met', dict(a=1, c=20, d=4), dict(a=1, c=7, d=4))

# Nodes, states and phases.
s('by_label', [node('n1', 4000, labels=dict(z='1')), node('n2', 4000, labels=dict(z='2'))], [j('a')],
  [t('a0', 'a', node_selector=dict(z='2')), t('a1', 'a', node_selector=dict(z='3'))], BY_SHARE, binds={'a0': 'n2'}, bind_count=1)
s('nothing_is_asked_for', [node('n', 4000)], [j('a')], [t('a0', 'a', None)], BY_SHARE, **NOBODY)
s('nothing_is_asked_for_and_backfilled', [node('n', 4000)], [j('a')], [t('a0', 'a', None)], BY_SHARE,
  actions=('allocate', 'backfill'), binds={'a0': 'n'}, bind_count=1)
s('what_is_ending_is_not_free', [node('n', 2000)], [j('r', phase='Running'), j('a')], [t('r0', 'r', status='Releasing')] +
  ts('a', 2), BY_SHARE, bind_count=1)
s('a_queue_that_is_not_there', [node('n', 2000)], [j('a', 'nowhere'), j('b')], ts('a', 1) + ts('b', 1), BY_SHARE,
  binds={'b-0': 'n'}, bind_count=1)
s('nobody_is_to_let_in', [node('n', 2000)], [j('a', phase='Pending')], ts('a', 1), BY_SHARE, bind_count=1)


# Who ends for a job of higher priority in its queue. A plugin has to say who may, and that the job is in need.
def evicts(n):
    return dict(evict_count=n) if isinstance(n, int) else dict(evict_count=len(n), evicts=n)


STOPS = p('priority', 'jobOrder', 'taskOrder', 'preemptable', 'jobStarving')


def ends(name, who, high=None, low=None, tiers=[[STOPS, PREDICATES]], priority=1, total=2, queue='q'):
    s(name, [node('n', 1000 * total)], [j('l', queue, phase='Running', priority=priority), j('h', priority=9)],
      (low or runs('l', 2)) + (high or ts('h', 1)), tiers, [q('q'), q('z')], actions=('preempt',), **evicts(who))


ends('one_for_one', 1)
ends('two_for_two', 2, ts('h', 2))
ends('not_of_the_same_priority', [], priority=9)
ends('not_of_a_higher_one', [], priority=10)
ends('not_where_it_fits', [], total=3)
ends('one_beside_what_is_idle', 1, [t('h0', 'h', 2000)], total=3)
ends('not_of_another_queue', [], queue='z')
ends('not_for_a_task_that_never_fits', [], [t('h0', 'h', 3000)])
ends('nobody_is_in_need', [], tiers=[[p('priority', 'jobOrder', 'taskOrder', 'preemptable'), PREDICATES]])
ends('no_plugin_says_who_may', [], tiers=[[p('priority', 'jobOrder', 'taskOrder', 'jobStarving'), PREDICATES]])
ends('who_is_never_to_end', ['l-1'], low=[t('l-0', 'l', status='Running', preemptable=False), t('l-1', 'l', status='Running')])
ends('a_veto_of_a_later_tier', ['l-1'], tiers=[[STOPS], [p('conformance', 'preemptable'), PREDICATES]],
     low=[t('kube-system/l', 'l', status='Running'), t('l-1', 'l', status='Running')])
ends('the_task_of_least_priority', ['l-1'], low=[t(f'l-{i}', 'l', status='Running', priority=7 - 4 * i) for i in range(2)])


# Who ends for a queue that has less than it deserves: a of x runs so many of 4, b of y wants some.
def gives(name, who, has=4, asks=1, x=None, y=None, tiers=None, others=()):
    s(name, [node('n', 4000)], [j('a', 'x', phase='Running'), j('b', 'y')] + [job for job, _ in others],
      runs('a', has) + ts('b', asks) + sum((tasks for _, tasks in others), []), tiers or [[
          p('priority', 'jobOrder', 'jobStarving'), p('proportion', 'queueOrder', 'reclaimable', 'preemptive', 'allocatable'),
          PREDICATES]], [q('x', **x or {}), q('y', **y or {})], actions=('reclaim',), **evicts(who))


gives('one_that_borrows', 1)
gives('two_that_borrow', 2, asks=2)
gives('no_more_than_is_deserved', 2, asks=3)
gives('by_weights_1_and_3', 3, asks=4, y=dict(w=3))
gives('not_what_is_guaranteed', 1, asks=4, x=dict(guarantee=cpu(3)))
gives('not_beyond_its_capability', 1, asks=4, y=dict(capability=cpu(1)))
gives('a_closed_queue_takes_nothing', [], y=dict(state='Closed'))
gives('a_queue_that_gives_nothing', [], x=dict(reclaimable=False))
gives('one_is_idle', [], has=3)
gives('it_has_what_it_deserves', [], has=2, others=[(j('z', 'y', phase='Running'), runs('z', 2))])
for name, plugins in (('no_plugin_gives', (p('priority', 'jobStarving'), p('proportion', 'queueOrder', 'preemptive'))),
                      ('no_queue_is_in_need', (p('proportion', 'queueOrder', 'reclaimable', 'preemptive'),))):
    gives(name, [], tiers=[[*plugins, PREDICATES]])


def tree_gives(name, who, running, waiting):
    s(name, [node('n', 6000, 1000)], [j('r' + n, n, phase='Running') for n in running] + [j('w' + n, n) for n in waiting],
      sum((runs('r' + n, c) for n, c in running.items()), []) + sum((ts('w' + n, c) for n, c in waiting.items()), []),
      [[p('capacity', 'allocatable', 'preemptive', 'reclaimable', 'queueOrder', 'hierarchy'), PREDICATES,
        p('priority', 'jobStarving')]], [q('root')] + NAMED, actions=('reclaim',), **evicts(who))


tree_gives('from_a_sibling', 3, dict(a2=4, b=2), dict(a1=3))
tree_gives('from_another_branch', 3, dict(b=6), dict(a1=3))
tree_gives('nobody_borrows', [], dict(a1=3, a2=1, b=2), dict(a1=2))
tree_gives('it_has_its_own', [], dict(a1=3, b=3), dict(a1=1))
tree_gives('its_sibling_has_its_own', 1, dict(a1=3, b=3), dict(a2=1))


# kube-batch: no pods are counted, and nobody says that a job is in need.
def old(name, total, jobs, tasks, weights=(1, 1), tiers=None, actions=('allocate',), **expect):
    s(name, [node('n', 1000 * total, total)], jobs, tasks, tiers or [[
        DRF, p('proportion', 'queueOrder', 'reclaimable'), PREDICATES]],
      [dict(name=n, weight=w) for n, w in zip('xy', weights)], actions, 'kube-batch', **expect)


def has(c):
    return dict(milli_cpu=1000 * c, memory=c * G)


old('old_weights_1_and_2', 6, [j('a', 'x'), j('b', 'y')], ts('a', 9, mem=1) + ts('b', 9, mem=1), (1, 2),
    job_allocated=dict(a=has(2), b=has(4)))
old('old_catches_up', 6, [j('a', 'x', phase='Running'), j('b', 'y')], runs('a', 3, mem=1) + [t('w', 'a', mem=1)] +
    ts('b', 9, mem=1), (1, 2), job_allocated=dict(a=has(3), b=has(3)))
old('old_reclaim', 4, [j('a', 'x', phase='Running'), j('b', 'y')], runs('a', 4, mem=1) + ts('b', 1, mem=1),
    actions=('reclaim',), **evicts(1))
old('old_reclaim_for_two', 4, [j('a', 'x', phase='Running'), j('b', 'y'), j('c', 'y')], runs('a', 4, mem=1) +
    ts('b', 1, mem=1) + ts('c', 1, mem=1), actions=('reclaim',), **evicts(2))
old('old_reclaim_of_nothing', 4, [j('a', 'x', phase='Running'), j('z', 'y', phase='Running'), j('b', 'y')],
    runs('a', 2, mem=1) + runs('z', 2, mem=1) + ts('b', 1, mem=1), actions=('reclaim',), **evicts([]))
for name, low, functions, who in (('old_priority', 1, ('jobOrder', 'preemptable'), 1),
                                  ('old_equal_priority', 5, ('jobOrder', 'preemptable'), []),
                                  ('old_without_a_say', 1, ('jobOrder',), [])):
    old(name, 2, [j('a', 'x', phase='Running', priority=low), j('b', 'x', priority=5)], runs('a', 2, mem=1) +
        ts('b', 1, mem=1), tiers=[[p('priority', *functions), PREDICATES]], actions=('preempt',), **evicts(who))
json.dump(dict(schema_version=1, cases=cases), sys.stdout)
