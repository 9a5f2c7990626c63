"""Cases of kube-batch's kinds that combine what others have alone, with what the rules of the design come to on paper: mins,
roles and selectors of gangs, tasks that end, actions in other orders, and which plugins say who may be stopped and for whom.
Writes them as JSON.
"""
import json
import sys

from kube_write import cases, GANG, j, NOBODY, node, p, PLAIN, PREDICATES, PROPORTION, q, s, t, ts

ALL_OF_GANG = p('gang', 'jobOrder', 'jobReady', 'jobPipelined', 'jobStarving', 'preemptable', 'reclaimable')
PRIORITY = p('priority', 'jobOrder', 'taskOrder', 'preemptable', 'jobPipelined', 'jobStarving')
CONFORMANCE = p('conformance', 'preemptable', 'reclaimable')
CAPACITY = p('capacity', 'queueOrder', 'allocatable', 'reclaimable', 'jobEnqueued', 'preemptive')
BY_PRIORITY = [[GANG, p('priority', 'taskOrder')], [PREDICATES]]
BOTH = ('allocate', 'backfill')


def ended(n):
    return dict(evict_count=n) if isinstance(n, int) else dict(evicts=n, evict_count=len(n))


def n(cpu, name='n', **k):
    return node(name, cpu, **k)


def run(job, m, cpu=1000, **k):
    return ts(job, m, cpu, status='Running', **k)


def mins(**roles):
    return dict(min_task_available=roles)


# ---- Gangs that start ----

s('min_beyond_members', [n(9000)], [j('a', least=5)], ts('a', 3), **NOBODY)
s('min_beyond_members_is_in_nobodys_way', [n(3000)], [j('a', least=5), j('b', least=1)], ts('a', 3) + ts('b', 3),
  bind_count=3, binds={'b-0': 'n', 'b-1': 'n', 'b-2': 'n'})
s('min_of_succeeded_running_and_waiting', [n(9000)], [j('a', least=3)],
  [t('x', 'a', status='Succeeded', on='n'), t('y', 'a', status='Running')] + ts('a', 1), bind_count=1)
s('no_gang', [n(2000)], [j('a', least=3)], ts('a', 3), [[PREDICATES]], bind_count=2)
s('a_gang_that_is_only_an_order', [n(2000)], [j('a', least=3)], ts('a', 3), [[p('gang', 'jobOrder')], [PREDICATES]],
  bind_count=2)
s('a_queue_that_is_not_there', [n(2000)], [j('a', 'nope', least=1)], ts('a', 1), **NOBODY)
s('a_job_that_is_not_there', [n(2000)], [j('a', least=1)], ts('b', 1) + ts('a', 1), bind_count=1, binds={'a-0': 'n'})
s('tasks_of_higher_priority', [n(2000)], [j('a', least=2)], [t(f'a{i}', 'a', priority=x) for i, x in
                                                            enumerate((1, 5, 5))], BY_PRIORITY,
  binds={'a1': 'n', 'a2': 'n'}, bind_count=2)
s('tasks_of_higher_priority_beyond_the_min', [n(3000)], [j('a', least=1)],
  [t(f'a{i}', 'a', priority=x) for i, x in enumerate((1, 5, 5, 3))], BY_PRIORITY, binds={x: 'n' for x in
                                                                                      ('a1', 'a2', 'a3')}, bind_count=3)
s('unequal_tasks_by_priority', [n(3000)], [j('a', least=1)],
  [t('a0', 'a', 3000, priority=1), t('a1', 'a', 2000, priority=5), t('a2', 'a', 1000, priority=4)], BY_PRIORITY,
  binds={'a1': 'n', 'a2': 'n'}, bind_count=2)


def server(*more, cpu=1000, **k):
    return [t('p0', 'a', cpu, role='ps', **k)] + list(more)


def workers(m, cpu=2000, **k):
    return [t(f'w{i}', 'a', cpu, role='w', **k) for i in range(m)]


