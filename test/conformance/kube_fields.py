"""Cases of kube-batch's kinds whose fields are rare, left out or odd, with what is expected worked out by hand: priorities
by class, tasks of no job, votes in several tiers, amounts that are no round ones, queues by path, weights of 0. Writes them
as JSON.
"""
import json
import sys

from kube_write import *

GANGS = p('gang', 'jobOrder', 'jobReady', 'jobPipelined', 'jobStarving', 'preemptable', 'reclaimable')
PRIORITY = p('priority', 'jobOrder', 'taskOrder', 'preemptable', 'jobPipelined', 'jobStarving')
CONFORMANCE = p('conformance', 'preemptable', 'reclaimable')
CAPACITY = p('capacity', 'queueOrder', 'allocatable', 'reclaimable', 'preemptive', 'jobEnqueued')
BY_PRIORITY = [[p('priority', 'jobOrder', 'taskOrder')], [PREDICATES]]
GPU = 'nvidia.com/gpu'


def n(cpu=1000, name='n', **k):
    return node(name, cpu, **k)


def run(job, m, cpu=1000, **k):
    return [t(f'{job}r{i}', job, cpu, 'Running', **k) for i in range(m)]


def has(pods=None, **cores):
    return {a: dict(milli_cpu=1000 * c, memory=0, scalars=dict(pods=c)) for a, c in cores.items()}


def on(*names):
    return dict(binds={x: 'n' for x in names}, bind_count=len(names))


# ---- Priorities: the job's, or its class's, or else 0; of tasks, 1 ----


def classes(name, a, b, first, of_task=(None, None), **values):
    """Two jobs with a task each, of which one has room."""
    tasks = [t(f'{x}0', x, **({} if c is None else c)) for x, c in zip('ab', of_task)]
    s('class_' + name, [n()], [j('a', **a), j('b', **b)], tasks, BY_PRIORITY, extra=dict(priority_classes=values),
      **on(first + '0'))


classes('alone', dict(priority_class='low'), dict(priority_class='high'), 'b', low=5, high=50)
classes('and_number', dict(priority_class='high', priority=1), dict(priority=2), 'b', high=50)
classes('none', {}, dict(priority_class='high'), 'b', high=1)
classes('below_0', dict(priority_class='low'), {}, 'b', low=-5)
classes('not_there', dict(priority_class='gone'), dict(priority=1), 'b')
classes('negative', dict(priority=-1), dict(priority=-2), 'a')
s('class_of_tasks', [n()], [j('a')], [t('a0', 'a', priority=0), t('a1', 'a')], BY_PRIORITY, **on('a1'))
s('class_of_who_ends', [n(2000)], [j('l', priority_class='low'), j('h', least=1, priority_class='high')],
  run('l', 2) + ts('h', 1), [[CONFORMANCE, GANGS, PRIORITY], [PREDICATES]], actions=('preempt',),
  extra=dict(priority_classes=dict(low=1, high=9)), evict_count=1, bind_count=0)

# ---- What runs on a node is in use, whoever's it is ----

lost = [t('x0', 'gone', status='Running')]
s('orphan_runs', [n(2000)], [j('a')], lost + ts('a', 2), bind_count=1)
s('orphan_waits', [n(2000)], [j('a')], [t('x0', 'gone')] + ts('a', 2), **on('a-0', 'a-1'))
s('orphan_ends', [n(2000)], [j('a', least=1)], [t('x0', 'gone', 2000, 'Releasing')] + ts('a', 1), pipelined={'a': ['n']},
  **NOBODY)
s('orphan_is_stopped_for_nobody', [n()], [j('h', least=1, priority=9)], lost + ts('h', 1),
  [[CONFORMANCE, GANGS, PRIORITY], [PREDICATES]], actions=('preempt',), evict_count=0)
s('no_queue_runs', [n(2000)], [j('a'), j('x', 'gone')], run('x', 1) + ts('a', 2), bind_count=1)
s('no_queue_waits', [n(2000)], [j('a'), j('x', 'gone')], ts('x', 1) + ts('a', 1), **on('a-0'))
s('no_pod_is_left_by_orphans', [n(9000, pods=2)], [j('a')], lost + ts('a', 2), bind_count=1)
s('runs_nowhere', [n()], [j('a')], [t('a1', 'a', status='Running', on='gone')] + ts('a', 1), **on('a-0'))

# ---- Votes on who is let in: of the first tier in which a plugin has a say, all are to agree ----

PROPORTION_IN = p('proportion', 'jobEnqueued')
OVER = p('overcommit', 'jobEnqueued')
QUOTA = p('resourcequota', 'jobEnqueued')


