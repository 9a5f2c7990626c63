"""Cases of kube-batch's kinds about gangs and about who ends for whom, with what is expected worked out by hand: roles,
budgets of jobs, plugins that disagree, deadlines, sessions that follow each other. Writes them as JSON.
"""
import json
import sys

cases = []


def add(kind, name, **k):
    cases.append(dict(id='berth.' + name, name=name, kind=kind, **k))


# ---- Plugins that disagree: what one speaks against does not end ----

def votes(name, candidates, tiers, victims):
    add('victim_tiers', name, candidates=candidates, expect=dict(victims=victims),
        tiers=[[dict(plugin=p, vote=int(v is not None), victims=v) for p, v in t] for t in tiers])


votes('all_agree', ['a', 'b'], [[('gang', ['a', 'b']), ('priority', ['a', 'b'])]], ['a', 'b'])
votes('gang_needs_one', ['a', 'b'], [[('gang', ['a']), ('priority', ['a', 'b'])]], ['a'])
votes('priority_in_tier_2', ['a', 'b', 'c'], [[('gang', ['a', 'b'])], [('priority', ['b', 'c'])]], ['b'])
votes('abstains', ['a', 'b'], [[('gang', None)], [('priority', ['b'])]], ['b'])
votes('all_abstain', ['a'], [[('gang', None), ('priority', None)]], [])
votes('never_stopped', ['a', 'b'], [[('conformance', ['b']), ('other', ['a', 'b'])]], ['b'])
votes('deserves_it', ['a', 'b', 'c'], [[('gang', ['a', 'b', 'c'])], [('proportion', ['a', 'c'])]], ['a', 'c'])
votes('deserves_it_or_is_needed', ['a', 'b', 'c'], [[('gang', ['b', 'c'])], [('capacity', ['a', 'b'])]], ['b'])

# ---- Budgets of jobs, when what nodes are lent for is over ----


def budget(name, n, victims, fixed=0, zone='0:00-0:01', **notes):
    notes = {'volcano.sh/jdb-' + k.replace('_', '-'): v for k, v in notes.items()}
    tasks = [dict(name=f't{i}', job='j', status='Running', node='n', request=dict(cpu=1000), preemptable=i >= fixed)
             for i in range(n)]
    add('victim_count', name, config=dict(tiers=[[dict(name='tdm', arguments={'tdm.revocable-zone.z': zone})]]),
        queues=[dict(name='q', weight=1)], nodes=[dict(name='n', labels={'volcano.sh/revocable-zone': 'z'})],
        jobs=[dict(name='j', queue='q', min_available=0, annotations=notes)], tasks=tasks,
        expect=dict(victims=victims))


budget('all_but_two', 6, 4, min_available='2')
budget('a_third', 6, 2, max_unavailable='2')
budget('a_part_of_one', 5, 1, max_unavailable='10%')
budget('half_are_kept', 7, 3, min_available='50%')
budget('most_never_end', 5, 1, fixed=4, min_available='1')
budget('not_yet', 5, 0, zone='0:00-0:00', max_unavailable='100%')
budget('no_budget_left', 4, 0, min_available='100%')

# ---- Deadlines ----


def deadlines(name, all_wait, waits, **expect):
    add('plugin_order_and_enqueue', name, plugin='sla', arguments={'sla-waiting-time': all_wait} if all_wait else {},
        jobs=[dict(name=f'job{i + 1}', waiting_time_s=w, creation=0) for i, w in enumerate(waits)],
        expect={f'job_order_less(job{a[1]},job{a[2]})': v for a, v in expect.items()})


deadlines('sooner', '10m', [None, 300], _12=False, _21=True)
deadlines('later', '1h', [None, 7200], _12=True, _21=False)
deadlines('none_is_last', None, [None, 86400], _12=False)
deadlines('in_hours_and_minutes', '1h30m', [5460, None], _12=False)

# ---- Readiness ----


def readiness(name, least, running, coming, pending, best_effort, **expect):
    tasks = ([dict(name='', status=s, best_effort=False) for s, n in
              (('Running', running), ('Pipelined', coming), ('Pending', pending)) for _ in range(n)] +
             [dict(name='', status='Pending', best_effort=True)] * best_effort)
    add('job_readiness', name, min_available=least, tasks=tasks, expect=dict(pending_best_effort=best_effort, **expect))


readiness('one_is_missing', 3, 2, 0, 2, 0, ready=False, pipelined=False, starving=True)
readiness('one_is_coming', 3, 2, 1, 2, 0, ready=False, pipelined=True, starving=False)
readiness('one_needs_nothing', 3, 2, 0, 2, 1, ready=True, pipelined=True, starving=True)
readiness('enough', 3, 3, 1, 2, 0, ready=True, pipelined=True, starving=False)
readiness('none_runs', 4, 0, 3, 2, 1, ready=False, pipelined=True, starving=True)


