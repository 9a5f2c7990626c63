"""Cases of kube-batch's kinds at their edges, with what is expected worked out by hand: who counts towards a min, what
is left of a gang that runs in part, tasks that ask for nothing, nodes that keep tasks out, who is let in, and who ends
for whom. Writes them as JSON.
"""
import json
import sys

from kube_write import *


def one_of(*status, least=3, pending=1, cpu=9000, **expect):
    """A job of which tasks are of these statuses and others wait, all of 1 CPU."""
    tasks = [t(f'a{i}', 'a', status=status[i]) for i in range(len(status))]
    s('_'.join(status).lower() + f'_of_{least}_on_{cpu}', [node('n', cpu)], [j('a', least=least)],
      tasks + [t(f'b{i}', 'a') for i in range(pending)], **expect)


# Who counts towards the min: who has been given something, in whatever state, and who has succeeded.
one_of('Running', 'Bound', 'Binding', least=4, cpu=4000, binds={'b0': 'n'}, bind_count=1)
one_of('Running', 'Succeeded', cpu=2000, binds={'b0': 'n'}, bind_count=1)
# Neither who has failed, nor who is ending, nor who is not known.
one_of('Running', 'Failed', **NOBODY)
one_of('Releasing', least=2, **NOBODY)
one_of('Unknown', least=2, **NOBODY)
# What a gang lacks starts together: there is room for one of two, then for both, and for one beyond the min.
one_of('Running', 'Bound', least=4, pending=2, cpu=3000, **NOBODY)
one_of('Running', 'Running', least=4, pending=2, cpu=4000, bind_count=2)
one_of('Running', least=3, pending=5, cpu=4000, bind_count=3)
one_of('Succeeded', 'Succeeded', least=4, pending=2, cpu=2000, bind_count=2)
one_of('Succeeded', 'Succeeded', least=4, pending=2, cpu=1000, **NOBODY)
one_of('Succeeded', 'Succeeded', least=2, pending=2, cpu=1000, bind_count=1)  # nothing is lacking
# A role has a min of its own, also of a job that runs in part; one that nobody is of keeps the job from starting.
ROLES = dict(ps=1, worker=2)
ps = t('p', 'a', 1000, 'Running', role='ps')
workers = [t(f'w{i}', 'a', 2000, role='worker') for i in range(2)]
s('workers_that_are_missing', [node('n', 4000)], [j('a', least=3, min_task_available=ROLES)], [ps] + workers, **NOBODY)
s('workers_that_fit', [node('n', 5000)], [j('a', least=3, min_task_available=ROLES)], [ps] + workers, bind_count=2)
s('roles_that_ask_for_the_same', [node('n', 3000)], [j('a', least=3, min_task_available=ROLES)],
  [t('p', 'a', role='ps')] + [t(f'w{i}', 'a', role='worker') for i in range(2)], bind_count=3)
s('nobody_of_a_role', [node('n', 9000)], [j('a', least=2, min_task_available=dict(ps=1, worker=1))],
  [t(f'w{i}', 'a', role='worker') for i in range(2)], **NOBODY)
# A gang that can't start holds nothing; one of min 0 is ready.
s('min_0', [node('n', 1000)], [j('a')], ts('a', 3), bind_count=1)
s('a_gang_holds_nothing', [node('n', 2000)], [j('a', least=3), j('b', least=1)], ts('a', 3) + ts('b', 1),
  binds={'b-0': 'n'}, bind_count=1)
s('one_of_two_gangs', [node('n', 3000)], [j('a', least=2), j('b', least=2)], ts('a', 2) + ts('b', 2), bind_count=2)
s('a_gang_on_three_nodes', [node(f'n{i}', 1000) for i in range(3)], [j('a', least=3)], ts('a', 3), bind_count=3)
s('room_in_pieces', [node('n1', 1500), node('n2', 1500)], [j('a', least=3)], ts('a', 3), **NOBODY)
s('too_few_pods_for_a_gang', [node('n1', 9000, pods=2)], [j('a', least=3)], ts('a', 3), **NOBODY)
s('too_little_of_a_zone', [node('n1', 4000, labels=dict(z='1')), node('n2', 1000, labels=dict(z='2'))],
  [j('a', least=2)], [t(f'a{i}', 'a', node_selector=dict(z='2')) for i in range(2)], **NOBODY)
s('a_gang_of_higher_priority', [node('n', 2000)], [j('a', least=2, priority=1), j('b', least=2, priority=5)],
  ts('a', 2) + ts('b', 2), [[p('priority', 'jobOrder'), GANG], [PREDICATES]], binds={'b-0': 'n', 'b-1': 'n'},
  bind_count=2)
