"""Wrong decisions for small scenes that are written by hand, where random ones seldom show a law."""


def by_hand(scene, config, events, told):
    """A scene and decisions that are not what a scheduler decides."""
    scene.nodes, scene.cores, scene.gpus, scene.memory, scene.tools, scene.others = 2, 2, 0, 0, 0, {}
    scene.config = {"queues": config}
    scene.events = events
    return told


def submit(at, name, queue, nodes, duration, **more):
    job = {"id": name, "queue": queue, "user": "ann", "nodes": nodes, "duration": duration}
    return {"at": at, "submit": dict(job, **more)}


def start(at, name, resources, until, how="immediate"):
    return {"at": at, "job": name, "decision": "start", "how": how, "until": until, "resources": resources}


def more_work_lost(scene, decisions, shown):
    """Of two jobs the one is stopped that has run for longer."""
    config = {"q0": {"policy": "easy"}, "low": {"policy": "easy", "preemptible": "cancel"}}
    events = [submit(0, "a", "low", 1, 100), submit(10, "b", "low", 1, 100), submit(20, "p", "q0", 1, 50)]
    shown.clear()
    decisions[:] = by_hand(scene, config, events, [
        start(0, "a", "node0", 100), start(10, "b", "node1", 110),
        {"at": 20, "job": "a", "decision": "preempt", "for": "p", "then": "cancel"},
        {"at": 20, "job": "a", "decision": "end", "status": "preempted"}, start(20, "p", "node0", 70)])
    return True


def older(scene, decisions, shown):
    """Of two jobs that lose the same work, the older one is stopped."""
    config = {"q0": {"policy": "easy"}, "low": {"policy": "easy", "preemptible": "cancel"}}
    events = [submit(0, "a", "low", 1, 100, cores=1), submit(10, "b", "low", 1, 100, cores=2),
              submit(10, "c", "q0", 1, 100, cores=1), submit(20, "p", "q0", 1, 50, cores=1)]
    shown.clear()
    decisions[:] = by_hand(scene, config, events, [
        start(0, "a", "node0/core0", 100), start(10, "b", "node1", 110), start(10, "c", "node0/core1", 110),
        {"at": 20, "job": "a", "decision": "preempt", "for": "p", "then": "cancel"},
        {"at": 20, "job": "a", "decision": "end", "status": "preempted"},
        start(20, "p", "node0/core0", 70)])
    return True


def overtaken(scene, decisions, shown):
    """The first of a higher queue under fcfs is delayed by a job of a lower one."""
    config = {"q0": {"policy": "easy"}, "high": {"policy": "fcfs", "priority": 10}}
    events = [submit(0, "a", "q0", 1, 100), submit(1, "h", "high", 2, 50), submit(2, "b", "q0", 1, 200)]
    shown.clear()
    decisions[:] = by_hand(scene, config, events, [
        start(0, "a", "node0", 100), {"at": 1, "job": "h", "decision": "wait", "reason": "resources node"},
        start(2, "b", "node1", 202)])
    return True


def put_off_behind_higher(scene, decisions, shown):
    """A promise is put off for no reason while a higher job, which nothing happens to, is promised a time as well."""
    config = {"q0": {"policy": "easy"}, "high": {"policy": "easy", "priority": 10}}
    events = [submit(0, "a", "q0", 2, 100), submit(1, "h", "high", 2, 50), submit(1, "b", "q0", 1, 200),
              submit(50, "c", "q0", 1, 10)]
    shown.clear()
    shown.update({at: {"h": "node[0-1]", "b": "node0"} for at in (1, 50)})
    decisions[:] = by_hand(scene, config, events, [
        start(0, "a", "node[0-1]", 100), {"at": 1, "job": "h", "decision": "reserve", "start": 100},
        {"at": 1, "job": "b", "decision": "reserve", "start": 150},
        {"at": 50, "job": "b", "decision": "reserve", "start": 160}])
    return True


def second_promised(scene, decisions, shown):
    """A node was away for a while, and the promise of the first job is its successor's when it is back."""
    config = {"q0": {"policy": "easy"}}
    events = [submit(0, "a", "q0", 1, 100), submit(1, "b", "q0", 2, 50), {"at": 10, "drain": "node1"},
              submit(11, "c", "q0", 1, 500), {"at": 12, "up": "node1"}]
    shown.clear()
    shown.update({1: {"b": "node[0-1]"}, 11: {"c": "node0"}, 12: {"c": "node0"}})
    decisions[:] = by_hand(scene, config, events, [
        start(0, "a", "node0", 100), {"at": 1, "job": "b", "decision": "reserve", "start": 100},
        {"at": 10, "job": "b", "decision": "wait", "reason": "resources node"},
        {"at": 11, "job": "c", "decision": "reserve", "start": 100}])
    return True


