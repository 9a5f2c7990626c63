"""A ledger that never complains shows nothing. Here decisions are made wrong, one kind of wrong at a time, and each
law has to notice. usage: mutate.py PLAYER"""
import copy
import sys

from hand import array_counts_as_many, claimed_memory, entered, half_let_in, lent_before_open, lent_before_promise, let_in, \
    limited_by_promise, more_work_lost, moved_in, older, overtaken, promised_in, put_off_behind_higher, put_off_beside, \
    put_off_guaranteed, second_promised, stopped_by_limit, waits_behind_claim, waits_behind_promise
from ledger import Ledger
from run import Player
from scenes import Scene
from words import TOOL, entries

SCENES = 60  # of each kind that shows it


def first(decisions, what, wanted=lambda d: True):
    return next((d for d in decisions if d["decision"] == what and wanted(d)), None)


def starts(decisions):
    return [d for d in decisions if d["decision"] == "start"]


def twice(scene, decisions, shown):
    """A job gets the resources of one that runs."""
    a = starts(decisions)
    for x, y in zip(a, a[1:]):
        if x["at"] == y["at"]:
            y["resources"] = x["resources"]
            return True


def too_much(scene, decisions, shown):
    """A job gets the whole machine."""
    d = first(decisions, "start", lambda d: "[" not in d["resources"].partition("/")[0])
    if d:
        d["resources"] = "node[0-%d]" % (scene.nodes - 1)
        return True


def other_part(scene, decisions, shown):
    """A job gets a node that its queue does not have."""
    for d in starts(decisions):
        queue = next(e["submit"]["queue"] for e in scene.events
                     if e.get("submit", {}).get("id") == d["job"].partition("[")[0])
        q = scene.config["queues"][queue]
        q = scene.config["queues"][q.get("parent", queue)]
        if q.get("requires") == {"hostlist": ["node0"]} and d["resources"].startswith("node0"):
            d["resources"] = d["resources"].replace("node0", "node%d" % (scene.nodes - 1), 1)
            return scene.nodes > 1


def late_end(scene, decisions, shown):
    """A job's `until` is another."""
    d = first(decisions, "start")
    if d:
        d["until"] += 1
        return True


def early(what):
    """A job starts although it is held, or before its time, dependency, queue or node lets it."""
    def change(scene, decisions, shown):
        """A job that waits for this starts as if it did not."""
        d = first(decisions, "wait", lambda d: d["reason"].startswith(what))
        later = d and first(decisions, "start", lambda s: s["job"] == d["job"] and s["at"] > d["at"])
        if later:
            decisions.remove(later)
            length = later["until"] - later["at"]
            at = decisions.index(d)
            decisions[at] = dict(later, at=d["at"], until=d["at"] + length)
            return True
    return change


def promise_later(scene, decisions, shown):
    """A promise is put off for no reason."""
    d = first(decisions, "reserve")
    if d:
        at = decisions.index(d)
        times = [e["at"] for e in scene.events] + [e["at"] for e in decisions]
        quiet = d["at"] + 0.5
        if quiet < d["start"] and any(t > quiet for t in times):
            while at < len(decisions) and decisions[at]["at"] <= quiet:
                at += 1
            decisions.insert(at, dict(d, at=quiet, start=d["start"] + 1000))
            return True


def promise_forgotten(scene, decisions, shown):
    """A job does not start when its promised time has come."""
    d = first(decisions, "start", lambda d: d["how"] == "reserved")
    if d:
        decisions.remove(d)
        decisions[:] = [e for e in decisions if e["job"] != d["job"] or e["at"] <= d["at"]]
        return True


def start_forgotten(scene, decisions, shown):
    """A job that could start at once does only later."""
    d = first(decisions, "start", lambda d: d["how"] == "immediate")
    if d:
        decisions[:] = [e for e in decisions if e["job"] != d["job"]]
        return True


def end_forgotten(scene, decisions, shown):
    """A job never ends."""
    d = decisions[-1]
    if d["decision"] == "end":
        decisions.remove(d)
        return True


