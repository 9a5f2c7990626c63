"""Cases of kube-batch's kinds about which node comes first, with what is expected worked out by hand: by what tasks prefer,
and by what is in use of the resources that count. Writes them as JSON; with `out`, those that are left out.
"""
import json
import sys

from kube_write import *


def by(name='nodeorder', **weights):
    """Of the plugin `nodeorder` only these weights are not 0."""
    names = dict(leastrequested=0, mostrequested=0, balancedresource=0, nodeaffinity=0, tainttoleration=0)
    return p(name, 'nodeOrder', **{f'{k}.weight': v for k, v in {**names, **weights}.items()})


def likes(*terms):
    """Each term: a weight, and expressions of a key, a sign and values."""
    return dict(affinity=dict(NodeAffinity=dict(PreferredDuringSchedulingIgnoredDuringExecution=[
        dict(Weight=weight, Preference=dict(MatchExpressions=[
            dict(Key=k, Operator=sign, Values=list(v)) for k, sign, *v in expressions])) for weight, *expressions in terms])))


def n(name, cpu=2000, taints=0, mem=8, more=None, **labels):
    soft = [dict(key=f'k{i}', value='v', effect='PreferNoSchedule') for i in range(taints)]
    return node(name, cpu, mem, more=more, labels=labels, taints=soft)


def first(name, nodes, tasks, score, *on, system='volcano', running=()):
    """Tasks start on these nodes, in their order."""
    tasks = [dict(t(f'a{i}', 'a', 1000, priority=9 - i), **task) for i, task in enumerate(tasks)]
    s(name, nodes, [j('r'), j('a')], list(running) + tasks, [[GANG, p('priority', 'taskOrder')], [PREDICATES, score]],
      system=system, binds={f'a{i}': x for i, x in enumerate(on)}, bind_count=len(on))


ZONES = [n('n1', z='1', size='10'), n('n2', z='2', size='20'), n('n3', z='3', size='30')]
AFFINITY, TAINTS = by(nodeaffinity=1), by(tainttoleration=1)


def zones(name, on, *terms, **k):
    first('likes_' + name, ZONES, [likes(*terms)], k.pop('score', AFFINITY), on, **k)


def likes_cases():
    zones('in', 'n2', (1, ('z', 'In', '2')))
    zones('one_of_several', 'n3', (1, ('z', 'In', '3', '4')))
    zones('not_in', 'n2', (1, ('z', 'NotIn', '1', '3')))
    zones('greater', 'n3', (1, ('size', 'Gt', '20')))
    zones('both_of_a_term', 'n2', (1, ('size', 'Gt', '10'), ('size', 'Lt', '30')))
    zones('the_heavier', 'n3', (10, ('z', 'In', '2')), (20, ('z', 'In', '3')))
    zones('two_light_ones', 'n2', (10, ('z', 'In', '2')), (20, ('z', 'In', '3')), (11, ('size', 'In', '20')))
    zones('of_kube_batch', 'n2', (1, ('z', 'In', '2')), system='kube-batch')
    # It only prefers that: where it is full, the next one will do, and a node is no worse for having none of the labels.
    first('likes_what_is_full', ZONES, [dict(likes((1, ('z', 'In', '2'))), request=dict(cpu=2000, memory=G))] * 2, AFFINITY,
          'n2', 'n1')
    first('likes_before_who_does_not', ZONES, [likes((1, ('z', 'In', '3'))), {}], AFFINITY, 'n3', 'n3')
    # One taint is better than two, and none is best; by as much as the weights say.
    first('fewer_taints', [n('n1', taints=2), n('n2', taints=1)], [{}], TAINTS, 'n2')
    first('no_taint', [n('n1', taints=1), n('n2', taints=1), n('n3')], [{}] * 3, TAINTS, 'n3', 'n3', 'n1')
    for weight, on in ((1, 'n2'), (3, 'n1')):
        first(f'taints_{weight}_to_2', [n('n1', z='1'), n('n2', taints=1, z='2')],
              [likes((1, ('z', 'In', '2')))], by(nodeaffinity=2, tainttoleration=weight), on)
    # Without the weight it is nothing to anybody: by what is in use it is the other one.
    first('likes_for_nothing', ZONES, [likes((1, ('z', 'In', '1')))], by(leastrequested=1), 'n2',
          running=[t('r0', 'r', 1000, 'Running', on='n1')])


def binpack(name, arguments, used, *on, ask=None):
    """Two nodes of 4 cores, 8 GB and 4 GPUs, of which so much is in use."""
    more = {'vendor/gpu': 4}
    running = [t(f'r{i}', 'r', 1000 * c, 'Running', mem=m, more={'vendor/gpu': g}, on=f'n{i}')
               for i, (c, m, g) in enumerate(used)]
    request = dict(cpu=1000, memory=G, **(ask if ask is not None else {'vendor/gpu': 1}))
    first('packs_by_' + name, [n(f'n{i}', 4000, more=more) for i in range(2)], [dict(request=request)],
          p('binpack', 'nodeOrder', **arguments), *on, running=running)


GPU = {'binpack.resources': 'vendor/gpu', 'binpack.cpu': 0, 'binpack.memory': 0}


def packs_cases():
    # 2/4 + 2/8 and 3/4 + 2/8; with the GPUs 2/4 + 2/8 + 4/4 and 3/4 + 2/8 + 2/4; by these alone, by memory alone.
    binpack('default', {}, ((1, 1, 3), (2, 1, 1)), 'n1')
    binpack('all', {'binpack.resources': 'vendor/gpu'}, ((1, 1, 3), (2, 1, 1)), 'n0')
    binpack('gpus', GPU, ((2, 6, 1), (1, 1, 2)), 'n1')
    binpack('gpus_by_text', {**GPU, 'binpack.cpu': '0', 'binpack.memory': '0'}, ((2, 6, 1), (1, 1, 2)), 'n1')
    binpack('memory', {'binpack.cpu': 0}, ((3, 1, 0), (1, 4, 0)), 'n1')
    # Only what is requested counts: nobody asks for a GPU.
    binpack('what_is_requested', {'binpack.resources': 'vendor/gpu'}, ((1, 1, 4), (2, 1, 0)), 'n1', ask={})


def left_out_cases():
    binpack('unequal', {'binpack.cpu': 5}, ((1, 1, 3), (2, 1, 1)), 'n1')
    first('evenly', [n('n1', 4000, mem=2), n('n2', 2000, mem=2)], [dict(request=dict(cpu=1000, memory=G))],
          by(balancedresource=1), 'n2')
    first('two_minds', ZONES, [likes((1, ('z', 'In', '2'))), likes((1, ('z', 'In', '3')))], AFFINITY, 'n2', 'n3')
    first('likes_and_use', ZONES, [likes((1, ('z', 'In', '2')))], by(nodeaffinity=1, leastrequested=1), 'n2')


if sys.argv[1:] == ['out']:
    left_out_cases()
else:
    likes_cases()
    packs_cases()
json.dump(dict(schema_version=1, cases=cases), sys.stdout)