def array_counts_as_many(scene, decisions, shown):
    """An array counts for the depth of its queue as many times as it has members that wait."""
    config = {"q0": {"policy": "easy", "queue-depth": 2}}
    events = [submit(0, "r", "q0", 1, 100), submit(1, "a", "q0", 2, 50, array=3), submit(2, "b", "q0", 1, 10)]
    shown.clear()
    shown.update({at: {"a[0]": "node[0-1]"} for at in (1, 2)})
    decisions[:] = by_hand(scene, config, events, [
        start(0, "r", "node0", 100), {"at": 1, "job": "a[0]", "decision": "reserve", "start": 100},
        {"at": 2, "job": "b", "decision": "wait", "reason": "queue depth"}])
    return True


def stopped_by_limit(scene, decisions, shown):
    """Under fcfs a job that only a limit keeps stops those behind it."""
    config = {"q0": {"policy": "fcfs", "limits": {"user": {"running": 1}}}}
    events = [submit(0, "a", "q0", 1, 100), submit(1, "b", "q0", 1, 100), submit(2, "c", "q0", 1, 10, user="bob")]
    shown.clear()
    shown.update({at: {"b": "node0"} for at in (1, 2)})
    decisions[:] = by_hand(scene, config, events, [
        start(0, "a", "node0", 100), {"at": 1, "job": "b", "decision": "reserve", "start": 100},
        {"at": 2, "job": "c", "decision": "wait", "reason": "priority"}])
    return True


def moved_in(scene, decisions, shown):
    """A job is moved into a virtual queue whose parent takes none."""
    config = {"q0": {"policy": "easy"}, "v": {"parent": "q0"}, "q1": {"policy": "easy"}}
    events = [submit(0, "a", "q0", 2, 100), submit(1, "b", "q1", 2, 10), {"at": 2, "queue-drain": "q0"},
              {"at": 3, "queue": {"id": "b", "value": "v"}}]
    shown.clear()
    shown.update({at: {"b": "node[0-1]"} for at in (1, 2, 3)})
    decisions[:] = by_hand(scene, config, events, [
        start(0, "a", "node[0-1]", 100), {"at": 1, "job": "b", "decision": "reserve", "start": 100}])
    return True


def let_in(scene, decisions, shown):
    """More jobs are pending than may be."""
    config = {"q0": {"policy": "fcfs", "limits": {"user": {"pending": 1}}}}
    events = [submit(0, "a", "q0", 2, 100), submit(1, "b", "q0", 2, 10), submit(2, "c", "q0", 2, 10)]
    shown.clear()
    decisions[:] = by_hand(scene, config, events, [
        start(0, "a", "node[0-1]", 100), {"at": 1, "job": "b", "decision": "wait", "reason": "resources node"},
        {"at": 2, "job": "c", "decision": "wait", "reason": "priority"}])
    return True


def half_let_in(scene, decisions, shown):
    """Of an array only as many are taken as jobs may be pending, though it is one job."""
    config = {"q0": {"policy": "fcfs", "limits": {"user": {"pending": 2}}}}
    events = [submit(0, "a", "q0", 2, 100), submit(1, "b", "q0", 2, 10, array=3)]
    shown.clear()
    decisions[:] = by_hand(scene, config, events, [
        start(0, "a", "node[0-1]", 100), {"at": 1, "job": "b[2]", "decision": "reject", "reason": "limit user pending 2"},
        {"at": 1, "job": "b[0]", "decision": "wait", "reason": "resources node"},
        {"at": 1, "job": "b[1]", "decision": "wait", "reason": "resources node"}])
    return True


