"""Cases of kube-batch's kinds in which several rules meet, with what is expected worked out by hand: gangs in queues with
weights, guarantees and parts that they deserve, actions in several orders, and nodes that not all tasks may use. Writes them
as JSON.
"""
import json
import sys

from kube_write import *

GANGS = p('gang', 'jobOrder', 'jobReady', 'jobPipelined', 'jobStarving', 'preemptable', 'reclaimable')
PRIORITY = p('priority', 'jobOrder', 'taskOrder', 'preemptable', 'jobPipelined', 'jobStarving')
CONFORMANCE = p('conformance', 'preemptable', 'reclaimable')
CAPACITY = p('capacity', 'queueOrder', 'allocatable', 'reclaimable', 'preemptive', 'jobEnqueued')
BY_WEIGHT = [[PRIORITY, GANGS], [PREDICATES, PROPORTION]]


def n(cpu, name='n', **k):
    return node(name, cpu, **k)


def run(job, m, cpu=1000, **k):
    return [t(f'{job}r{i}', job, cpu, 'Running', **k) for i in range(m)]


def has(**cores):
    return {a: dict(milli_cpu=1000 * c, memory=0, scalars=dict(pods=c)) for a, c in cores.items()}


# ---- Gangs in queues: a gang starts if all of its min is within what its queue deserves and may have ----


def weighs(name, jobs, tasks, x=None, y=None, **expect):
    s('weighs_' + name, [n(8000)], jobs, tasks, BY_WEIGHT, [q('x', **(x or {})), q('y', **(y or {}))], **expect)


weighs('two_gangs', [j('a', 'x', 2), j('b', 'y', 2)], ts('a', 8) + ts('b', 8), y=dict(w=3), bind_count=8,
       job_allocated=has(a=2, b=6))
weighs('more_than_its_part', [j('a', 'x', 3), j('b', 'y', 2)], ts('a', 3) + ts('b', 8), y=dict(w=3), bind_count=6,
       job_allocated=has(a=0, b=6))
weighs('more_than_it_may_have', [j('a', 'x', 4)], ts('a', 4), dict(capability=dict(cpu=3000)), **NOBODY)
weighs('what_is_guaranteed', [j('a', 'x', 7)], ts('a', 7), y=dict(guarantee=dict(cpu=2000)), **NOBODY)
weighs('beside_what_is_guaranteed', [j('a', 'x', 6)], ts('a', 7), y=dict(guarantee=dict(cpu=2000)), bind_count=6)


def let_in(name, other, starts, **expect):
    """Two jobs ask for 2 of 4, and for more."""
    s('let_in_' + name, [n(4000)], [j('a', 'q', 2, 'Pending', min_resources=dict(cpu=2000)),
                                    j('b', 'q', other, 'Pending', min_resources=dict(cpu=1000 * other))],
      ts('a', 2) + ts('b', 3), [[GANGS], [PREDICATES, PROPORTION]], actions=('enqueue', 'allocate'), bind_count=starts,
      **expect)


let_in('one', 3, 2, job_phase=dict(b='Pending'))
let_in('both', 2, 4)

# ---- Actions in several orders: who may end is a matter of the actions, not of their order ----

# h is above l in queue a, which has all and deserves 3 of 4; y of queue b deserves 1. With h the queue is to be within what
# it deserves, so two end for h alone.
for name, evicts in (('reclaim allocate preempt', 2), ('allocate preempt reclaim', 2), ('preempt reclaim', 2),
                     ('allocate preempt', 2), ('allocate reclaim', 1), ('allocate', 0), ('backfill', 0)):
    s('acts_' + name.replace(' ', '_'), [n(4000)], [j('l', 'a', 1, 'Running', priority=1), j('h', 'a', 1, priority=10),
                                                    j('y', 'b', 1)],
      run('l', 4) + ts('h', 1) + ts('y', 1), [[CONFORMANCE, GANGS, PRIORITY], [PREDICATES, PROPORTION]], [q('a'), q('b')],
      name.split(), evict_count=evicts, bind_count=0)


def fills(name, tasks, least, starts, *actions, nodes=None):
    s('fills_' + name, nodes or [n(2000)], [j('a', least=least)], tasks, actions=actions, bind_count=starts)


NOTHING = [t(f'a{i}', 'a', None) for i in range(2)]
fills('what_asks_for_nothing', NOTHING[:1] + [t('b0', 'a')], 1, 1, 'backfill')
fills('a_gang_that_asks_for_nothing', NOTHING, 2, 2, 'backfill')
fills('too_few_pods', NOTHING, 2, 0, 'backfill', nodes=[n(2000, pods=1)])
fills('first', NOTHING[:1] + [t('b0', 'a')], 2, 2, 'backfill', 'allocate')
fills('without_the_other', NOTHING[:1] + [t('b0', 'a')], 2, 0, 'allocate', 'backfill', nodes=[n(500)])

