"""Cases of kube-batch's kinds about what a gang has beyond its min and about gangs of unequal tasks, with what is expected
worked out by hand: what they are promised of what is ending, and who ends for them. Writes them as JSON.
"""
import json
import sys

from kube_write import *

GANGS = p('gang', 'jobOrder', 'jobReady', 'jobPipelined', 'jobStarving', 'preemptable', 'reclaimable')
PRIORITY = p('priority', 'jobOrder', 'taskOrder', 'preemptable', 'jobPipelined', 'jobStarving')
CONFORMANCE = p('conformance', 'preemptable', 'reclaimable')
BY_MIN = [[CONFORMANCE, GANGS, PRIORITY], [PREDICATES]]  # a job is in need below its min
BY_TASK = [[CONFORMANCE, p('gang', 'jobReady', 'jobPipelined', 'preemptable'), PRIORITY], [PREDICATES]]  # as long as one waits


def n(cpu):
    return [node('n', cpu)]


def run(job, m):
    return [t(f'{job}r{i}', job, status='Running') for i in range(m)]


def leave(job, m):
    return [t(f'{job}e{i}', job, status='Releasing') for i in range(m)]


def sizes(job, *cpus):
    return [t(f'{job}{i}', job, x) for i, x in enumerate(cpus)]


# ---- What is ending is promised to all that a gang has room for, once it has its min ----


def promised(name, cpu, least, tasks, count, starts=0):
    s('promised_' + name, n(cpu), [j('a', least=least), j('r')], tasks, pipelined={'a': ['n'] * count} if count else {},
      bind_count=starts)


for m in (2, 3, 4):
    promised(f'{m}_of_min_2', 4000, 2, leave('r', 4) + ts('a', m), m)
promised('one_beyond_what_starts', 3000, 2, leave('r', 1) + ts('a', 3), 1, 2)
promised('two_beyond_what_starts', 4000, 2, leave('r', 2) + ts('a', 4), 2, 2)
promised('idle_and_ending', 4000, 3, leave('r', 2) + ts('a', 4), 4)
promised('as_many_as_there_is_room_for', 3000, 2, leave('r', 3) + ts('a', 4), 3)
promised('none_below_the_min', 3000, 3, leave('r', 2) + run('r', 1) + ts('a', 4), 0)
promised('two_of_one_that_runs', 4000, 2, run('a', 2) + leave('r', 2) + ts('a', 2), 2)
promised('three_where_two_are_missing', 4000, 3, run('a', 1) + leave('r', 3) + ts('a', 3), 3)

# ---- Who ends for a gang beyond its min: nobody, unless a job is in need as long as a task of it waits ----


def ends(name, cpu, running, high, evicts, least=1, tiers=BY_TASK, needs=0, actions=('preempt',), system='volcano', more=(),
         **k):
    s('ends_' + name, n(cpu), [j('l', least=needs, phase='Running', priority=1), j('h', least=least, priority=10), *more],
      run('l', running) + high, tiers, actions=actions, system=system, evict_count=evicts, **k)


BOTH = ('allocate', 'preempt')
for system in ('volcano', 'kube-batch'):
    for name, cpu, running, waiting, evicts, least, needs in (
            ('all_three', 3000, 3, 3, 3, 2, 0), ('two_and_one_is_idle', 4000, 3, 3, 2, 2, 0),
            ('two_beyond', 4000, 4, 4, 4, 2, 0), ('more_than_run', 3000, 3, 5, 3, 2, 0),
            ('what_is_spared', 4000, 4, 5, 2, 2, 2), ('too_few_are_spared', 4000, 4, 5, 0, 3, 2),
            ('a_min_of_1', 3000, 3, 3, 3, 1, 0), ('a_min_of_0', 3000, 3, 3, 3, 0, 0)):
        ends(f'{name}_{system}', cpu, running, ts('h', waiting), evicts, least, needs=needs, system=system)
    for least, starts in ((2, 2), (3, 0)):
        ends(f'beside_a_min_of_{least}_{system}', 4000, 2, ts('h', 4), 2, least, actions=BOTH, system=system, bind_count=starts)
    ends(f'for_one_that_runs_{system}', 4000, 2, run('h', 2) + ts('h', 2), 2, 2, system=system)