def votes(name, tiers, into, queue=None, cpu=4, asks=3, quotas=None, **k):
    s('votes_' + name, [n(1000 * cpu)], [j('ns/a', phase='Pending', min_resources=dict(cpu=1000 * asks), **k)], [], tiers,
      [q('q', **(queue or {}))], ('enqueue',), extra=dict(namespace_quotas=quotas) if quotas else None,
      job_phase={'ns/a': 'Inqueue' if into else 'Pending'})


SMALL = dict(capability=dict(cpu=1000))
votes('one_tier_both', [[OVER, PROPORTION_IN]], False, SMALL)
votes('the_first_tier', [[OVER], [PROPORTION_IN]], True, SMALL)
votes('the_first_tier_rejects', [[PROPORTION_IN], [OVER]], False, SMALL)
votes('the_first_tier_has_no_say', [[GANG], [PROPORTION_IN]], False, SMALL)
votes('of_three_tiers', [[p('priority', 'jobOrder')], [PROPORTION_IN], [OVER]], True, cpu=2, asks=2)
votes('of_three_tiers_the_second', [[p('priority', 'jobOrder')], [OVER], [PROPORTION_IN]], False, asks=5)
votes('a_fifth_more', [[OVER]], True, cpu=5, asks=6)
votes('a_fifth_more_and_no_more', [[PROPORTION_IN, OVER]], False, cpu=5, asks=6)
HARD = [dict(name='x', namespace='ns', hard=dict(cpu=2000), used=None)]
votes('a_quota', [[QUOTA]], False, quotas=HARD)
votes('a_quota_in_tier_2', [[OVER], [QUOTA]], True, quotas=HARD)
votes('the_quota_of_another', [[QUOTA]], True, quotas=[dict(HARD[0], namespace='other')])
votes('a_quota_of_memory', [[QUOTA]], True, quotas=[dict(HARD[0], hard=dict(memory=1))])
votes('a_quota_used_in_part', [[QUOTA]], False, asks=2, quotas=[dict(HARD[0], used=dict(cpu=1))])
votes('nobody_is_asked', [[GANG]], True, SMALL)
votes('a_factor_of_0', [[p('overcommit', 'jobEnqueued', **{'overcommit-factor': 0})]], True, cpu=5, asks=6)
votes('a_factor_as_text', [[p('overcommit', 'jobEnqueued', **{'overcommit-factor': '2'})]], True, cpu=5, asks=10)

# ---- Amounts that are no round ones ----

for m, count in ((333, 3), (334, 2), (1000, 1), (1001, 0)):
    s(f'amount_of_{m}', [n(1000)], [j('a')], ts('a', 3, m), bind_count=count)
ODD = 1000000007
for m, count in ((333333335, 3), (333333336, 2)):
    s(f'amount_of_{m}', [dict(name='n', allocatable=dict(cpu=9000, memory=ODD, pods=9))], [j('a')],
      [dict(x, request=dict(cpu=1, memory=m)) for x in ts('a', 3)], bind_count=count)
s('amount_of_nothing_named', [n()], [j('a')], [dict(x, request=dict(cpu=500, memory=0, **{GPU: 0})) for x in ts('a', 2)],
  bind_count=2)
s('amount_of_what_is_nowhere', [n()], [j('a'), j('b')], [dict(ts('a', 1)[0], request={GPU: 1})] + ts('b', 1), **on('b-0'))
s('amount_of_two_kinds', [n(9000, more={'a/a': 3, 'b/b': 1})], [j('a')], [
    t(f'a{i}', 'a', more={'a/a': 1, 'b/b': i % 2}) for i in range(4)], bind_count=3)
s('amount_of_gpus_for_a_gang', [n(9000, 'n1', more={GPU: 3}), n(9000, 'n2', more={GPU: 3})], [j('a', least=3), j('b', least=2)],
  ts('a', 3, more={GPU: 2}) + ts('b', 2, more={GPU: 2}), bind_count=2, job_allocated=dict(
      a=dict(milli_cpu=0, memory=0), b=dict(milli_cpu=2000, memory=0, scalars={GPU: 4000, 'pods': 2})))
s('amount_without_pods', [dict(name='n', allocatable=dict(cpu=9000, memory=G))], [j('a')], ts('a', 1), **NOBODY)

# ---- Min, phases and queues ----