def started_again(scene, decisions, shown):
    """A job starts once more after its end."""
    d = first(decisions, "end")
    s = d and first(decisions, "start", lambda s: s["job"] == d["job"])
    if s:
        decisions.append(dict(s, at=decisions[-1]["at"]))
        return True


def one_promise_more(scene, decisions, shown):
    """A queue under fcfs promises something."""
    d = first(decisions, "wait", lambda d: d["reason"] == "priority")
    if d:
        decisions[decisions.index(d)] = {"at": d["at"], "job": d["job"], "decision": "reserve", "start": 10 ** 9}
        return True


def promised_twice(scene, decisions, shown):
    """One is promised what another holds until then."""
    for at, jobs in shown.items():
        d = first(decisions, "start", lambda d: d["at"] <= at < d["until"])
        for job in jobs:
            if d and d["job"] != job:
                s = first(decisions, "reserve", lambda r: r["job"] == job and r["at"] == at)
                if s and s["start"] < d["until"]:
                    jobs[job] = d["resources"]
                    return True


def untold(scene, decisions, shown):
    """A promise is taken back, and nobody is told."""
    for jobs in shown.values():
        for job in jobs:
            del jobs[job]
            return True


def in_vain(scene, decisions, shown):
    """A job is stopped, and the one that it was for does not start."""
    p = first(decisions, "preempt")
    s = p and first(decisions, "start", lambda d: d["job"] == p["for"] and d["at"] == p["at"])
    if s:
        decisions[:] = [e for e in decisions if e["job"] != p["for"] or e["at"] < p["at"]]
        return True


def victim_of_spare(scene, decisions, shown):
    """A job of a queue that is not preemptible is stopped."""
    p = first(decisions, "preempt")
    if p:
        p["job"], p["for"] = p["for"], p["job"]
        return True


def queue_of(scene, job):
    """Of a job that is never moved, else none."""
    events = [e for e in scene.events if job.partition("[")[0] in str(e)]
    spec = next(e["submit"] for e in events if e.get("submit", {}).get("id") == job.partition("[")[0])
    queue = scene.config["queues"][spec["queue"]]
    return {} if any("queue" in e for e in events) or "preemptible_after" in spec else queue


def other_stoppable(scene, decisions, p):
    """Starts of jobs, but for the victim, that run at a preemption and might be stopped."""
    found = []
    for s in starts(decisions):
        ended = [d["at"] for d in decisions if d["job"] == s["job"] and d["decision"] in ("end", "preempt")]
        runs = s["at"] < p["at"] - 1 and all(at > p["at"] or at < s["at"] for at in ended)
        if runs and queue_of(scene, s["job"]).get("preemptible"):
            found.append(s)
    return found


def has_no_fcfs(scene):
    """The first of such a queue might go before."""
    return all(q.get("policy") != "fcfs" for q in scene.config["queues"].values())


def one_victim_more(scene, decisions, shown):
    """One more is stopped than is needed."""
    for p in decisions:
        others = other_stoppable(scene, decisions, p) if p["decision"] == "preempt" else []
        at_once = [d for d in decisions if d["decision"] == "preempt" and d["at"] == p["at"]]
        if others and len(at_once) == 1 and has_no_fcfs(scene):
            decisions.insert(decisions.index(p), dict(p, job=others[0]["job"]))
            return True


def nothing_promised(scene, decisions, shown):
    """No queue promises anything."""
    had = any(shown.values())
    shown.clear()
    decisions[:] = [d for d in decisions if d["decision"] != "reserve"]
    return had


def promised_in_secret(scene, decisions, shown):
    """Somebody holds a promise and is not told."""
    for d in decisions:
        if d["decision"] == "reserve" and d["job"] in shown.get(d["at"], {}):
            decisions[:] = [e for e in decisions if e["decision"] != "reserve" or e["job"] != d["job"]]
            return True


def gpus_forgotten(scene, decisions, shown):
    """A job gets no gpus although it asks for some."""
    for d in starts(decisions):
        parts = entries(d["resources"])
        if any("/gpu" in part for part in parts) and any("/core" in part for part in parts):
            d["resources"] = ",".join(part for part in parts if "/gpu" not in part)
            return True