def succeeded(name, least, running, done, **expect):  # who has succeeded counts as who runs
    add('job_readiness', name, min_available=least, expect=dict(pending_best_effort=0, **expect),
        tasks=[dict(name='', status=s, best_effort=False) for s, n in
               (('Running', running), ('Succeeded', done), ('Pending', 1)) for _ in range(n)])


succeeded('one_has_succeeded', 3, 2, 1, ready=True, pipelined=True, starving=False)
succeeded('succeeded_and_one_is_missing', 4, 2, 1, ready=False, pipelined=False, starving=True)

# ---- Sessions ----

GANG = dict(name='gang', enabled=dict(jobOrder=True, jobReady=True, jobPipelined=True))
PREDICATES = dict(name='predicates', enabled=dict(predicate=True))


def task(name, job, cpu, role=None, kind=None):
    return dict(name=name, job=job, status='Pending', node=None, request=dict(cpu=cpu),
                **dict(role=role) if role else {}, **dict(node_selector=dict(kind=kind)) if kind else {})


def node(name, cpu, kind=''):
    return dict(name=name, labels=dict(kind=kind), allocatable=dict(cpu=cpu, pods=20))


def session(name, nodes, jobs, tasks, **expect):
    add('session', name, system='volcano', config=dict(actions=['allocate'], tiers=[[GANG, PREDICATES]]),
        queues=[dict(name='q', weight=1, state='Open')], nodes=nodes, tasks=tasks, expect=expect,
        jobs=[dict(name=n, queue='q', min_available=least, phase='Inqueue', min_task_available=roles)
              for n, least, roles in jobs])


def server_and_workers(n):
    return [task('s', 'j', 1000, 'server', 'big')] + [task(f'w{i}', 'j', 2000, 'worker') for i in range(n)]


session('server_and_workers', [node('big', 3000, 'big'), node('small', 4000)],
        [('j', 4, dict(server=1, worker=3))], server_and_workers(3), bind_count=4)
session('a_worker_too_few', [node('big', 2000, 'big'), node('small', 4000)],
        [('j', 4, dict(server=1, worker=3))], server_and_workers(3), binds={}, bind_count=0)
session('no_server', [node('small', 9000)], [('j', 3, dict(server=1, worker=2))], server_and_workers(3), binds={},
        bind_count=0)
session('workers_beyond_the_min', [node('big', 3000, 'big'), node('small', 4000)],
        [('j', 2, dict(server=1, worker=1))], server_and_workers(3), bind_count=4)
session('unequal_and_all_needed', [node('n', 6000)], [('j', 3, {})],
        [task('a', 'j', 1000), task('b', 'j', 2000), task('c', 'j', 3000)], bind_count=3)
session('unequal_and_too_much', [node('n', 5000)], [('j', 3, {}), ('k', 1, {})],
        [task('a', 'j', 1000), task('b', 'j', 2000), task('c', 'j', 3000), task('d', 'k', 5000)], binds={'d': 'n'},
        bind_count=1)


# ---- Who ends for a job of a higher class, in its queue: of a gang what it can spare, and as many as let all start ----

SPARED = [dict(name='conformance', enabled=dict(preemptable=True)),
          dict(name='gang', enabled=dict(preemptable=True, jobPipelined=True, jobStarving=True)),
          dict(name='priority', enabled=dict(taskOrder=True, jobOrder=True, preemptable=True, jobPipelined=True,
                                             jobStarving=True))]


def preempts(name, cpu, low, high, evicts, classes=('low', 'high'), may=True):
    """Of each job: its min, how many tasks of how much; those of the first one run."""
    priority = dict(low=10, high=100000)
    add('session', name, system='volcano', config=dict(actions=['preempt'], tiers=[SPARED]), priority_classes=priority,
        queues=[dict(name='q', weight=1, state='Open')], nodes=[dict(name='n', allocatable=dict(cpu=cpu, pods=20))],
        jobs=[dict(name=n, queue='q', min_available=job[0], priority_class=c, priority=priority[c], phase='Inqueue')
              for n, job, c in (('l', low, classes[0]), ('h', high, classes[1]))],
        tasks=[dict(name=f'l{i}', job='l', status='Running', node='n', request=dict(cpu=low[2]), preemptable=may)
               for i in range(low[1])] +
              [dict(name=f'h{i}', job='h', status='Pending', node=None, request=dict(cpu=high[2]), preemptable=True)
               for i in range(high[1])],
        expect=dict(binds={}, bind_count=0, evict_count=evicts))