s('three_roles', [n(6000)], [j('a', least=3, **mins(ps=1, w=1, ev=1))], server(t('e0', 'a', 3000, role='ev')) + workers(2),
  binds={'p0': 'n', 'w0': 'n', 'e0': 'n'}, bind_count=3)
s('a_role_without_a_min', [n(9000)], [j('a', least=4, **mins(ps=1))], server() + workers(3), bind_count=4)
s('a_role_without_a_min_and_without_room', [n(6000)], [j('a', least=4, **mins(ps=1))], server() + workers(3), **NOBODY)
s('a_role_of_min_0', [n(4000)], [j('a', least=2, **mins(ps=0, w=2))], server() + workers(2), bind_count=2,
  binds={'w0': 'n', 'w1': 'n'})
s('one_role_runs_in_part', [n(4000)], [j('a', least=3, **mins(ps=1, w=2))],
  server(t('v0', 'a', 1000, 'Running', role='w'), status='Running') + workers(1), bind_count=1)
s('a_role_on_its_own_node', [n(4000, 'n1', labels=dict(g='1')), n(4000, 'n2')], [j('a', least=3, **mins(ps=1, w=2))],
  server(cpu=4000, node_selector=dict(g='1')) + workers(2), binds={'p0': 'n1', 'w0': 'n2', 'w1': 'n2'}, bind_count=3)
s('too_few_of_a_role', [n(9000)], [j('a', least=3, **mins(ps=1, w=2))], server(t('p1', 'a', role='ps')) + workers(1),
  **NOBODY)
ZONES = [n(1000, 'n1', labels=dict(z='1')), n(1000, 'n2', labels=dict(z='2')), n(1000, 'n3')]
in_zones = [t(f'a{z}', 'a', node_selector=dict(z=z)) for z in '12']
s('a_gang_in_two_zones', ZONES, [j('a', least=2)], in_zones, binds={'a1': 'n1', 'a2': 'n2'}, bind_count=2)
s('a_gang_in_a_zone_that_is_not_there', [n(2000, labels=dict(z='1'))], [j('a', least=2)], in_zones, **NOBODY)


def affinity(name, sign, values, count, nodes=ZONES, **expect):
    """Of as many tasks as nodes, so many find one by an expression that their affinity requires; the others none."""
    expression = dict(Key='z', Operator=sign, **dict(Values=values) if values else {})
    terms = dict(NodeSelectorTerms=[dict(MatchExpressions=[expression])])
    s('affinity_' + name, nodes, [j('a')], [
        t(f'a{i}', 'a', affinity=dict(NodeAffinity=dict(RequiredDuringSchedulingIgnoredDuringExecution=terms)))
        for i in range(len(nodes))], bind_count=count, **expect)


affinity('in', 'In', ['2', '9'], 1)
affinity('not_in', 'NotIn', ['1'], 2)
affinity('exists', 'Exists', [], 2)
affinity('does_not_exist', 'DoesNotExist', [], 1)
affinity('gt', 'Gt', ['1'], 1)
affinity('lt', 'Lt', ['3'], 2)
affinity('gt_is_of_numbers', 'Gt', ['9'], 1, [n(1000, 'n1', labels=dict(z='10')), n(1000, 'n2', labels=dict(z='8'))])
s('a_selector_without_predicates', [n(1000)], [j('a')], [t('a0', 'a', node_selector=dict(z='1'))], [[GANG]],
  binds={'a0': 'n'}, bind_count=1)
TAINTED = dict(taints=[dict(key='k', value='v', effect='NoSchedule')])
s('a_taint_without_predicates', [n(1000, **TAINTED)], [j('a')], ts('a', 1), [[GANG]], binds={'a-0': 'n'}, bind_count=1)
s('larger_than_any_node', [n(1000, 'n1'), n(1000, 'n2')], [j('a', least=1), j('b', least=1)], ts('a', 1, 2000) +
  ts('b', 1), bind_count=1)