# ---- Nodes that not all tasks may use ----

ZONES = [n(2000, f'n{i}', labels=dict(z=str(i), size=str(10 * i))) for i in (1, 2, 3)]


def on(*terms):
    """Each term: a key, a sign and values, joined by what follows in it."""
    return dict(affinity=dict(NodeAffinity=dict(RequiredDuringSchedulingIgnoredDuringExecution=dict(NodeSelectorTerms=[
        dict(MatchExpressions=[dict(Key=k, Operator=sign, Values=list(v)) for k, sign, *v in term]) for term in terms]))))


def zones(name, least, m, starts, *terms):
    s('zones_' + name, ZONES, [j('a', least=least)], [t(f'a{i}', 'a', **on(*terms)) for i in range(m)], bind_count=starts)


zones('a_gang', 3, 3, 3, [('z', 'In', '1', '3')])
zones('too_large_a_gang', 5, 5, 0, [('z', 'In', '1', '3')])
zones('larger_ones', 1, 5, 4, [('size', 'Gt', '15')])
zones('one_or_the_other', 1, 5, 4, [('z', 'In', '1')], [('size', 'Gt', '25')])
zones('both_at_once', 1, 5, 2, [('z', 'Exists'), ('size', 'Lt', '15')])
s('zones_of_roles', ZONES, [j('a', least=3, min_task_available=dict(ps=1, w=2))],
  [t('p0', 'a', role='ps', node_selector=dict(z='2'))] +
  [t(f'w{i}', 'a', 2000, role='w', **on([('z', 'NotIn', '2')])) for i in range(2)], bind_count=3)

# ---- Who ends on several nodes, and for what is short ----


def ends(name, nodes, low, high, evicts, least=1, needs=0):
    s('ends_' + name, nodes, [j('l', least=needs, phase='Running', priority=1), j('h', least=least, priority=10)], low + high,
      [[CONFORMANCE, GANGS, PRIORITY], [PREDICATES]], actions=('preempt',), evict_count=evicts)


TWO = [n(2000, 'n1'), n(2000, 'n2')]
LARGE = [t(f'l{i}', 'l', 2000, 'Running', on=f'n{i}') for i in (1, 2)]
ends('both', TWO, LARGE, ts('h', 2, 2000), 2, 2)
ends('none_of_both', TWO, LARGE, ts('h', 2, 2000), 0, 2, 1)
ends('for_memory', [n(4000, mem=4)], run('l', 2, mem=2), [t('h0', 'h', mem=2)], 1)
GPU = {'vendor/gpu': 1}
ends('for_a_gpu', [n(8000, more={'vendor/gpu': 2})], run('l', 2, more=GPU) + [t('l9', 'l', status='Running')],
     [t('h0', 'h', more=GPU)], 1)

# ---- Gangs and what queues deserve by name ----


def deserves(name, queues, jobs, tasks, actions=('reclaim',), **expect):
    s('deserves_' + name, [n(8000)], jobs, tasks, [[CONFORMANCE, GANGS], [PREDICATES, CAPACITY]],
      [q(x, deserved=dict(cpu=cpu), **more) for x, cpu, more in queues], actions, **expect)


HALVES = [('a', 4000, {}), ('b', 4000, {})]
KEEPS = [('a', 2000, dict(guarantee=dict(cpu=2000))), ('b', 6000, {})]


def takes(name, queues, least, needs, evicts):
    deserves(name, queues, [j('x', 'a', needs, 'Running'), j('y', 'b', least)], run('x', 8) + ts('y', least),
             evict_count=evicts)


takes('two_for_a_gang', HALVES, 2, 1, 2)
takes('nothing_for_more_than_that', HALVES, 5, 1, 0)
takes('all_but_what_is_guaranteed', KEEPS, 6, 1, 6)
takes('none_if_a_gang_keeps_more', KEEPS, 6, 3, 0)
deserves('of_both_that_have_more', [('a', 2000, {}), ('b', 2000, {}), ('c', 4000, {})],
         [j('x', 'a', 1, 'Running'), j('z', 'b', 1, 'Running'), j('y', 'c', 3)], run('x', 5) + run('z', 3) + ts('y', 3),
         evict_count=3)