preempts('one_is_spared', 4000, (2, 3, 1000), (1, 1, 2000), 1)  # and 1000 are idle
preempts('none_below_the_min', 4000, (2, 3, 1000), (1, 1, 3000), 0)
preempts('one_for_a_gang_of_two_is_none', 2000, (1, 2, 1000), (2, 2, 1000), 0)
preempts('two_for_a_gang_of_two', 3000, (1, 3, 1000), (2, 2, 1000), 2)
preempts('no_more_than_its_min_needs', 5000, (1, 5, 1000), (2, 2, 1000), 2)
preempts('equals_end_nobody', 3000, (1, 3, 1000), (1, 1, 1000), 0, classes=('high', 'high'))
preempts('the_lower_ends_nobody', 3000, (1, 3, 1000), (1, 1, 1000), 0, classes=('high', 'low'))
preempts('who_may_not_be_ended', 3000, (1, 3, 1000), (1, 1, 1000), 0, may=False)
preempts('room_enough', 4000, (1, 3, 1000), (1, 1, 1000), 0)

# ---- A predicate of the test's own: who is kept out as long as another one is there has it ended, if it may ----


def kept_out(name, classes, evicts):
    preempts(name, 4000, (0, 1, 1000), (1, 1, 1000), evicts, classes=classes)
    cases[-1]['config']['tiers'] = [SPARED + [dict(name='one-device', enabled=dict(predicate=True))]]
    cases[-1]['note'] = ('plugin one-device is defined by the test: its predicate rejects task "h0" as long as task "l0" is '
                         'on the node and not Releasing.')


kept_out('kept_out_by_the_lower', ('low', 'high'), 1)
kept_out('kept_out_by_an_equal', ('high', 'high'), 0)

# ---- The design's scenarios: a gang of three waits for two tasks, and tasks that may be ended run beside it ----


def backfilled(mode, *cycles):
    one = dict(request=dict(cpu=1000))
    running = dict(one, status='Running', node='n1')
    may_end = dict(queue='q', min_available=1, priority=0, backfill_eligible=True)
    add('seed_scenario', 'three_' + mode, config=dict(mode=mode, backfill=True, starvation_threshold_s=3600),
        nodes=[dict(name='n1', allocatable=dict(cpu=3000))], cycles=[
            dict(at_s=at, expect=expect, **rest) for at, expect, rest in cycles],
        jobs=[dict(name=f'x{i}', queue='q', min_available=1, priority=0, created_s=-100,
                   tasks=[dict(running, name=f'x{i}/0')]) for i in (1, 2)] +
             [dict(name='A', queue='q', min_available=3, priority=10, created_s=0,
                   tasks=[dict(one, name=f'A/{i}') for i in range(3)])] +
             [dict(may_end, name=n, created_s=at, tasks=[dict(one, name=n + '/0')]) for n, at in
              (('B', 1), ('C', 15), ('D', 25))])


ALL_OF_A = {f'A/{i}': 'n1' for i in range(3)}
FIRST = [(10, dict(binds={'B/0': 'n1'}, readiness=dict(A='NotReady')), {}),
         (20, dict(binds={'C/0': 'n1'}, evicts=[], readiness=dict(A='NotReady')), dict(finish=['x1/0']))]
READY = dict(A='ConditionallyReady')
backfilled('non-preemption', *FIRST,
           (30, dict(binds={}, evicts=[], readiness=READY), dict(finish=['x2/0'])),
           (40, dict(binds={}, evicts=[], readiness=READY), dict(finish=['B/0'])),
           (50, dict(binds=ALL_OF_A, evicts=[]), dict(finish=['C/0'])))
backfilled('preemption', *FIRST,
           (30, dict(binds={}, evicts=['B/0', 'C/0'], readiness=READY), dict(finish=['x2/0'])),
           (40, dict(binds=ALL_OF_A, evicts=[]), dict(terminated=['B/0', 'C/0'])))

# ---- Sessions that follow each other ----


def cycle(jobs, tasks, **expect):
    return dict(actions=['allocate'], expect=expect, add_tasks=tasks,
                add_jobs=[dict(name=n, queue='q', min_available=least, phase='Inqueue') for n, least in jobs])


add('multi_cycle', 'what_began_stays', config=dict(tiers=[[GANG, PREDICATES]]), system='volcano',
    queues=[dict(name='q', weight=1, state='Open')], nodes=[node('n', 4000)],
    cycles=[cycle([('j', 3)], [task(f'j{i}', 'j', 1000) for i in range(3)], bind_count=3),
            cycle([('k', 2)], [task(f'k{i}', 'k', 1000) for i in range(2)], binds={}, bind_count=0),
            cycle([('l', 1)], [task('l0', 'l', 1000)], binds={'l0': 'n'}, bind_count=1)])

json.dump(dict(schema_version=1, cases=cases), sys.stdout)
