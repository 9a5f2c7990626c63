"""Random scenes: a configuration and what happens, as a user would write them. A scene is a function of its
kind and seed."""
import json
import random

from words import TOOL

KINDS = ["queues", "arrays", "limits", "preemption", "blocks", "reloads", "flapping", "pools", "estimates", "shares", "richer", "updates",
         "mixtures", "claims", "claims-beside", "claims-shares"]

BESIDE_CLAIMS = ["arrays", "limits", "blocks", "flapping"]
POLICIES = ["fcfs", "easy", "easy", "hybrid", "conservative"]
USERS = ["ann", "bob", "cyd"]


class Scene:
    """A configuration, those that replace it (by file name), and events with their times."""

    def __init__(self, kind, seed):
        self.kind = kind
        self.seed = seed
        self.random = random.Random("%s %d" % (kind, seed))
        self.nodes = self.random.randint(2, 5)
        self.cores = self.random.choice([1, 2, 4])
        self.gpus = self.random.choice([0, 0, 0, 2])
        self.memory = 8 if self.has("pools") else self.random.choice([0, 0, 8])
        self.tools = self.random.randint(1, 4) if self.has("pools") else 0
        self.others = {}
        self.events = []
        self.ids = []
        self.longest = {}  # how long each job may take, by its id
        self.config = configuration(self)
        if self.has("reloads"):
            for i in range(self.random.randint(1, 2)):
                self.others["other%d.json" % i] = another(self, self.config)
        happen(self)

    def has(self, what):
        """Whether scenes of this kind have it; a mixture has about half of all, but no shares, and those with updates too.
        Claims are in no other but those with claims beside other rules."""
        if what == "claims":
            return self.kind in (what, "claims-beside", "claims-shares")
        if self.kind == "claims-shares":
            return what == "shares"
        if self.kind == "claims-beside":
            return what in BESIDE_CLAIMS and random.Random("%d %s" % (self.seed, what)).random() < 0.4
        if self.kind == "updates" and what not in ("shares", "richer"):
            return what == "updates" or random.Random("%d %s" % (self.seed, what)).random() < 0.3
        if self.kind != "mixtures" or what in ("shares", "richer", "updates"):
            return self.kind == what
        return random.Random("%d %s" % (self.seed, what)).random() < 0.5

    def one_in(self, n):
        return self.random.randrange(n) == 0

    def lines(self):
        return [json.dumps(e) for e in self.events]


def some_nodes(scene, most):
    """Names of up to so many nodes."""
    first = scene.random.randrange(scene.nodes)
    last = min(scene.nodes - 1, first + scene.random.randrange(most))
    return "node%d" % first if first == last else "node[%d-%d]" % (first, last)


def amounts(scene, low):
    """Limits of resources and of running jobs; all leave room for a small job."""
    r = scene.random
    limits = {}
    if r.random() < 0.5:
        limits["node"] = r.randint(low, scene.nodes)
    if r.random() < 0.3:
        limits["core"] = r.randint(low, scene.nodes) * scene.cores
    if r.random() < 0.4:
        limits["running"] = r.randint(1, 3)
    if scene.tools and r.random() < 0.4:
        limits["license:tool"] = r.randint(1, scene.tools)
    return limits


def limits_of(scene):
    r = scene.random
    limits = {}
    if r.random() < 0.7:
        limits["user"] = amounts(scene, 1)
    if r.random() < 0.4:
        limits["queue"] = amounts(scene, 2)
    if r.random() < 0.2:
        limits["job"] = {"node": r.randint(1, scene.nodes)}
    own = random.Random("pending %s %d" % (scene.kind, scene.seed))
    if own.random() < 0.3:
        limits.setdefault("user", {})["pending"] = own.randint(1, 4)
    if r.random() < 0.3:
        limits["except"] = [{"users": [r.choice(USERS)], "user": amounts(scene, 1) or {"running": "unlimited"}}]
    return limits