s('one_of_a_gang_is_larger', [n(1000, 'n1'), n(1000, 'n2')], [j('a', least=2)], [t('a0', 'a', 2000), t('a1', 'a')],
  **NOBODY)
s('no_nodes', [], [j('a')], ts('a', 1), **NOBODY)
GPU = {'nvidia.com/gpu': 1}
for gpus, count in (((2, 1), 3), ((1, 1), 0)):
    s(f'a_gang_on_{sum(gpus)}_gpus', [n(9000, f'n{i}', more={'nvidia.com/gpu': g}) for i, g in enumerate(gpus)],
      [j('a', least=3)], ts('a', 4, 1000, more=GPU), bind_count=count)

# ---- What is ending, and what asks for nothing ----

ending = [t('r0', 'r', status='Releasing')]
s('promised_what_ends', [n(2000)], [j('a', least=1), j('r')], ending + run('r', 1) + ts('a', 2), pipelined={'a': ['n']},
  **NOBODY)
s('promised_what_ends_and_what_is_idle', [n(2000)], [j('a', least=1), j('r')], ending + ts('a', 1, 2000),
  pipelined={'a': ['n']}, **NOBODY)
s('what_ends_is_too_little', [n(2000)], [j('a', least=1), j('r')], ending + run('r', 1) + ts('a', 1, 2000), pipelined={},
  **NOBODY)
s('idle_elsewhere', [n(1000, 'n1'), n(1000, 'n2')], [j('a', least=1), j('r')], [t('r0', 'r', status='Releasing', on='n1')] +
  ts('a', 1), binds={'a-0': 'n2'}, bind_count=1)
nothing = [t(f'a{i}', 'a', None) for i in range(3)]
s('nobody_backfills', [n(1000)], [j('a')], [t('a0', 'a', None), t('a1', 'a')], bind_count=1, binds={'a1': 'n'})
s('backfill_alone', [n(1000)], [j('a')], [t('a0', 'a', None), t('a1', 'a')], actions=('backfill',), bind_count=1,
  binds={'a0': 'n'})
for pods, count in ((2, 0), (3, 3)):
    s(f'a_gang_that_asks_for_nothing_and_{pods}_pods', [n(0, pods=pods)], [j('a', least=3)], nothing, actions=BOTH,
      bind_count=count)
s('backfill_comes_first', [n(1000)], [j('a', least=2)], [t('a0', 'a'), t('a1', 'a', None)],
  actions=('backfill', 'allocate'), bind_count=2)
s('asks_for_nothing_in_a_zone', ZONES, [j('a')], [t('a0', 'a', None, node_selector=dict(z='2'))], actions=BOTH,
  bind_count=1, binds={'a0': 'n2'})
s('asks_for_nothing_where_none_may_be', [n(0, **TAINTED)], [j('a')], nothing, actions=BOTH, **NOBODY)

# ---- Who starts first ----

for name, tiers, first in (('counts', [[p('priority', 'jobOrder'), GANG], [PREDICATES]], 'b-0'), ('does_not', PLAIN, 'a-0')):
    s('priority_' + name, [n(1000)], [j('a', priority=1), j('b', priority=2)], ts('a', 1) + ts('b', 1), tiers,
      bind_count=1, binds={first: 'n'})
s('a_priority_below_0', [n(1000)], [j('a', priority=-5), j('b')], ts('a', 1) + ts('b', 1), [[p('priority', 'jobOrder')],
                                                                                           [PREDICATES]],
  bind_count=1, binds={'b-0': 'n'})
runs_more = run('a', 2) + run('b', 1) + [t('b1', 'b'), t('a9', 'a')]
s('the_smaller_share_first', [n(4000)], [j('a', phase='Running'), j('b', phase='Running')], runs_more,
  [[p('drf', 'jobOrder')], [PREDICATES]], bind_count=1, binds={'b1': 'n'})