s('min_above_tasks', [n(9000)], [j('a', least=3), j('b', least=1)], ts('a', 2) + ts('b', 1), **on('b-0'))
s('min_is_left_out', [n()], [{k: v for k, v in j('a').items() if k != 'min_available'}], ts('a', 2), bind_count=1)
s('phase_is_left_out', [n()], [dict(name='a', queue='q')], ts('a', 1), **on('a-0'))
s('phase_pending', [n()], [j('a', phase='Pending')], ts('a', 1), **on('a-0'))
s('weight_and_state_are_left_out', [n()], [j('a')], ts('a', 1), [[GANG], [PREDICATES, PROPORTION]], [dict(name='q')],
  **on('a-0'))
s('no_tasks', [n()], [j('a', least=1), j('b')], ts('b', 1), **on('b-0'))
s('no_jobs', [n()], [], [], **NOBODY)
s('no_tiers', [n()], [j('a', least=2)], ts('a', 2), [], bind_count=1)
s('tiers_with_nothing', [n()], [j('a', least=2)], ts('a', 2), [[], [p('gang')], []], bind_count=1)
s('no_actions', [n()], [j('a')], ts('a', 1), actions=(), **NOBODY)

# ---- What queues may have of each resource ----


def may(name, capability, tasks, count, by=PROPORTION, **queue):
    s('may_' + name, [n(8000, more={GPU: 8})], [j('a')], tasks, [[GANG], [PREDICATES, by]],
      [q('q', capability=capability, **queue)], bind_count=count)


for kind, by in (('weight', PROPORTION), ('name', CAPACITY)):
    may(f'no_gpu_by_{kind}', {GPU: 0}, ts('a', 2, more={GPU: 1}) + [t('a9', 'a')], 1, by)
    may(f'two_gpus_by_{kind}', {GPU: 2}, ts('a', 4, more={GPU: 1}), 2, by)
    may(f'two_pods_by_{kind}', dict(pods=2), ts('a', 4), 2, by)
    may(f'the_least_of_all_by_{kind}', {GPU: 6, 'cpu': 3000, 'memory': 2 * G}, ts('a', 4, mem=1, more={GPU: 1}), 2, by)
    may(f'nothing_said_by_{kind}', {}, ts('a', 9), 8, by)
for state, count in (('Open', 1), ('Closed', 0), ('Closing', 0), ('Unknown', 0)):
    may('in_state_' + state, {}, ts('a', 1), count, state=state)

# ---- Queues by path: siblings by their weights, level by level ----

HDRF = [[p('drf', 'hierarchy', 'queueOrder', 'jobOrder'), p('proportion', 'queueOrder')]]


def paths(name, total, queues, asks, **cores):
    """Each queue: a path and weights. Tasks ask for a core, or (`m`) for a GB."""
    s('path_' + name, [node('n', 1000 * total, total, 500)], [j('j' + x, x) for x in queues],
      [t(f'j{x}-{i}', 'j' + x, 1000 if 'c' in kind else 0, mem='m' in kind) for x, (m, kind) in asks.items()
       for i in range(m)], HDRF, [q(x, hierarchy=path, hierarchy_weights=weights) for x, (path, weights) in queues.items()],
      job_allocated={'j' + x: dict(milli_cpu=1000 * c, memory=m * G, scalars=dict(pods=max(c, m)))
                     for x, (c, m) in cores.items()})


paths('two_levels', 12, dict(a=('root/x/a', '100/60/3'), b=('root/x/b', '100/60/1'), c=('root/c', '100/30')),
      dict(a=(20, 'c'), b=(20, 'c'), c=(20, 'c')), a=(6, 0), b=(2, 0), c=(4, 0))
paths('one_wants_little', 10, dict(a=('root/a', '1/1'), b=('root/x/b', '1/1/1'), c=('root/x/c', '1/1/1')),
      dict(a=(20, 'c'), b=(1, 'c'), c=(20, 'c')), a=(5, 0), b=(1, 0), c=(4, 0))
# Below x one wants cores and one memory: half of each, and so has a, who wants both.
paths('two_resources', 10, dict(a=('root/a', '100/50'), b=('root/x/b', '100/50/50'), c=('root/x/c', '100/50/50')),
      dict(a=(10, 'cm'), b=(10, 'c'), c=(10, 'm')), a=(5, 5), b=(5, 0), c=(0, 5))
paths('three_levels', 8, dict(a=('root/x/y/a', '1/1/1/1'), b=('root/x/y/b', '1/1/1/1'), c=('root/x/c', '1/1/1'),
                              d=('root/d', '1/1')), dict.fromkeys('abcd', (8, 'c')), a=(1, 0), b=(1, 0), c=(2, 0), d=(4, 0))
json.dump(dict(schema_version=1, cases=cases), sys.stdout)