def shares_of(scene):
    """Of a queue. All may have enough for a small job; what is guaranteed is together no more than there is."""
    r = scene.random
    all_cores = scene.nodes * scene.cores
    shares = {"weight": r.randint(1, 3)}
    if r.random() < 0.4:
        shares["under"] = "d"
    if r.random() < 0.4:
        shares["capability"] = {"core": r.randint((all_cores + 2) // 3, all_cores)}
    if r.random() < 0.5 and all_cores >= 4:
        shares["guarantee"] = {"core": r.randint(1, all_cores // 4)}
    return shares


def claims_of(scene, i):
    """Of a queue: when its jobs starve, how many may have a claim, who may run there; and whose jobs may be stopped."""
    r = scene.random
    q = {}
    if r.random() < 0.7:
        q["starvation-threshold"] = r.choice([r.randint(1, 5), r.randint(5, 40)])
        q["claims"] = r.randint(1, 2)
    if i > 0 and r.random() < 0.5 and not scene.has("shares"):
        q["preemptible"] = r.choice(["cancel", "requeue"])
    elif scene.one_in(4):
        q["preempts"] = "nobody"
    if scene.one_in(4):
        q["claims-admit"] = "unknown"
    return q


def queue_of(scene, i):
    r = scene.random
    q = {"policy": r.choice(POLICIES)}
    if q["policy"] == "hybrid":
        q["reservation-depth"] = r.randint(1, 3)
    if q["policy"] == "conservative" and scene.one_in(4):
        q["max-reservation-depth"] = r.randint(1, 4)
    if i > 0 and r.random() < 0.5:
        q["priority"] = r.choice([-10, 10])
    if scene.one_in(5):
        q["queue-depth"] = r.randint(1, 5)
    if scene.one_in(3):
        q["requires"] = {"hostlist": [some_nodes(scene, scene.nodes)]}
    if scene.has("limits"):
        q["limits"] = limits_of(scene)
    if scene.has("shares"):
        q["shares"] = shares_of(scene)
        if r.random() < 0.7:
            q["preempts"] = "borrowers"
    if scene.has("richer"):
        q["shares"] = {"by": "user", "order": ["priority", "submit"]}
        if r.random() < 0.8:
            q["preempts"] = "richer"
    if scene.has("preemption") and i > 0 and r.random() < 0.7:
        q["preemptible"] = r.choice(["cancel", "requeue"])
    if scene.has("claims"):
        q.update(claims_of(scene, i))
    return q


def virtual_of(scene):
    q = {"parent": "q0", "priority": scene.random.choice([-5, 5, 20])}
    if scene.has("limits") and scene.one_in(2):
        q["limits"] = limits_of(scene)
    return q


def block_of(scene, name, now):
    r = scene.random
    block = {"name": name, "resources": some_nodes(scene, 2), "start": now + r.randint(0, 60),
             "duration": r.randint(5, 60)}
    if scene.one_in(3):
        block["every"] = block["duration"] + r.randint(120, 300)
    if scene.tools and scene.one_in(3):
        block["resources"] = r.choice([TOOL, block["resources"] + "," + TOOL])
    if scene.one_in(3):
        block["for"] = {r.choice(["users", "queues"]): []}
        for what in block["for"]:
            block["for"][what] = [r.choice(USERS) if what == "users" else "q0"]
    return block


def configuration(scene):
    r = scene.random
    config = {
        "resources": {"nodes": scene.nodes, "cores": scene.cores, "gpus": scene.gpus, "memory": scene.memory},
        "match": {"policy": r.choice(["first", "low", "high", "lonode", "hinode"])},
        "default-queue": "q0",
        "queues": {"q%d" % i: queue_of(scene, i) for i in range(r.randint(1, 3))},
    }
    if scene.has("preemption") and "q1" not in config["queues"]:
        config["queues"]["q1"] = queue_of(scene, 1)
    if scene.has("shares"):
        all_cores = scene.nodes * scene.cores
        most = {"capability": {"core": r.randint((all_cores + 1) // 2, all_cores)}} if scene.one_in(2) else {}
        config["shares"] = {"divisions": {"d": dict(most, weight=r.randint(1, 3))}}
    if scene.has("richer"):
        there = ["core"] + (["gpu"] if scene.gpus else []) + (["memory"] if scene.memory else [])
        config["shares"] = {"resources": there[:r.randint(1, len(there))]}
    if scene.has("claims"):
        config["default-duration"] = "unknown"
        config["queues"]["q0"].setdefault("starvation-threshold", r.randint(1, 20))
    elif scene.one_in(3):
        config["queues"]["v"] = virtual_of(scene)
    if scene.tools:
        config["licenses"] = {TOOL: scene.tools}
    if scene.has("blocks") and scene.one_in(2):
        config["blocks"] = [block_of(scene, "c", 0)]
    return config


def another(scene, config):
    """The same queues, some of them with other policies, parts and limits."""
    other = json.loads(json.dumps(config))
    for name in other["queues"]:
        if scene.random.random() < 0.6:
            virtual = "parent" in other["queues"][name]
            other["queues"][name] = virtual_of(scene) if virtual else queue_of(scene, int(name[1:]))
    return other


def lengths_of(scene, job):
    """How long a job takes, and how much of that is known: a limit, an estimate below it, or neither."""
    r = scene.random
    chance = r.random()
    if scene.has("claims") and r.random() < 0.6:  # nobody knows when it ends
        job["runtime"] = scene.longest[job["id"]] = job.pop("duration")
        return
    if chance < 0.4:
        job["runtime"] = r.randint(1, job["duration"])
    elif chance < 0.45:
        job["runtime"] = job["duration"] + r.randint(1, 30)
    if scene.has("estimates") and not scene.one_in(3):
        longest = job.pop("duration")
        job["limit"] = longest if scene.one_in(2) else "unlimited"
        job["estimate"] = r.randint(1, longest)
        job.setdefault("runtime", longest)
        if job["limit"] == "unlimited" and scene.one_in(4):
            job["estimate"] = "unknown"
    keep_to_limit(scene, job)


def stops_jobs(scene):
    """Whether jobs may be stopped for others. Who looks for jobs to stop waits for one whose limit is over, for as long as that
    takes to end. The ledger knows only of jobs that end at once: in these scenes they may take longer than their estimates,
    but not than their limits."""
    return any(scene.has(what) for what in ("preemption", "shares", "richer", "claims"))


def keep_to_limit(scene, job):
    limit = job.get("limit", job.get("duration"))
    if stops_jobs(scene) and limit != "unlimited" and job.get("runtime", 0) > limit:
        job["estimate"] = job.pop("duration", job.get("estimate"))
        job["limit"] = "unlimited"
    scene.longest[job["id"]] = max(job.get("runtime", 0), job.get("duration", 0))


def asked_of(scene, job):
    """What a job asks for."""
    r = scene.random
    form = r.randrange(4)
    if form != 0:
        job["nodes"] = r.randint(1, scene.nodes)
    if form != 1:
        job["cores"] = r.randint(1, scene.cores)
    seldom = 1 if scene.has("pools") else 2
    if form in ((2, 3) if scene.has("pools") else (3,)) and scene.memory and scene.one_in(seldom):
        job["memory"] = r.randint(1, 8)
    if form == 0 and scene.memory and scene.one_in(seldom + 1):
        job["memory"] = "%dG" % r.randint(1, 8)
    if form in (0, 3) and scene.gpus and scene.one_in(2):
        job["gpus"] = r.randint(1, scene.gpus)
    if form == 3 and scene.one_in(4):
        job["exclusive"] = True
    if scene.tools and scene.one_in(2):
        job["licenses"] = {TOOL: r.randint(1, scene.tools)}
    if form == 0 and scene.one_in(5):
        job["requires"] = {"hostlist": [some_nodes(scene, 2)]}
    elif scene.has("flapping") and scene.one_in(6):
        job["requires"] = ["fast"]
    return job


def job_of(scene, now):
    r = scene.random
    job = {"id": "j%d" % len(scene.ids), "duration": r.choice([r.randint(1, 30), r.randint(10, 100)]),
           "user": r.choice(USERS), "queue": r.choice(list(scene.config["queues"]))}
    asked_of(scene, job)
    lengths_of(scene, job)
    if scene.one_in(4):
        job["priority"] = r.randint(-3, 3)
    if scene.one_in(12):
        job["begin"] = now + r.randint(1, 60)
    if scene.one_in(12) and scene.ids:
        job["dependency"] = "%s:%s" % (r.choice(["afterok", "afterany", "after", "afternotok"]), r.choice(scene.ids))
    if scene.one_in(20):
        job["hold"] = True
    if scene.has("arrays") and scene.one_in(2):
        job["array"] = r.randint(2, 8)
        if scene.one_in(3):
            job["array"] = "0-%d%%%d" % (job["array"] - 1, r.randint(1, 3))
    if "preemptible" in scene.config["queues"][job["queue"]] and scene.one_in(4):
        job["preemptible_after"] = r.randint(2, 40)
    scene.ids.append(job["id"])
    return job


def change_of(scene):
    """What a person does to a job or a queue."""
    r = scene.random
    which = r.choice(scene.ids[-6:])
    queue = r.choice([q for q in scene.config["queues"] if q != "v"])
    what = r.randrange(9)
    if what == 0:
        return {"cancel": which}
    if what == 1:
        return {"hold": which}
    if what in (2, 3):
        return {"priority": {"id": which, "value": r.randint(-5, 5)}}
    if what == 4:
        least = scene.longest[which] if stops_jobs(scene) else 0
        return {"duration": {"id": which, "value": max(least, r.randint(5, 120))}}
    if what == 5:
        return {"queue": {"id": which, "value": r.choice(list(scene.config["queues"]))}}
    if what == 6:
        return {r.choice(["queue-stop", "queue-pause", "queue-drain"]): queue}
    if what == 7:
        return {"end": which}
    return {"queue-start": queue}


def changed_at(scene, now, kinds):
    """The jobs of which something is changed at an instant."""
    return {e[k]["id"] for e in scene.events if e["at"] == now for k in kinds if k in e}


def other_event(scene, now):
    """An event of what this kind of scene is about, or None."""
    choices = []
    # Of two at one instant nobody could say which one is refused.
    changed = changed_at(scene, now, ("update", "queue"))
    others = [i for i in scene.ids[-6:] if i not in changed]
    if scene.has("updates") and others:
        choices += [{"update": asked_of(scene, {"id": scene.random.choice(others)})} for _ in range(3)]
    arrays = [e["submit"]["id"] for e in scene.events if "array" in e.get("submit", {})]
    if scene.has("updates") and arrays:
        choices += [{"at-once": {"id": i, "value": scene.random.randint(0, 4)}} for i in arrays[-2:]]
    if scene.has("flapping"):
        choices += [{"down": some_nodes(scene, 2)}, {"drain": some_nodes(scene, 2)},
                    {"fail": some_nodes(scene, 2)}] + [{"up": some_nodes(scene, scene.nodes)}] * 4
        for value in ("", None):
            choices.append({"property": {"resources": some_nodes(scene, 3), "key": "fast", "value": value}})
        if scene.tools:
            choices += [{"drain": TOOL}] + [{"up": TOOL}] * 2
        if scene.one_in(4):
            choices.append({"remove": some_nodes(scene, 1)})
    if scene.has("blocks"):
        choices += [{"block": block_of(scene, scene.random.choice("ab"), now)}] * 2 + [{"unblock": "a"}]
    if scene.has("reloads"):
        choices += [{"config": scene.random.choice(["config.json"] + list(scene.others))}] * 2
    return scene.random.choice(choices) if choices else None


def happen(scene):
    """Some jobs at first, then more, with what happens between; at last all are let go on."""
    r = scene.random
    now = 0
    for _ in range(r.randint(8, 28)):
        if r.random() < 0.5:
            now += r.choice([1, r.randint(1, 10), r.randint(1, 40)])
        chance = r.random()
        event = None
        if scene.ids and chance < 0.15:
            event = change_of(scene)
            if "queue" in event and event["queue"]["id"] in changed_at(scene, now, ("update",)):
                event = None  # as in other_event
        elif chance < 0.4:
            event = other_event(scene, now)
        scene.events.append(dict({"at": now}, **(event or {"submit": job_of(scene, now)})))
    now += r.randint(20, 60)
    for queue in scene.config["queues"]:
        if queue != "v":
            scene.events.append({"at": now, "queue-start": queue})
    for n in range(scene.nodes):
        scene.events.append({"at": now, "up": "node%d" % n})
    if scene.tools:
        scene.events.append({"at": now, "up": TOOL})
    for job in scene.ids:
        scene.events.append({"at": now, "release": job})