s('priorities_of_two_queues', [n(4000)], [j('a', 'x', phase='Running', priority=100), j('b', 'y', phase='Running')],
  runs_more, [[p('priority', 'jobOrder'), p('proportion', 'queueOrder')], [PREDICATES]], [q('x'), q('y')], bind_count=1,
  binds={'b1': 'n'})

# A job whose gang has its min goes behind those that lack it, if the plugin gang orders jobs; else the name decides.
LATER = t('a9', 'a')


def ready(name, cpu, jobs, tasks, binds, tiers=PLAIN, system='volcano', **k):
    s('ready_' + name, [n(cpu)], [j(x, least=least, **more) for x, least, more in jobs], tasks, tiers, system=system,
      binds={x: 'n' for x in binds}, bind_count=len(binds), **k)


def two_jobs(a, b, **more):
    return [('a', a, more), ('b', b, {})]


for system in ('volcano', 'kube-batch'):
    ready(f'goes_last_{system}', 2000, two_jobs(1, 1), run('a', 1) + ts('b', 1) + [LATER], ['b-0'], system=system)
ready('goes_last_with_a_min_of_2', 3000, two_jobs(2, 1), run('a', 2) + ts('b', 1) + [LATER], ['b-0'])
ready('goes_last_with_a_min_of_0', 2000, two_jobs(0, 1), run('a', 1) + ts('b', 1) + [LATER], ['b-0'])
ready('goes_behind_one_that_runs', 3000, two_jobs(1, 2), run('a', 1) + run('b', 1) + [LATER, t('b9', 'b')], ['b9'])
ready('both', 3000, two_jobs(1, 1), run('a', 1) + run('b', 1) + [LATER, t('b9', 'b')], ['a9'])
ready('does_not_count', 2000, two_jobs(1, 1), run('a', 1) + ts('b', 1) + [LATER], ['a9'],
      [[p('gang', 'jobReady')], [PREDICATES]])
for tier, first in (([p('priority', 'jobOrder'), GANG], 'a9'), ([GANG, p('priority', 'jobOrder')], 'b-0')):
    ready('and_priority_' + first, 2000, two_jobs(1, 1, priority=5), run('a', 1) + ts('b', 1) + [LATER], [first],
          [tier, [PREDICATES]])
ready('in_the_session', 2000, two_jobs(1, 1), ts('a', 2) + ts('b', 1), ['a-0', 'b-0'])
ready('in_the_session_both', 4000, two_jobs(1, 1), ts('a', 4) + ts('b', 4), ['a-0', 'b-0', 'a-1', 'a-2'])
ready('in_the_session_with_mins', 4000, two_jobs(2, 2), ts('a', 4) + ts('b', 2), ['a-0', 'a-1', 'b-0', 'b-1'])
for system in ('volcano', 'kube-batch'):
    ready(f'by_a_min_of_0_{system}', 1000, two_jobs(0, 1), ts('a', 1) + ts('b', 1), ['b-0'], system=system)
ready('by_a_min_of_0_and_then', 3000, two_jobs(0, 1), ts('a', 3) + ts('b', 2), ['b-0', 'a-0', 'a-1'])
ready('by_a_min_of_0_unequal', 3000, two_jobs(0, 1), [t('a0', 'a', 2000), t('a1', 'a')] + ts('b', 2), ['b-0', 'a0'])
ready('by_a_min_of_0_both', 1000, two_jobs(0, 0), ts('a', 1) + ts('b', 1), ['a-0'])
ready('by_what_has_succeeded', 1000, two_jobs(1, 1), [t('x', 'a', status='Succeeded'), LATER] + ts('b', 1), ['b-0'])
ready('not_yet_by_what_has_succeeded', 1000, two_jobs(2, 1), [t('x', 'a', status='Succeeded'), LATER] + ts('b', 1), ['a9'])
ready('one_by_one', 3000, two_jobs(1, 3), run('a', 1) + ts('b', 3) + [LATER], ['b-0', 'b-1'],
      [[p('gang', 'jobOrder')], [PREDICATES]])