def property_lost(scene, decisions, shown):
    """No node has the property that a job asks for."""
    asks = {e["submit"]["id"] for e in scene.events if e.get("submit", {}).get("requires") == ["fast"]}
    for e in scene.events:
        if "property" in e:
            e["property"]["value"] = None
    return any(d["job"].partition("[")[0] in asks for d in starts(decisions))


def removed_before(scene, decisions, shown):
    """Jobs start on nodes that were removed."""
    scene.events.insert(0, {"at": 0, "remove": "node[0-%d]" % (scene.nodes - 1)})
    return bool(starts(decisions))


def told_twice(scene, decisions, shown):
    """A victim is told twice."""
    p = first(decisions, "preempt")
    if p:
        decisions.insert(decisions.index(p), dict(p))
        return True


def awaits_another(scene, decisions, shown):
    """A job waits for the end of one that nobody has stopped."""
    a = first(decisions, "await")
    other = a and first(decisions, "start", lambda d: d["job"] not in (a["of"], a["job"]))
    if other:
        a["of"] = other["job"]
        return True


def rejected(scene, decisions, shown):
    """A job that could start is rejected."""
    d = first(decisions, "start")
    if d:
        decisions[:] = [e for e in decisions if e["job"] != d["job"]]
        decisions.append({"at": d["at"], "job": d["job"], "decision": "reject", "reason": "no"})
        decisions.sort(key=lambda e: e["at"])
        return True


def one_of_array_rejected(scene, decisions, shown):
    """A member of an array that waits is rejected, and the others wait on."""
    d = first(decisions, "wait", lambda d: "[" in d["job"])
    name = d and d["job"].partition("[")[0]
    waiting = [e for e in decisions if d and e["at"] == d["at"] and e["job"].startswith(name + "[")]
    if len(waiting) > 1 and all(e["decision"] == "wait" for e in waiting):
        decisions[:] = [e for e in decisions if e["job"] != d["job"] or e["at"] < d["at"]]
        decisions.append(dict(d, decision="reject", reason="no"))
        decisions.sort(key=lambda e: e["at"])
        return True


def never_rejected(scene, decisions, shown):
    """What could not start even if all were idle is not rejected."""
    d = first(decisions, "reject", lambda d: d["reason"].startswith("unsatisfiable"))
    if d:
        d.update(decision="wait", reason="resources node")
        return True


def scene_changed(kind, change):
    """The same decisions for another configuration or other events: what was right before is wrong now."""
    return kind, change


def less(scene, decisions, shown):
    """Limits are one less than those that were kept to."""
    for q in scene.config["queues"].values():
        for limits in [q.get("limits", {})] + q.get("limits", {}).get("except", []):
            for of in ("user", "queue"):
                for what, n in limits.get(of, {}).items():
                    limits[of][what] = n - 1 if n != "unlimited" else 1
    return any("limits" in q for q in scene.config["queues"].values())


def less_at_once(scene, decisions, shown):
    """Of an array, fewer may run at once than did."""
    for e in scene.events:
        array = str(e.get("submit", {}).get("array", ""))
        if array.endswith(("%2", "%3")):
            e["submit"]["array"] = array[:-1] + "1"
            return True


def more_blocks(scene, decisions, shown):
    """There is a block that nobody kept to."""
    d = first(decisions, "start")
    if d:
        scene.events.append({"at": 0, "block": {"name": "x", "resources": "node[0-%d]" % (scene.nodes - 1),
                                                "start": d["at"], "duration": 1}})
        return True


def down_before(scene, decisions, shown):
    """A node is down on which jobs start."""
    scene.events.insert(0, {"at": 0, "down": "node[0-%d]" % (scene.nodes - 1)})
    return bool(starts(decisions))


def fewer(what):
    """There is less of something than there was: a change of the scene."""
    def change(scene, decisions, shown):
        """There is less of memory or licences than jobs were given or promised."""
        setattr(scene, what, getattr(scene, what) - 1)
        return bool(starts(decisions))
    return change