s('a_gang_waits_for_what_ends', [node('n', 3000)], [j('a', least=2), j('r')],
  [t('r0', 'r', status='Releasing'), t('r1', 'r', status='Running')] + ts('a', 2), pipelined={'a': ['n', 'n']}, **NOBODY)
# Tasks that ask for nothing are backfilled, where pods are left, and count towards a min.
BOTH = ('allocate', 'backfill')
s('a_member_that_asks_for_nothing', [node('n', 2000)], [j('a', least=3)], ts('a', 2) + [t('a-z', 'a', None)],
  actions=BOTH, bind_count=3)
s('that_member_is_not_enough', [node('n', 1000)], [j('a', least=3)], ts('a', 2) + [t('a-z', 'a', None)], actions=BOTH,
  **NOBODY)
s('no_pod_is_left', [node('n', 2000, pods=1)], [j('a')], [t('a0', 'a', status='Running'), t('a1', 'a', None)],
  actions=BOTH, **NOBODY)
s('requests_of_0', [node('n', 1000)], [j('a')], [t('a0', 'a', 0), t('a1', 'a', 0), t('a2', 'a')], actions=BOTH,
  bind_count=3)
# Nodes: what keeps tasks out and what does not, what is nowhere, what is taken beyond what there is.
for effect, count in (('PreferNoSchedule', 1), ('NoExecute', 0), ('NoSchedule', 0)):
    s('taint_' + effect, [node('n', 1000, taints=[dict(key='k', value='v', effect=effect)])], [j('a')], ts('a', 1),
      bind_count=count)
s('pods_are_counted', [node('n', 9000, pods=2)], [j('a')], ts('a', 3), bind_count=2)
s('a_node_with_0_gpus', [node('n1', 1000, more={'nvidia.com/gpu': 0}), node('n2', 1000, more={'nvidia.com/gpu': 1})],
  [j('a')], [t('a0', 'a', more={'nvidia.com/gpu': 1})], binds={'a0': 'n2'}, bind_count=1)
s('what_is_nowhere', [node('n', 1000)], [j('a')], [t('a0', 'a', more={'x/y': 1})], **NOBODY)
s('more_than_there_is', [node('n1', 1000), node('n2', 1000)], [j('r'), j('a')],
  [t('r0', 'r', 2000, 'Running', on='n1'), t('a0', 'a')], binds={'a0': 'n2'}, bind_count=1)
# By the plugin nodeorder the node with least in use comes first, of equal weights the larger one.
LEAST = [[GANG], [PREDICATES, p('nodeorder', 'nodeOrder', **{'leastrequested.weight': 1, 'balancedresource.weight': 0})]]
s('least_in_use', [node('n1', 4000), node('n2', 4000)], [j('r'), j('a')],
  [t('r0', 'r', status='Running', on='n1'), t('a0', 'a')], LEAST, binds={'a0': 'n2'}, bind_count=1)
s('the_larger_node', [node('n1', 2000), node('n2', 4000)], [j('a')], [t('a0', 'a', mem=1)], LEAST, binds={'a0': 'n2'},
  bind_count=1)
# Queues: closing ones start nothing, capabilities bound, and what others are guaranteed is left to them.
SHARES = [[GANG], [PROPORTION, PREDICATES]]
s('a_queue_that_closes', [node('n', 4000)], [j('a', 'x'), j('b')], ts('a', 1) + ts('b', 1), SHARES,
  [q('x', state='Closing'), q('q')], binds={'b-0': 'n'}, bind_count=1)
s('no_more_than_a_capability', [node('n', 8000)], [j('a')], ts('a', 8), SHARES, [q('q', capability=dict(cpu=3000))],
  bind_count=3)
s('what_others_are_guaranteed', [node('n', 8000)], [j('a')], ts('a', 8), SHARES,
  [q('q'), q('y', guarantee=dict(cpu=2000))], bind_count=6)
s('a_queue_of_higher_priority', [node('n', 1000)], [j('a', 'x'), j('b', 'y')], ts('a', 1) + ts('b', 1),
  [[p('capacity', 'queueOrder', 'allocatable')], [PREDICATES]], [q('x', priority=1), q('y', priority=5)],
  binds={'b-0': 'n'}, bind_count=1)
s('the_sooner_deadline', [node('n', 1000)], [j('a'), j('b', annotations={'sla-waiting-time': '1s'})],
  ts('a', 1) + ts('b', 1), [[p('sla', 'jobOrder', 'jobEnqueued')], [PREDICATES]], binds={'b-0': 'n'}, bind_count=1)
s('the_larger_task_first', [node('n', 2000)], [j('a')], [t('a0', 'a', 2000, priority=5), t('a1', 'a', priority=1)],
  [[p('priority', 'taskOrder')], [PREDICATES]], binds={'a0': 'n'}, bind_count=1)