leave = [t(f'b{i}', 'b', status='Releasing') for i in range(2)]
ready('promised_one', 2000, two_jobs(1, 0), run('a', 1) + leave[:1] + [LATER], [], pipelined={'a': ['n']})
ready('promised_two_of_a_min_of_0', 2000, two_jobs(0, 0), leave + ts('a', 2), [], pipelined={'a': ['n', 'n']})
ready('promised_two', 2000, two_jobs(1, 0), leave + ts('a', 2), [], pipelined={'a': ['n', 'n']})

# ---- Who ends for a job of higher priority ----

ALL = [[CONFORMANCE, ALL_OF_GANG, PRIORITY], [PREDICATES]]
ONE_TASK_STARVES = [[CONFORMANCE, p('gang', 'jobPipelined', 'preemptable'), PRIORITY], [PREDICATES]]


def ends(name, nodes, low, high, evicts, tiers=ALL, least=1, needs=0, priorities=(1, 10), actions=('preempt',), more=(),
         queue='q', **k):
    """A job of a low priority, which needs so many, and one of a high priority, which starts with so many at least."""
    s(name, nodes, [j('l', queue, needs, 'Running', priority=priorities[0], priority_class='low'),
                    j('h', 'q', least, priority=priorities[1], priority_class='high')] + [x for x, _ in more],
      low + high + [x for _, tasks in more for x in tasks], tiers, [q('q'), q('r')], actions,
      extra=dict(priority_classes=dict(low=priorities[0], high=priorities[1])), **ended(evicts), **k)


two, one = run('l', 2), ts('h', 1)
# Nobody, if no plugin says who may be stopped, or who starves.
ends('nobody_may_be_stopped', [n(2000)], two, one, 0, [[p('priority', 'jobOrder', 'jobPipelined', 'jobStarving')]])
ends('nobody_starves', [n(2000)], two, one, 0,
     [[CONFORMANCE, p('gang', 'jobPipelined', 'preemptable'), p('priority', 'jobOrder', 'preemptable')]])
ends('no_gang_is_spared', [n(2000)], two, one, 1, [[p('gang', 'jobPipelined', 'jobStarving'), PRIORITY], [PREDICATES]],
     needs=2)
# For its min alone where the plugin gang says who starves, by itself or with others of its tier.
grows = run('h', 1) + [t('h9', 'h')]
ends('nobody_for_what_is_beyond_the_min', [n(3000)], two, grows, 0)
ends('nobody_by_the_first_tier', [n(3000)], two, grows, 0, [[ALL_OF_GANG], [CONFORMANCE, PRIORITY], [PREDICATES]])
ends('one_for_what_is_beyond_the_min', [n(3000)], two, grows, 1, ONE_TASK_STARVES)
ends('one_by_the_first_tier', [n(3000)], two, grows, 1, [[PRIORITY], [CONFORMANCE, ALL_OF_GANG], [PREDICATES]])
ends('min_0_starves_never', [n(3000)], run('l', 3), one, 0, least=0)
ends('min_0_starves_by_task', [n(3000)], run('l', 3), ts('h', 2), 2, ONE_TASK_STARVES, least=0)
lacks = run('h', 1) + [t('h8', 'h'), t('h9', 'h')]
ends('one_is_lacking', [n(4000)], run('l', 3), lacks, 1, least=2)
ends('two_are_lacking', [n(4000)], run('l', 3), lacks, 2, least=3)
# Nobody in vain: for all that is lacking, or for none of it; and nobody of a job that lacks its min.
ends('two_are_lacking_with_room_for_one', [n(2000)], run('l', 1), lacks, 0, least=3)
ends('two_are_lacking_by_task', [n(2000)], run('l', 1), lacks, 1, [[p('gang', 'preemptable', 'jobStarving'), PRIORITY]],
     least=3)