def waits_behind_promise(scene, decisions, shown):
    """A job is promised the end of one that may be stopped for it, as another is promised that time already."""
    config = {"q0": {"policy": "easy"}, "low": {"policy": "easy", "priority": -10, "preemptible": "requeue"}}
    events = [submit(0, "a", "low", 2, 100), submit(1, "b", "low", 2, 50), submit(20, "p", "q0", 2, 10)]
    shown.clear()
    shown.update({1: {"b": "node[0-1]"}, 20: {"p": "node[0-1]", "b": "node[0-1]"}})
    decisions[:] = by_hand(scene, config, events, [
        start(0, "a", "node[0-1]", 100), {"at": 1, "job": "b", "decision": "reserve", "start": 100},
        {"at": 20, "job": "p", "decision": "reserve", "start": 100},
        {"at": 20, "job": "b", "decision": "reserve", "start": 110}])
    return True


def limited_by_promise(scene, decisions, shown):
    """A limit keeps a job, of which one behind it is promised something."""
    config = {"q0": {"policy": "easy", "limits": {"user": {"running": 1}}}}
    events = [submit(0, "a", "q0", 1, 100, user="bob"), submit(1, "b", "q0", 2, 50),
              submit(2, "c", "q0", 1, 200, priority=5)]
    shown.clear()
    shown.update({at: {"b": "node[0-1]"} for at in (1, 2)})
    decisions[:] = by_hand(scene, config, events, [
        start(0, "a", "node0", 100), {"at": 1, "job": "b", "decision": "reserve", "start": 100},
        {"at": 2, "job": "c", "decision": "wait", "reason": "limit user running 1"}])
    return True


def put_off_for(scene, decisions, shown, own, node):
    """At its time, a job is promised a later one, as one of another queue starts, which has jobs of borrowers stopped."""
    config = {"a": {"policy": "easy", "preempts": "borrowers", "shares": {"weight": 1}},
              "b": {"policy": "easy", "shares": dict(own, weight=1)}}
    events = [submit(0, "x", "a", 1, 50), submit(0, "y", "a", 1, 50), submit(1, "g", "b", 1, 50), submit(50, "z", "a", 1, 60)]
    shown.clear()
    shown.update({1: {"g": "node0"}, 50: {"g": "node0"}})
    decisions[:] = by_hand(scene, config, events, [
        start(0, "x", "node0", 50), start(0, "y", "node1", 50), {"at": 1, "job": "g", "decision": "reserve", "start": 50},
        {"at": 50, "job": "x", "decision": "end", "status": "done"},
        {"at": 50, "job": "y", "decision": "end", "status": "done"}, start(50, "z", node, 110),
        {"at": 50, "job": "g", "decision": "reserve", "start": 110}])
    return True


def put_off_beside(scene, decisions, shown):
    """A job is put off for one of another queue that starts elsewhere."""
    return put_off_for(scene, decisions, shown, {}, "node1")


def put_off_guaranteed(scene, decisions, shown):
    """A job of a queue that is guaranteed that much is put off for one of another queue."""
    return put_off_for(scene, decisions, shown, {"guarantee": {"core": 2}}, "node0")


def lent_for_a_second(scene, decisions, shown, policy, told):
    """A job starts on more than its queue deserves while another of a queue that has nothing waits, and is stopped for that."""
    config = {"a": {"policy": policy, "preempts": "borrowers", "shares": {"weight": 1}},
              "b": {"policy": "easy", "shares": {"weight": 1}}}
    events = [submit(0, "x", "a", 2, 50), submit(1, "g", "b", 2, 50), submit(2, "z", "a", 1, 60)]
    has = {"z": "node0"} if told["decision"] == "reserve" else {}
    shown.clear()
    shown.update({1: {"g": "node[0-1]"}, 2: dict(has, g="node[0-1]"), 50: has, 51: {"g": "node[0-1]"}})
    decisions[:] = by_hand(scene, config, events, [
        start(0, "x", "node[0-1]", 50), {"at": 1, "job": "g", "decision": "reserve", "start": 50}, dict(told, at=2, job="z"),
        {"at": 50, "job": "x", "decision": "end", "status": "done"}, start(50, "g", "node[0-1]", 100, "reserved"),
        {"at": 51, "job": "g", "decision": "preempt", "for": "z", "then": "requeue"},
        start(51, "z", "node0", 111), {"at": 51, "job": "g", "decision": "reserve", "start": 111}])
    scene.config["shares"] = {}
    return True


def lent_before_promise(scene, decisions, shown):
    """What a job borrows is taken back a second later for one that was promised a later time."""
    return lent_for_a_second(scene, decisions, shown, "easy", {"decision": "reserve", "start": 100})