def licence_forgotten(scene, decisions, shown):
    """A job gets no licence although it asks for some."""
    d = first(decisions, "start", lambda d: TOOL in d["resources"])
    if d:
        d["resources"] = ",".join(part for part in entries(d["resources"]) if not part.startswith(TOOL))
        return True


def licences_drained(scene, decisions, shown):
    """No licence is given out, and yet jobs get some."""
    scene.events[:] = [e for e in scene.events if e.get("up") != TOOL]
    scene.events.insert(0, {"at": 0, "drain": TOOL})
    return any(TOOL in d["resources"] for d in starts(decisions))


def shares_in(scene):
    """Of all queues and divisions that have any."""
    divisions = scene.config.get("shares", {}).get("divisions", {}).values()
    return [q["shares"] for q in scene.config["queues"].values() if "shares" in q] + list(divisions)


def less_capability(scene, decisions, shown):
    """Queues and divisions may have one core less than they were kept to."""
    for s in shares_in(scene):
        if "capability" in s:
            s["capability"]["core"] -= 1
    return any("capability" in s for s in shares_in(scene))


def all_guaranteed(scene, decisions, shown):
    """Jobs are stopped of queues that are guaranteed all."""
    for s in shares_in(scene):
        s["guarantee"] = {"core": scene.nodes * scene.cores}
    return first(decisions, "preempt") is not None


def preempts_nobody(scene, decisions, shown):
    """Jobs are stopped for those of queues that preempt nobody."""
    for q in scene.config["queues"].values():
        q.pop("preempts", None)
    return first(decisions, "preempt") is not None


def taken_back(scene, decisions, shown):
    """A job is stopped for the one that was stopped for it."""
    p = first(decisions, "preempt")
    began = p and first(decisions, "start", lambda d: d["job"] == p["for"] and d["at"] == p["at"])
    if began:
        decisions.insert(decisions.index(began) + 1, dict(p, **{"job": p["for"], "for": p["job"]}))
        return True


def one_user(scene, decisions, shown):
    """Jobs are stopped for those of the same user."""
    for e in scene.events:
        if "submit" in e:
            e["submit"]["user"] = "ann"
    return first(decisions, "preempt") is not None


def all_taken(scene, decisions, shown):
    """A job has the whole machine once another has been stopped for it."""
    p = first(decisions, "preempt")
    d = p and first(decisions, "start", lambda d: d["job"] == p["for"] and d["at"] == p["at"])
    if d:
        d["resources"] = "node[0-%d]" % (scene.nodes - 1)
        return True


def first_claim(shown):
    """When, and of whom."""
    return min(((at, min(some)) for at, some in shown.claimed.items()), default=(None, None))


def claimed_early(scene, decisions, shown):
    """A job claims something as soon as it waits."""
    at, name = first_claim(shown)
    d = name and first(decisions, "wait", lambda d: d["job"] == name and d["at"] < at and d["reason"].startswith("resources"))
    if d:
        shown.claimed.setdefault(d["at"], {})[name] = shown.claimed[at][name]
        return True


def claim_moved(scene, decisions, shown):
    """A claim is of other nodes for a while, though something of the old ones is still awaited."""
    at, name = first_claim(shown)
    later = [t for t, some in shown.claimed.items() if name and t > at and name in some]
    whole = "node[0-%d]" % (scene.nodes - 1)
    if later and shown.claimed[at][name] != whole:
        shown.claimed[min(later)][name] = whole
        waits = [d for d in decisions if d["job"] == name and d["at"] in (at, min(later)) and d["decision"] == "wait"]
        return bool(waits) and all("waits for" in d["reason"] for d in waits)


def fewer_claims(scene, decisions, shown):
    """Queues may have no claims."""
    for q in scene.config["queues"].values():
        q["claims"] = 0
    return bool(shown.claimed)


def unclaimed(scene, decisions, shown):
    """No job has a claim."""
    at, name = first_claim(shown)
    shown.claimed = {}
    return name is not None and not any(d["decision"] in ("start", "reserve") and d["at"] == at for d in decisions)


