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

json.dump(dict(schema_version=1, cases=cases), sys.stdout)