def lent_before_open(scene, decisions, shown):
    """What a job borrows is taken back a second later for one that waited, and was promised nothing."""
    return lent_for_a_second(scene, decisions, shown, "fcfs", {"decision": "wait", "reason": "resources node"})


def entered(scene, decisions, shown):
    """A job starts in what another one claims, which waits for one of whom nobody knows when it ends."""
    config = {"q0": {"policy": "easy", "starvation-threshold": 10}}
    events = [submit(0, "a", "q0", 1, 100), submit(1, "w", "q0", 2, 100), submit(12, "b", "q0", 1, 5)]
    del events[0]["submit"]["duration"]
    shown.clear()
    shown.claimed = {11: {"w": "node[0-1]"}, 12: {"w": "node[0-1]"}}
    decisions[:] = by_hand(scene, config, events, [
        start(0, "a", "node0", None), {"at": 1, "job": "w", "decision": "wait", "reason": "resources node"},
        {"at": 11, "job": "w", "decision": "wait", "reason": "claims 1 of 2 nodes, waits for a"},
        start(12, "b", "node1", 17)])
    return True


def claimed_both(config, more):
    """Two queues, of which the first starves; a job of unknown end; and one that waits for it with a claim of both nodes from 11
    on, and more events."""
    events = [submit(0, "a", "q0", 1, 100), submit(1, "w", "q0", 2, 100)] + more
    del events[0]["submit"]["duration"]
    return dict({"q0": {"policy": "easy", "starvation-threshold": 10}}, **config), events, [
        start(0, "a", "node0", None), {"at": 1, "job": "w", "decision": "wait", "reason": "resources node"},
        {"at": 11, "job": "w", "decision": "wait", "reason": "claims 1 of 2 nodes, waits for a"}]


def promised_in(queue):
    """A job is promised a time in what another one claims."""
    def change(scene, decisions, shown):
        """A job is promised a time in what another one claims, also one that may be stopped there."""
        config, events, told = claimed_both({"q1": {"policy": "easy", "preemptible": "cancel"}}, [submit(12, "b", queue, 1, 5)])
        shown.clear()
        shown.update({12: {"b": "node1"}})
        shown.claimed = {11: {"w": "node[0-1]"}, 12: {"w": "node[0-1]"}}
        decisions[:] = by_hand(scene, config, events, told + [{"at": 12, "job": "b", "decision": "reserve", "start": 20}])
        return True
    return change


def claimed_memory(scene, decisions, shown):
    """Two jobs claim more memory of a node than it has."""
    config, events, told = claimed_both({}, [submit(1, "v", "q0", 2, 100, cores=1, memory=5)])
    config["q0"]["claims"] = 2
    events[1]["submit"].update(cores=1, memory=5)
    shown.clear()
    shown.claimed = {11: {"w": "node[0-1]/core0,node[0-1]/memory:5", "v": "node[0-1]/core1,node[0-1]/memory:5"}}
    decisions[:] = by_hand(scene, config, events, told[:2] + [
        {"at": 1, "job": "v", "decision": "wait", "reason": "resources core"},
        {"at": 11, "job": "w", "decision": "wait", "reason": "claims 1 of 2 cores, waits for a"},
        {"at": 11, "job": "v", "decision": "wait", "reason": "claims 1 of 2 cores, waits for a"}])
    scene.memory = 8
    return True


def waits_behind_claim(policy):
    """A job waits for what another one behind it claims."""
    def change(scene, decisions, shown):
        """A job waits though what is free is claimed by nobody who goes before it."""
        config, events, told = claimed_both({"q1": {"policy": policy}}, [submit(1, "b", "q0", 1, 20), submit(1, "k", "q1", 1, 5)])
        events[1:4] = [events[2], events[3], dict(events[1], at=2)]
        events[1]["at"] = 0
        shown.clear()
        shown.claimed = {12: {"w": "node[0-1]"}, 20: {"w": "node[0-1]"}}
        decisions[:] = by_hand(scene, config, events, [
            told[0], start(0, "b", "node1", 20), {"at": 1, "job": "k", "decision": "wait", "reason": "resources node"},
            dict(told[1], at=2), {"at": 12, "job": "w", "decision": "wait", "reason": "claims 0 of 2 nodes, waits for a,b"},
            {"at": 20, "job": "b", "decision": "end", "status": "done"},
            {"at": 20, "job": "w", "decision": "wait", "reason": "claims 1 of 2 nodes, waits for a"}])
        return True
    return change