for name, queues, x in (('a_queue_above', [('a', 4000, dict(priority=1)), ('b', 4000, dict(priority=5))], 0),
                        ('by_what_they_deserve', [('a', 2000, {}), ('b', 6000, {})], 2)):
    deserves(name, queues, [j('x', 'a', 1), j('y', 'b', 1)], ts('x', 8) + ts('y', 8), ('allocate',), bind_count=8,
             job_allocated=has(x=x, y=8 - x))

# ---- Who ends, of several jobs, for one or several: a job is its name, its min and its priority ----


def among(name, cpu, jobs, tasks, evicts, tiers=None, system='volcano', queue=None):
    s('among_' + name, [n(cpu)], [j(x, (queue or {}).get(x, 'q'), least, priority=priority) for x, least, priority in jobs],
      tasks, tiers or [[CONFORMANCE, GANGS, PRIORITY], [PREDICATES]], [q('q'), q('r')], ('preempt',), system,
      **(dict(evict_count=evicts) if isinstance(evicts, int) else dict(evicts=evicts, evict_count=len(evicts))))


LOW, HIGH = ('l', 0, 1), ('h', 1, 10)
among('the_lowest', 3000, [LOW, ('m', 0, 5), HIGH], run('l', 1) + run('m', 2) + ts('h', 1), ['lr0'])
among('the_lowest_and_another', 3000, [LOW, ('m', 0, 5), ('h', 2, 10)], run('l', 1) + run('m', 2) + ts('h', 2), 2)
among('for_two_jobs', 4000, [LOW, ('m', 1, 5), HIGH], run('l', 4) + ts('m', 1) + ts('h', 1), 2)
among('for_the_first_of_two', 1000, [LOW, ('m', 1, 5), HIGH], run('l', 1) + ts('m', 1) + ts('h', 1), 1)
for name, cpu, a, b, evicts in (('two_gangs_as_they_need_all', 4000, 2, 2, 0), ('two_gangs_one_of_each', 6000, 3, 3, 2),
                                ('two_gangs_one_is_too_few', 5000, 3, 2, 0)):
    among(name, cpu, [('a', 2, 1), ('b', 2, 1), ('h', 2, 10)], run('a', a) + run('b', b) + ts('h', 2), evicts)
among('one_has_succeeded', 3000, [('l', 3, 1), HIGH], run('l', 3) + [t('l9', 'l', status='Succeeded')] + ts('h', 1), 1)
among('another_queue', 2000, [LOW, HIGH], run('l', 2) + ts('h', 1), 0, queue=dict(l='r'))
among('for_nothing', 1000, [LOW, HIGH], run('l', 1) + [t('h0', 'h', None)], 0)
OLD = [[p('priority', 'jobOrder', 'taskOrder', 'preemptable'),
        p('gang', 'jobOrder', 'jobReady', 'jobPipelined', 'preemptable', 'reclaimable')],
       [p('drf', 'jobOrder'), PREDICATES, p('proportion', 'queueOrder', 'reclaimable')]]
for name, low, high, evicts in (('old_one', 1, 1, 1), ('old_gang', 0, 2, 2), ('old_gang_is_kept', 2, 1, 0)):
    among(name, 2000, [('l', low, 1), ('h', high, 10)], run('l', 2) + ts('h', high), evicts, OLD, 'kube-batch')
# Who ends runs: not who has been given something, and is on its way.
for status in ('Binding', 'Allocated'):
    among('not_yet_' + status, 1000, [LOW, HIGH], [t('l0', 'l', status=status)] + ts('h', 1), 0)
    s('takes_not_yet_' + status, [n(2000)], [j('x', 'a'), j('y', 'b', 1)], [t(f'x{i}', 'x', status=status) for i in range(2)] +
      ts('y', 1), [[CONFORMANCE, GANGS], [PREDICATES, PROPORTION]], [q('a'), q('b')], ('reclaim',), evict_count=0)


def between(name, running, asks, least, evicts, actions=('reclaim',), a=None, b=None, more=(), **expect):
    """x of queue a runs so many of 8, and y of queue b waits."""
    s('between_' + name, [n(8000)], [j('x', 'a'), j('y', 'b', least)] + [x for x, _ in more],
      run('x', running) + ts('y', asks) + [x for _, tasks in more for x in tasks],
      [[CONFORMANCE, GANGS], [PREDICATES, PROPORTION]], [q('a', **(a or {})), q('b', **(b or {})), q('c')], actions,
      evict_count=evicts, **expect)


between('and_a_third', 8, 1, 1, 2, more=[(j('z', 'c', 1), ts('z', 1))])
between('no_more_than_it_may_have', 8, 2, 2, 0, b=dict(capability=dict(cpu=1000)))
between('all_that_it_may_have', 8, 2, 2, 2, b=dict(capability=dict(cpu=2000)))
for m, evicts in ((4, 4), (5, 0)):
    between(f'its_weight_for_{m}', 6, m, m, evicts, b=dict(w=3), more=[(j('v', 'b'), run('v', 2))])