grown = lacks + [t('h7', 'h')]
ends('two_are_lacking_of_three', [n(5000)], run('l', 4), grown, 2, least=3)
for m, evicts in ((1, 0), (2, 2)):
    ends(f'two_are_lacking_for_kube_batch_{evicts}', [n(1000 + 1000 * m)], run('l', m), lacks, evicts, least=3,
         system='kube-batch')
ends('two_are_lacking_that_differ', [n(5000)], run('l', 4), run('h', 1) + [t('h8', 'h', 2000), t('h9', 'h')], 3, least=3)
ends('two_are_lacking_of_the_lower', [n(2000)], run('l', 1) + [t('l8', 'l'), t('l9', 'l')], one, 0, needs=3, bind_count=0)
# Who is the system's, by the name space or the class, if the plugin says so.
ends('the_class_of_the_job', [n(1000)], run('l', 1), one, 0)
cases[-1]['jobs'][0]['priority_class'] = 'system-cluster-critical'
ends('the_class_of_a_task', [n(1000)], [t('l0', 'l', status='Running', priority_class='system-node-critical')], one, 0)
ends('the_name_space', [n(2000)], [t(f'kube-system/l{i}', 'l', status='Running') for i in range(2)], one, 0)
ends('the_other_name_space', [n(2000)], [t(x + '/l', 'l', status='Running') for x in ('kube-system', 'a')], one, ['a/l'])
ends('conformance_is_off', [n(1000)], [t('kube-system/l0', 'l', status='Running')], one, 1,
     [[ALL_OF_GANG, PRIORITY], [PREDICATES]])
# Of the jobs the lowest, unless it is needed; nobody in another queue, on another node, or for nothing.
middle = [(j('m', phase='Running', priority=5), run('m', 2))]
ends('the_lowest', [n(3000)], run('l', 1), one, ['l-0'], more=middle)
ends('the_next_one', [n(3000)], run('l', 1), one, 1, needs=1, more=middle, evicts_from_job='m')
ends('in_another_queue', [n(2000)], two, one, 0, queue='r')
ends('in_the_zone', ZONES[:2], [t(f'l{i}', 'l', status='Running', on=f'n{i}') for i in (1, 2)],
     [t('h0', 'h', node_selector=dict(z='2'))], ['l2'])
ends('where_none_may_be', [n(1000, **TAINTED)], run('l', 1), one, 0)
ends('more_than_the_node_has', [n(2000)], two, ts('h', 1, 3000), 0)
ends('beside_what_is_idle', [n(3000)], two, ts('h', 1, 2000), 1)
ends('a_pod', [n(9000, pods=2)], two, one, 1)
ends('a_pod_is_not_enough', [n(2000)], [t('l0', 'l', None, 'Running'), t('l1', 'l', 2000, 'Running', preemptable=False)],
     one, 0)
# A gang has all stopped that it needs, or nobody; before and after others start.
nodes = [n(2000, 'n1'), n(1000, 'n2')]
for may, evicts in ((False, 0), (True, 3)):
    ends(f'a_gang_of_three_{evicts}', nodes, [t(f'l{i}', 'l', status='Running', on='n1') for i in range(2)] +
         [t('l2', 'l', status='Running', on='n2', preemptable=may)], ts('h', 3), evicts, least=3)
ends('what_it_spares_is_too_little', [n(4000)], run('l', 4), ts('h', 1, 3000), 0, needs=2)
ends('what_it_spares_is_enough', [n(4000)], run('l', 4), ts('h', 1, 2000), 2, needs=2)
for actions in (('allocate', 'preempt'), ('preempt', 'allocate')):
    ends('idle_' + '_'.join(actions), [n(3000)], two, one, 0, actions=actions, bind_count=1)
ends('idle_in_part', [n(3000)], two, ts('h', 2), 1, least=2, actions=('allocate', 'preempt'))
for cpu, evicts in ((1000, 2), (4000, 1)):
    ends(f'for_two_jobs_{evicts}', [n(3000)], run('l', 3), one, evicts, more=[(j('i', least=1, priority=9),
                                                                              ts('i', 1, cpu))])