# Each: the laws of which one has to notice, in scenes of which kind, and how decisions are made wrong.
MUTATIONS = [
    ("twice", "queues", twice), ("nodes", "queues", too_much), ("part", "queues", other_part),
    ("until", "queues", late_end), ("begin", "queues", early("begin")), ("held", "queues", early("held")),
    ("dependency", "queues", early("dependency")), ("stopped", "queues", early("queue stopped")),
    ("promise", "queues", promise_later), ("due", "queues", promise_forgotten), ("idle", "arrays", start_forgotten),
    ("over", "queues", end_forgotten), ("state", "queues", started_again), ("count", "queues", one_promise_more),
    ("promised twice", "queues", promised_twice), ("told", "queues", untold), ("vain", "preemption", in_vain),
    ("victim", "preemption", victim_of_spare), ("state", "preemption", told_twice), ("reject", "queues", rejected),
    ("await", "preemption", awaits_another),
    ("limit", "limits", less), ("promised limit", "limits", less), ("limit", "arrays", less_at_once),
    ("fewest", "preemption", one_victim_more), ("least work", "preemption", more_work_lost),
    ("youngest", "preemption", older), ("enough", "queues", nothing_promised),
    ("promise", "queues", put_off_behind_higher), ("told", "queues", promised_in_secret),
    ("protected", "queues", overtaken),
    ("block", "blocks", more_blocks), ("down", "flapping", down_before),
    ("licences", "pools", fewer("tools")), ("promised amount", "pools", fewer("tools")), ("memory", "pools", fewer("memory")),
    ("promised amount", "pools", fewer("memory")), ("licences", "pools", licence_forgotten), ("down", "pools", licences_drained), ("gpus", "queues", gpus_forgotten), ("part", "flapping", property_lost), ("part", "flapping", removed_before),
    ("limit", "shares", less_capability), ("guarantee", "shares", all_guaranteed), ("turns", "shares", taken_back),
    ("borrowers", "shares", preempts_nobody), ("richer", "richer", one_user), ("richer", "richer", all_taken),
    ("turns", "richer", taken_back), ("borrowers", "richer", preempts_nobody), ("first", "queues", second_promised),
    ("idle", "arrays", array_counts_as_many), ("idle", "limits", stopped_by_limit),
    ("closed", "queues", moved_in), ("pending", "limits", let_in), ("pending", "limits", half_let_in),
    ("outranks", "preemption", waits_behind_promise), ("outranks", "limits", limited_by_promise),
    ("promise", "queues", put_off_beside), ("promise", "queues", put_off_guaranteed),
    ("lent", "shares", lent_before_promise), ("lent", "shares", lent_before_open),
    ("early claim", "claims", claimed_early), ("claim kept", "claims", claim_moved), ("claims", "claims", fewer_claims),
    ("starving", "claims", unclaimed), ("enters", "claims", entered),
    ("promised in", "claims", promised_in("q0")), ("promised in", "claims", promised_in("q1")),
    ("claimed memory", "claims", claimed_memory), ("idle", "claims", waits_behind_claim("fcfs")),
    ("whole", "arrays", one_of_array_rejected), ("never", "queues", never_rejected),
]


def noticed_of(player, played, law, kind, change):
    """In how many scenes the law noticed, and in how many there was something to notice."""
    made = noticed = 0
    for seed in range(1, SCENES + 1):
        if (kind, seed) not in played:
            scene = Scene(kind, seed)
            played[kind, seed] = scene, player.play(scene)
        scene, (decisions, shown, same) = copy.deepcopy(played[kind, seed])
        if change(scene, decisions, shown):
            made += 1
            noticed += any(b[1] == law for b in Ledger(scene, decisions, shown).check())
        if noticed == 3:
            break
    return noticed, made


def main():
    played = {}
    failed = 0
    with Player(sys.argv[1]) as player:
        for law, kind, change in MUTATIONS:
            noticed, made = noticed_of(player, played, law, kind, change)
            if noticed == 0 or noticed < min(made, 3):
                failed += 1
                print("law \"%s\" noticed %d of %d: %s" % (law, noticed, made, change.__doc__))
    print("%d ways of being wrong, %d not noticed" % (len(MUTATIONS), failed))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
