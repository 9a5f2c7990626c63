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
    scores = score if isinstance(score, list) else [score]
    s(name, nodes, [j('r'), j('a')], list(running) + tasks, [[GANG, p('priority', 'taskOrder')], [PREDICATES, *scores]],
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


def binpack(name, arguments, used, *on, ask=None, beside=()):
    """Two nodes of 4 cores, 8 GB and 4 GPUs, of which so much is in use."""
    more = {'vendor/gpu': 4}
    running = [t(f'r{i}', 'r', 1000 * c, 'Running', mem=m, more={'vendor/gpu': g}, on=f'n{i}')
               for i, (c, m, g) in enumerate(used)]
    request = dict(cpu=1000, memory=G, **(ask if ask is not None else {'vendor/gpu': 1}))
    first('packs_by_' + name, [n(f'n{i}', 4000, more=more) for i in range(2)], [dict(request=request)],
          [p('binpack', 'nodeOrder', **arguments), *beside], *on, running=running)


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


def even(name, used, score, *on, asks=((1, 1),), size=8, **k):
    """Two nodes of so many cores and GB, of which so much is in use."""
    running = [t(f'r{i}', 'r', 1000 * c, 'Running', mem=m, on=f'n{i}') for i, (c, m) in enumerate(used)]
    first('evenly_' + name, [n(f'n{i}', 1000 * size) for i in range(2)],
          [dict(request=dict(cpu=1000 * c, memory=m * G)) for c, m in asks], score, *on, running=running, **k)


def even_cases():
    # 1/4 and 1/2, or 1/2 and 1/2.
    first('evenly', [n('n1', 4000, mem=2), n('n2', 2000, mem=2)], [dict(request=dict(cpu=1000, memory=G))],
          by(balancedresource=1), 'n2')
    # 4/4 and 2/8, or 1/4 and 2/8; then 4/4 and 6/8, or 2/4 and 8/8.
    even('two', ((3, 0), (0, 0)), by(balancedresource=10), 'n1', 'n0', asks=((1, 2), (1, 6)), size=4)
    # 5/8 and 6/8, or 2/8 and 8/8: of 100 there are 31 and 93, or 37 and 62; of 10 there are 2 and 8, or 3 and 2 at most.
    used, ask = ((4, 4), (1, 6)), ((1, 2),)
    even('beside_use', used, by(leastrequested=1, balancedresource=1), 'n0', asks=ask)
    even('by_default', used, p('nodeorder', 'nodeOrder'), 'n0', asks=ask)
    even('of_kube_batch', used, by(leastrequested=1, balancedresource=1), 'n0', asks=ask, system='kube-batch')
    even('for_nothing', used, by(leastrequested=1), 'n1', asks=ask)
    # 6/8 and 6/8, or 2/8 and 5/8. In Volcano 25 and 100, or 56 and 81; in kube-batch 2 and 10, or 5 and 6.
    used = ((5, 5), (1, 4))
    even('half_of_what_is_between', used, by(leastrequested=1, balancedresource=1), 'n1')
    even('what_is_between', used, by(leastrequested=1, balancedresource=1), 'n0', system='kube-batch')
    even('twice', used, by(leastrequested=1, balancedresource=2), 'n0')
    # 8/8 and 2/8, or 4/8 and 4/8: 62 and 62, or 50 and 100.
    even('beside_most', ((7, 1), (3, 3)), by(mostrequested=1, balancedresource=1), 'n1')
    even('most_alone', ((7, 1), (3, 3)), by(mostrequested=1), 'n0')
    # 7/8 and 5/8, or 2/8 and 2/8: of binpack 75 or 25, of nodeorder 24 and 87, or 75 and 100.
    used, packed = ((6, 4), (1, 1)), p('binpack', 'nodeOrder')
    even('beside_binpack', used, [packed, by(leastrequested=1, balancedresource=1)], 'n1')
    even('heavy_binpack', used, [p('binpack', 'nodeOrder', **{'binpack.weight': 3}), by(leastrequested=1, balancedresource=1)],
         'n0')


def left_out_cases():
    binpack('unequal', {'binpack.cpu': 5}, ((1, 1, 3), (2, 1, 1)), 'n1')
    first('evenly_of_gpus', [n(f'n{i}', 4000, more={'nvidia.com/gpu': 4}) for i in range(2)],
          [dict(request={'cpu': 1000, 'memory': 2 * G, 'nvidia.com/gpu': 1})], by(balancedresource=1), 'n0')
    binpack('and_spreads', {'binpack.resources': 'vendor/gpu'}, ((1, 1, 3), (2, 1, 1)), 'n0', beside=[by(leastrequested=1)])
    first('two_minds', ZONES, [likes((1, ('z', 'In', '2'))), likes((1, ('z', 'In', '3')))], AFFINITY, 'n2', 'n3')
    first('likes_and_use', ZONES, [likes((1, ('z', 'In', '2')))], by(nodeaffinity=1, leastrequested=1), 'n2')


if sys.argv[1:] == ['out']:
    left_out_cases()
else:
    likes_cases()
    packs_cases()
    even_cases()
json.dump(dict(schema_version=1, cases=cases), sys.stdout)