# What is ending counts as left, in Volcano, whoever has it, and with what is idle on its node; the others end for the rest.
def leaving(m, job='l', cpu=1000, **k):
    return [t(f'{job}e{i}', job, cpu, 'Releasing', **k) for i in range(m)]


lower = [(j('i', least=1, priority=9), ts('i', 1))]
ends('ending_is_enough', [n(2000)], run('l', 1) + leaving(1), one, 0)
ends('ending_is_enough_after_allocate', [n(2000)], run('l', 1) + leaving(1), one, 0, actions=('allocate', 'preempt'),
     bind_count=0)
ends('ending_is_half', [n(3000)], run('l', 2) + leaving(1), ts('h', 1, 2000), 1)
ends('ending_is_for_one', [n(3000)], run('l', 2) + leaving(1), ts('h', 2), 1, least=2)
ends('ending_is_for_one_job', [n(3000)], run('l', 2) + leaving(1), one, 1, more=lower)
ends('ending_is_for_two_jobs', [n(3000)], run('l', 1) + leaving(1, cpu=2000), one, 0, more=lower)
ends('ending_elsewhere', [n(1000, 'n1'), n(1000, 'n2')], [t('l0', 'l', status='Running', on='n1')] + leaving(1, on='n2'),
     one, 0)
ends('ending_on_a_smaller_node', [n(2000, 'n1'), n(1000, 'n2')], [t('l0', 'l', 2000, 'Running', on='n1')] +
     leaving(1, on='n2'), ts('h', 1, 2000), 1)
for name, queue, priority in (('above', 'q', 99), ('of_another_queue', 'r', 1)):
    ends('ending_' + name, [n(2000)], run('l', 1), one, 0, more=[(j('x', queue, phase='Running', priority=priority),
                                                                 leaving(1, 'x'))])
ends('ending_is_too_little', [n(2000)], run('l', 1) + leaving(1), ts('h', 1, 3000), 0)
ends('ending_and_idle', [n(3000)], run('l', 1) + leaving(1), ts('h', 1, 2000), 0)
ends('ending_and_idle_and_one', [n(3000)], run('l', 1) + leaving(1), ts('h', 1, 3000), 1)
for m, evicts in ((3, 2), (4, 0)):
    ends(f'ending_for_a_gang_of_{m}', [n(3000)], run('l', 2) + leaving(1), ts('h', m), evicts, least=m)

# Where no plugin asks for priorities anybody ends that a gang can spare: of kube-batch for all that waits of a job, of Volcano
# for its min.
GANGS_ONLY = [[CONFORMANCE, ALL_OF_GANG]]


def equals(name, system, needs, least, evicts, running=3):
    s(f'equals_{name}', [n(1000 * running)], [j('l', least=needs), j('h', least=least)], run('l', running) + ts('h', 2),
      GANGS_ONLY, actions=('preempt',), system=system, **ended(evicts))


equals('all', 'kube-batch', 1, 1, 2, 2)
equals('all_it_spares', 'kube-batch', 2, 1, 1)
equals('none_it_spares', 'kube-batch', 3, 1, 0)
equals('a_min_of_1', 'volcano', 1, 1, 1)
equals('a_min_of_2', 'volcano', 1, 2, 2)
equals('too_few', 'volcano', 2, 2, 0)

# ---- Who ends for another queue ----

TAKES = [[CONFORMANCE, ALL_OF_GANG, PROPORTION], [PREDICATES]]


def gives(name, running, waiting, evicts, tiers=TAKES, nodes=None, a=None, b=None, needs=0, least=1, actions=('reclaim',),
          more=(), **k):
    """x of queue a runs and needs so many, and y of queue b, which starts with so many at least, waits."""
    s(name, nodes or [n(4000)], [j('x', 'a', needs, 'Running'), j('y', 'b', least)] + [x for x, _ in more],
      running + waiting + [x for _, tasks in more for x in tasks], tiers, [q('a', **(a or {})), q('b', **(b or {}))] +
      [q(x['queue']) for x, _ in more], actions, **ended(evicts), **k)