between('idle_in_part', 6, 3, 3, 1)
between('idle_in_part_and_allocate', 6, 3, 3, 1, ('allocate', 'reclaim'), bind_count=0)
between('idle_for_its_min', 6, 3, 1, 0, ('allocate', 'reclaim'), bind_count=2)

# ---- Nodes that are fuller, with the task, come first by the plugin binpack, or by the weights of nodeorder ----

MOST = p('nodeorder', 'nodeOrder', **{'leastrequested.weight': 0, 'mostrequested.weight': 1, 'balancedresource.weight': 0})


def packs(name, by, cpus, used, m, *on):
    """Nodes of so many cores, of which so many are in use, and on which the tasks of a job start."""
    s('packs_' + name, [n(cpu, f'n{i}') for i, cpu in enumerate(cpus)], [j('r'), j('a')],
      [t(f'r{i}', 'r', x, 'Running', on=f'n{i}') for i, x in enumerate(used) if x] + ts('a', m), [[GANG], [PREDICATES, by]],
      binds={f'a-{i}': x for i, x in enumerate(on)}, bind_count=m)


for name, by in (('most', MOST), ('bins', p('binpack', 'nodeOrder'))):
    packs(name + '_the_smaller', by, (4000, 2000), (0, 0), 1, 'n1')
    packs(name + '_the_fuller', by, (4000, 4000, 4000), (1000, 0, 2000), 1, 'n2')
    packs(name + '_till_it_is_full', by, (4000, 4000, 4000), (1000, 0, 2000), 3, 'n2', 'n2', 'n0')
    packs(name + '_where_there_is_room', by, (4000, 4000), (1000, 4000), 1, 'n0')


# What starts in the session counts at once. Tasks are of so many cores, some with so many GB, and start one after the other.
def follows(name, by, cpus, used, wants, *on):
    s('follows_' + name, [n(cpu, f'n{i}') for i, cpu in enumerate(cpus)], [j('r'), j('a')],
      [t(f'r{i}', 'r', x, 'Running', mem=g, on=f'n{i}') for i, (x, g) in enumerate(used) if x or g] +
      [t(f'a{i}', 'a', x, mem=g, priority=9 - i) for i, (x, g) in enumerate(wants)],
      [[GANG, p('priority', 'taskOrder')], [PREDICATES, by]], binds={f'a{i}': x for i, x in enumerate(on)}, bind_count=len(on))


LEAST = p('nodeorder', 'nodeOrder', **{'leastrequested.weight': 1, 'balancedresource.weight': 0})
for name, by in (('most', MOST), ('bins', p('binpack', 'nodeOrder'))):
    # a0 has room in the empty node only, which is the fuller one then: 5/5 rather than 2/4.
    follows(name + '_the_first_task', by, (4000, 5000), ((1000, 0), (0, 0)), ((4000, 0), (1000, 0), (1000, 0)), 'n1', 'n1', 'n0')
    # 2/6 and 2/5; 5/6 and 5/5; then 3/6.
    follows(name + '_the_smaller', by, (6000, 5000), ((0, 0), (0, 0)), ((2000, 0), (3000, 0), (3000, 0)), 'n1', 'n1', 'n0')
    # Cores and memory: 3/4 + 1/8 and 2/4 + 7/8; 3/4 + 1/8 and 3/4 + 8/8; then there is no memory.
    follows(name + '_memory', by, (4000, 4000), ((2000, 0), (1000, 6)), ((1000, 1),) * 3, 'n1', 'n1', 'n0')
# 3/4 rather than 4/4, and then 2/4 rather than 4/4.
follows('least_the_first_task', LEAST, (4000, 4000), ((1000, 0), (0, 0)), ((3000, 0), (1000, 0)), 'n1', 'n0')
# 1/7 and 1/4; 2/7 and 1/4; 2/7 and 2/4; 3/7 and 2/4; 4/7 and 2/4.
follows('least_of_two_sizes', LEAST, (7000, 4000), ((0, 0), (0, 0)), ((1000, 0),) * 5, 'n0', 'n1', 'n0', 'n0', 'n1')
# 2/4 + 1/8 and 1/4 + 7/8: by cores alone it would be the other one. Then 3/4 + 2/8 and 1/4 + 7/8, and 4/4 + 3/8.
follows('least_memory', LEAST, (4000, 4000), ((1000, 0), (0, 6)), ((1000, 1),) * 3, 'n0', 'n0', 'n1')
json.dump(dict(schema_version=1, cases=cases), sys.stdout)
