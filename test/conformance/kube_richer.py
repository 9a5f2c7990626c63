"""Cases of kube-batch's kinds in which the plugin drf says who ends in a queue: a job takes from one that has more, of all
there is and of what that is most, as long as it has no more in the end. Worked out by hand. Writes them as JSON.
"""
import json
import sys

from kube_write import *

GANGS = p('gang', 'jobOrder', 'jobReady', 'jobPipelined', 'jobStarving', 'preemptable')
DRF = p('drf', 'jobOrder', 'preemptable')
TASKS_STARVE = p('priority', 'jobStarving', 'jobPipelined')
SPARES = p('gang', 'jobReady', 'jobPipelined', 'preemptable')


def run(job, m, cpu=1000, **k):
    return [t(f'{job}r{i}', job, cpu, 'Running', **k) for i in range(m)]


def takes(name, cpu, who, tasks, evicts, tiers=[[GANGS, DRF], [PREDICATES]], system='volcano', least=None, queue=None,
          priority=None, mem=64, **expect):
    """Jobs by name, their mins (1, or else) and priorities."""
    jobs = [j(x, (queue or {}).get(x, 'q'), (least or {}).get(x, 1), priority=(priority or {}).get(x, 0)) for x in who]
    s('richer_' + name, [node('n', 1000 * cpu, mem)], jobs, tasks, tiers, [q('q'), q('r')], ('preempt',), system,
      evict_count=evicts, **expect)


four, y = run('x', 4), ts('y', 1)
takes('one', 4, 'xy', four, 0)
takes('one_of_four', 4, 'xy', four + y, 1)                                   # 1/4 and 3/4
takes('two_of_four', 4, 'xy', four + ts('y', 2), 2, least=dict(y=2))         # 2/4 and 2/4
takes('three_of_four', 4, 'xy', four + ts('y', 3), 0, least=dict(y=3))       # 3/4 and 1/4
takes('of_one_of_two', 6, 'xyz', four + run('z', 2) + y, 1)                        # 1/6; 3/6 or 1/6
takes('of_equals', 4, 'xyz', run('x', 2) + run('z', 2) + y, 1)               # 1/4 and 1/4
takes('not_all_of_one', 2, 'xyz', run('x', 1) + run('z', 1) + y, 0)          # 1/2 and 0
takes('no_gang_below_its_min', 4, 'xy', four + y, 0, least=dict(x=4))
takes('what_a_gang_spares', 4, 'xy', four + y, 1, least=dict(x=3))
takes('a_large_task', 4, 'xy', run('x', 2, 2000) + y, 1)                     # 1/4 and 2/4
takes('no_task_of_all', 4, 'xy', run('x', 1, 4000) + y, 0)                   # 1/4 and 0
takes('whatever_the_priority', 4, 'xy', four + y, 1, priority=dict(x=9))
takes('not_of_another_queue', 4, 'xy', four + y, 0, queue=dict(x='r'))
takes('who_may_not_be_ended', 4, 'xy', run('x', 4, preemptable=False) + y, 0)
takes('for_two_jobs', 4, 'xyz', four + y + ts('z', 1), 2)
takes('with_room', 5, 'xy', four + y, 0)
takes('with_room_for_one_of_two', 5, 'xy', four + ts('y', 2), 1, least=dict(y=2))
# The memory is what it has most of: 2/8 and 6/8, then 4/8 and 4/8; by cores two more would be given.
takes('by_memory', 16, 'xy', run('x', 4, mem=2) + ts('y', 1, mem=2), 1, mem=8)
takes('by_memory_two', 16, 'xy', run('x', 4, mem=2) + ts('y', 2, mem=2), 2, mem=8, least=dict(y=2))
takes('by_memory_three', 16, 'xy', run('x', 4, mem=2) + ts('y', 3, mem=2), 0, mem=8, least=dict(y=3))
# x has half of the memory, y half of the cores: neither has less.
takes('of_another_kind', 4, 'xy', run('x', 2, 0, mem=4) + run('x2', 0) + run('y', 2) + [t('y8', 'y', 0, mem=8)], 0, mem=16,
      tiers=[[TASKS_STARVE, SPARES, DRF], [PREDICATES]])
ONE_BY_ONE = [[TASKS_STARVE, SPARES, DRF], [PREDICATES]]
takes('one_more', 4, 'xy', run('x', 3) + run('y', 1) + [t('y9', 'y')], 1, ONE_BY_ONE)      # 2/4 and 2/4
takes('no_more', 4, 'xy', run('x', 2) + run('y', 2) + [t('y9', 'y')], 0, ONE_BY_ONE)
takes('as_many_as_are_fair', 4, 'xy', four + ts('y', 3), 2, ONE_BY_ONE)
takes('as_many_in_kube_batch', 4, 'xy', four + ts('y', 3), 2, [[p('gang', 'jobReady', 'jobPipelined'), DRF], [PREDICATES]],
      'kube-batch')
takes('the_first_tier_says', 4, 'xy', four + y, 0, [[GANGS, p('priority', 'jobOrder', 'preemptable')], [DRF, PREDICATES]])
takes('drf_is_the_first_tier', 4, 'xy', four + y, 1, [[GANGS, DRF], [p('priority', 'jobOrder', 'preemptable'), PREDICATES]])
json.dump(dict(schema_version=1, cases=cases), sys.stdout)