ends('for_the_min_alone', 4000, 4, ts('h', 4), 2, 2, BY_MIN)
ends('for_the_min_that_is_idle_in_part', 4000, 3, ts('h', 4), 1, 2, BY_MIN)

# ---- Tasks that are not alike: those that come first are the min, or the first one for which others can end ----

for name, cpus, evicts in (('the_small_one', (1000, 2000), 1), ('the_large_one', (2000, 1000), 2),
                            ('the_first_that_fits', (4000, 2000, 1000), 2), ('none', (4000, 5000), 0)):
    ends('first_' + name, 3000, 3, sizes('h', *cpus), evicts, 1, BY_MIN)
ends('first_is_idle', 4000, 3, sizes('h', 1000, 2000), 0, 1, BY_MIN)
ends('first_of_two_jobs', 4000, 4, sizes('h', 1000, 2000) + sizes('i', 1000, 2000), 2, 1, BY_MIN,
     more=[j('i', least=1, priority=9)])
ends('first_and_all_others', 3000, 3, sizes('h', 1000, 2000), 3, 1)
ends('first_two', 4000, 4, sizes('h', 1000, 2000, 1000), 3, 2, BY_MIN)
ends('first_two_and_the_other', 4000, 4, sizes('h', 1000, 2000, 1000), 4, 2)


def starts(name, cpu, least, tasks, binds, **k):
    s('starts_' + name, n(cpu), [j('h', least=least, **k)], tasks, binds={x: 'n' for x in binds}, bind_count=len(binds))


starts('all', 9000, 2, sizes('h', 1000, 2000, 3000), ['h0', 'h1', 'h2'])
starts('the_first_two', 3000, 2, sizes('h', 1000, 2000, 3000), ['h0', 'h1'])
starts('none_of_two', 2000, 2, sizes('h', 1000, 2000, 3000), [])
starts('what_is_missing', 4000, 3, run('h', 1) + sizes('h', 1000, 2000, 1000), ['h0', 'h1'])
starts('in_turn', 3000, 1, sizes('h', 2000, 1000, 1000), ['h0', 'h1'])
# Mins of roles that are more than the job's don't count; roles without one fill up what is missing.
ROLES = [t('p0', 'h', role='ps')] + [t(f'w{i}', 'h', 2000, role='worker') for i in range(3)]
starts('roles_of_more_than_the_min', 3000, 2, ROLES, ['p0', 'w0'], min_task_available=dict(ps=1, worker=3))
starts('roles_that_fill_up', 5000, 3, ROLES, ['p0', 'w0', 'w1'], min_task_available=dict(ps=1))
starts('roles_that_do_not_fill_up', 4000, 3, ROLES, [], min_task_available=dict(ps=1))
starts('a_role_of_two_sizes', 4000, 3, [t('p0', 'h', role='ps'), t('w0', 'h', role='worker'),
                                       t('w1', 'h', 2000, role='worker'), t('w2', 'h', 3000, role='worker')],
       ['p0', 'w0', 'w1'], min_task_available=dict(ps=1, worker=2))


def gives(name, cpu, running, waiting, evicts, least=1):
    s('gives_' + name, n(cpu), [j('x', 'a', 0, 'Running'), j('h', 'b', least)], run('x', running) + waiting,
      [[CONFORMANCE, GANGS, PROPORTION], [PREDICATES]], [q('a'), q('b')], ('reclaim',), evict_count=evicts)


gives('for_the_small_one', 4000, 4, sizes('h', 1000, 2000), 1)
gives('for_the_large_one', 4000, 4, sizes('h', 2000, 1000), 2)
gives('for_what_is_deserved', 4000, 4, sizes('h', 3000, 1000), 1)
gives('for_a_min_of_1', 8000, 8, ts('h', 3), 1)
gives('for_a_min_of_2', 8000, 8, ts('h', 3), 2, 2)
json.dump(dict(schema_version=1, cases=cases), sys.stdout)