s('two_jobs_take_turns', [node('n', 4000)], [j('a', phase='Running'), j('b')],
  [t('a0', 'a', status='Running')] + ts('b', 2) + [t('a1', 'a'), t('a2', 'a')], [[p('drf', 'jobOrder')], [PREDICATES]],
  bind_count=3, job_allocated={x: dict(milli_cpu=2000, memory=0, scalars=dict(pods=2)) for x in 'ab'})


# Who is let in: as many as the capability of the queue has room for beside what runs and who is in, less what running
# jobs have beyond what they need; by overcommit, as many as a factor of the machine has room for.
def let_in(name, jobs, into, tasks=(), cpu=8000, queue=None, by=p('proportion', 'queueOrder', 'jobEnqueued')):
    waiting = [x['name'] for x in jobs if x['phase'] == 'Pending']
    s(name, [node('n', cpu)], jobs, list(tasks), [[GANG, by]], [q('q', **(queue or {}))], ('enqueue',),
      job_phase={x: 'Inqueue' if x in into else 'Pending' for x in waiting})


def asks(n, cpu, phase='Pending'):
    return j(n, phase=phase, min_resources=dict(cpu=1000 * cpu))


FOUR = dict(capability=dict(cpu=4000))
let_in('no_room_for_the_second', [asks('a', 3), asks('b', 2)], 'a', queue=FOUR)
let_in('who_asks_for_nothing', [j('a', phase='Pending')], 'a', ts('a', 5), queue=dict(capability=dict(cpu=1000)))
let_in('beside_what_runs', [asks('r', 2, 'Running'), asks('b', 3), asks('c', 2)], 'c', ts('r', 2, status='Running'),
       queue=FOUR)
let_in('what_may_go_is_no_hindrance', [asks('r', 1, 'Running'), asks('b', 3)], 'b', ts('r', 4, status='Running'),
       queue=FOUR)
let_in('nobody_into_a_closed_queue', [asks('b', 1)], '', queue=dict(state='Closed'))
let_in('only_what_it_asks_for_counts', [j('b', phase='Pending', min_resources=dict(memory=G))], 'b',
       queue=dict(capability=dict(cpu=0)))
OVER = p('overcommit', 'jobEnqueued')
let_in('one_fifth_more_than_there_is', [asks('a', 12), asks('b', 1)], 'a', cpu=10000, by=OVER)
let_in('less_what_is_used', [j('r', phase='Running'), asks('a', 3), asks('b', 2)], 'b', ts('r', 10, status='Running'),
       10000, by=OVER)
let_in('less_who_is_in', [asks('i', 11, 'Inqueue'), asks('a', 2)], '', cpu=10000, by=OVER)
let_in('by_a_factor', [asks('a', 2), asks('b', 1), asks('c', 1)], 'ab', cpu=2000,
       by=p('overcommit', 'jobEnqueued', **{'overcommit-factor': 1.5}))
s('in_and_started', [node('n', 4000)], [j('a', phase='Pending')], ts('a', 1), actions=('enqueue', 'allocate'),
  bind_count=1)

# Who ends for a job of higher priority in its queue: nobody of the system's, and of a gang only what it can spare.
ALL = [[p('conformance', 'preemptable', 'reclaimable'),
        p('gang', 'jobStarving', 'jobPipelined', 'preemptable', 'reclaimable'),
        p('priority', 'taskOrder', 'jobOrder', 'preemptable', 'jobPipelined', 'jobStarving')]]
CLASSES = dict(low=10, high=1000)


def named(evicts):
    return dict(evict_count=evicts) if isinstance(evicts, int) else dict(evict_count=len(evicts), evicts=evicts)


def ends(name, low, evicts, least=0, nodes=None, cpu=1000, **high):
    jobs = [j('l', least=least, phase='Running', priority_class='low', priority=10),
            j('h', least=1, priority_class='high', priority=1000)]
    s(name, nodes or [node('n', 2000)], jobs, low + [t('h0', 'h', cpu, **high)], ALL, actions=('preempt',),
      extra=dict(priority_classes=CLASSES), **named(evicts))


def runs(n, job='l', **k):
    return t(n, job, status='Running', **k)


two = [runs('l0'), runs('l1')]
ends('one_of_two', two, 1)
ends('not_of_kube_system', [runs('kube-system/l0'), runs('d/l1')], ['d/l1'])
ends('not_a_critical_one', [runs('l0', priority_class='system-node-critical'), runs('l1')], ['l1'])
ends('who_has_nobody_ended', two, [], preemption_policy='Never')
ends('the_task_of_lower_priority', [runs('l0', priority=5), runs('l1', priority=1)], ['l1'])
ends('both_are_needed', two, [], 2)
ends('one_is_needed', two, 1, 1)
ends('the_last_one_is_needed', [t('l0', 'l', 2000, 'Running')], [], 1)
ends('on_the_node_where_it_is_enough', [runs('l0', on='n1'), runs('l1', on='n2'), runs('l2', on='n2')], ['l1', 'l2'],
     nodes=[node('n1', 1000), node('n2', 2000)], cpu=2000)