four, y = run('x', 4), ts('y', 1)
gives('nobody_may_be_reclaimed', four, y, 0, [[GANG, p('proportion', 'queueOrder', 'preemptive')]])
gives('nobody_starves_in_another_queue', four, y, 0, [[p('gang', 'jobPipelined', 'reclaimable'), PROPORTION]])
gives('gang_says_who_may', four, y, 1, [[ALL_OF_GANG, p('proportion', 'queueOrder')]])
gives('as_many_as_it_deserves', four, ts('y', 3), 3, b=dict(w=3), least=3)
gives('no_gang_beyond_what_it_deserves', four, ts('y', 3), 0, least=3)
gives('one_for_a_min_of_1', four, ts('y', 3), 1, [[CAPACITY, PREDICATES], [p('gang', 'jobStarving')]],
      a=dict(deserved=dict(cpu=1000)), b=dict(deserved=dict(cpu=3000)))
gives('none_for_a_min_of_0', four, y, 0, least=0)
gives('of_the_queue_that_has_more', four, y, 1, nodes=[n(6000)], more=[(j('z', 'c', phase='Running'), run('z', 2))],
      evicts_from_job='x')
gives('whatever_its_priority', four, y, 1, [[CONFORMANCE, ALL_OF_GANG, p('priority', 'jobOrder'), PROPORTION],
                                           [PREDICATES]])
cases[-1]['jobs'][0]['priority'] = 1000
gives('idle_in_part_for_a_queue', run('x', 3), ts('y', 1, 2000), 1)
gives('idle_for_a_queue', run('x', 3), y, 0, actions=('reclaim', 'allocate'), bind_count=1)
gives('what_ends_for_a_queue', [t('x9', 'x', status='Releasing')] + run('x', 3), y, 0)
gives('what_ends_and_one_for_a_queue', leaving(1, 'x') + run('x', 3), ts('y', 2), 1, least=2)
gives('all_that_ends_for_a_queue', leaving(2, 'x') + run('x', 2), ts('y', 2), 0, least=2)
gives('all_of_the_system', [t(f'kube-system/x{i}', 'x', status='Running') for i in range(2)], y, 0, nodes=[n(2000)])
gives('one_of_the_system', [t(x + '/x', 'x', status='Running') for x in ('kube-system', 'a')], y, ['a/x'], nodes=[n(2000)])
gives('a_gang_needs_both', run('x', 2, 2000), y, 0, needs=2)
gives('the_least_task', [t(f'x{i}', 'x', status='Running', priority=x) for i, x in enumerate((9, 2, 9, 9))], y, ['x1'],
      [[CONFORMANCE, ALL_OF_GANG, p('priority', 'taskOrder', 'jobOrder'), PROPORTION], [PREDICATES]])
gives('asks_for_nothing', four, [t('y0', 'y', None)], 0)
gives('has_nobody_stopped', four, [t('y0', 'y', preemption_policy='Never')], 0)
gives('in_its_zone', [t(f'x{i}', 'x', 1000, 'Running', on=f'n{i}') for i in (1, 2)],
      [t('y0', 'y', node_selector=dict(z='2'))], ['x2'], nodes=ZONES[:2])
gives('a_closed_queue_takes_nothing', four, y, 0, b=dict(state='Closed'))
gives('a_closed_queue_gives', four, y, 1, a=dict(state='Closed'))
for cpu, evicts in ((4000, 0), (3000, 1)):
    gives(f'guaranteed_{cpu}', four, ts('y', 2), evicts, a=dict(guarantee=dict(cpu=cpu)))
json.dump(dict(schema_version=1, cases=cases), sys.stdout)