# Who ends for another queue that has less than it deserves.
TAKES = [[p('conformance', 'reclaimable'), p('gang', 'jobStarving', 'jobPipelined', 'reclaimable'),
          p('proportion', 'queueOrder', 'reclaimable', 'preemptive')]]


def gives(name, evicts, least=0, asks=1, together=1, a=None, b=None, extra=(), **k):
    """x of queue a runs four tasks and y of queue b waits, with equal weights if nothing is said."""
    running = k.pop('running', 4)
    s(name, [node('n', 4000)], [j('x', 'a', least), j('y', 'b', together)] + [x for x, _ in extra],
      ts('x', running, status='Running', **k) + ts('y', asks) + [x for _, more in extra for x in more], TAKES,
      [q('a', **(a or {})), q('b', **(b or {}))], ('reclaim',), **named(evicts))


gives('one_for_another_queue', 1)
gives('a_queue_from_which_nobody_takes', [], a=dict(reclaimable=False))
gives('all_are_needed', [], 4)
gives('one_is_beyond_the_min', 1, 3)
gives('one_is_too_few_for_two', [], 3, 2, 2)
gives('two_for_two', 2, 1, 2, 2)
gives('who_may_not_be_ended', [], preemptable=False)
gives('both_have_what_they_deserve', [], running=2, extra=[(j('z', 'b'), ts('z', 2, status='Running'))])
gives('a_task_a_job_in_one_session', 1, 0, 3, 1, b=dict(w=3))
# The same by what queues deserve by name, and borrow while nobody else asks.
NAMED = [[p('capacity', 'allocatable', 'preemptive', 'reclaimable', 'queueOrder'), PREDICATES], [p('gang', 'jobStarving')]]


def deserves(cpu, **k):
    return dict(deserved=dict(cpu=cpu, memory=4 * G), **k)


def by_name(name, a, b, evicts, x=4, other=0, cpu=1000, **expect):
    """x of queue a runs so many tasks, or (0) wants four; another job of b runs some, and y of b waits."""
    waits = x == 0
    s(name, [node('n', 4000)], [j('x', 'a', phase='Inqueue' if waits else 'Running'), j('z', 'b', phase='Running'),
                                j('y', 'b', 1)],
      (ts('x', 4) if waits else ts('x', x, status='Running') + ts('y', 1, cpu)) + ts('z', other, status='Running'), NAMED,
      [q('a', **a), q('b', **b)], ('allocate', 'reclaim'), **named(evicts), **expect)


by_name('one_beyond_what_it_deserves', deserves(2000), deserves(2000), 1)
by_name('what_nobody_takes_back', deserves(2000, reclaimable=False), deserves(2000), [])
by_name('what_is_guaranteed', dict(guarantee=dict(cpu=4000), deserved=dict(cpu=4000)), deserves(2000), [])
by_name('borrows_what_is_idle', deserves(1000), deserves(3000), [], 0, bind_count=4)
by_name('borrows_no_more_than_it_may', deserves(1000, capability=dict(cpu=2000)), deserves(3000), [], 0, bind_count=2)
by_name('who_has_all_it_deserves_takes_nothing', deserves(2000), deserves(2000), [], 2, 2)
by_name('who_deserves_nothing', {}, deserves(2000), 1)
by_name('keeps_what_another_is_guaranteed', deserves(4000), dict(guarantee=dict(cpu=1000)), [], 0, bind_count=3)
by_name('three_for_one', deserves(1000), deserves(3000), 3, cpu=3000)
# kube-batch: weights, and no pods among what is counted.
OLD = [[p('gang', 'jobOrder', 'jobReady', 'jobPipelined', 'preemptable', 'reclaimable')],
       [p('drf', 'jobOrder', 'preemptable'), PREDICATES, p('proportion', 'queueOrder', 'reclaimable')]]
s('old_gang', [node('n', 3000)], [j('a', least=3)], ts('a', 3), OLD, system='kube-batch', bind_count=3)
s('old_weights', [node('n', 4000)], [j('a', 'x'), j('b', 'y')], ts('a', 4) + ts('b', 4), OLD,
  [dict(name='x', weight=1), dict(name='y', weight=3)], system='kube-batch', bind_count=4,
  job_allocated={x: dict(milli_cpu=c, memory=0) for x, c in (('a', 1000), ('b', 3000))})
s('old_backfill', [node('n', 1000)], [j('a')], [t('a0', 'a', None), t('a1', 'a')], OLD, system='kube-batch',
  actions=BOTH, bind_count=2)
json.dump(dict(schema_version=1, cases=cases), sys.stdout)
