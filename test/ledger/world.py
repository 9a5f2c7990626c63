"""What a user knows of a scheduler without asking it: the configuration, the machine, the jobs, and what has been
decided so far. Nothing here decides anything."""
import limits
from words import TOOL, Holding, entries, names

WAITING, RUNNING, ENDED = "waiting", "running", "ended"
FOREVER = 10 ** 12


class Job:
    def __init__(self, name, spec, order):
        self.name = name
        self.spec = spec  # of others of its array, too, until it asks for something else
        self.array = spec["id"]
        self.order = order
        self.queue = spec["queue"]
        self.user = spec["user"]
        self.priority = spec.get("priority", 0)
        self.limit, self.duration = lengths(spec)
        self.held = spec.get("hold", False)
        self.state = WAITING
        self.status = None
        self.start = None
        self.most = 0  # members of its array that run at once; 0: any number
        self.closed = False  # when it was submitted, its queue took no jobs
        self.limited = False  # when it was submitted, there was a limit for it
        self.recurs = False  # when it was submitted, there was a block that comes again
        self.unfit = False  # at some time, all up and idle, its queue could not give it what it asks for
        self.starts = 0
        self.how = None  # it started last
        self.requeues = 0
        self.until = None
        self.holding = None
        self.promise = None  # when
        self.firm = False  # the promise holds even if all jobs take as long as their limits
        self.promised = None  # what, as far as an expectation has shown it
        self.claim = None  # what is withheld for it without an end, since it starves
        self.reason = ""

    def nodes(self):
        return self.spec.get("nodes", 1)

    def memory(self):
        """Of each node, in GB; as text, of the whole job, which has one node then."""
        return int(str(self.spec.get("memory", 0)).rstrip("G"))

    def tools(self):
        return self.spec.get("licenses", {}).get(TOOL, 0)

    def takes_whole(self):
        """Nodes alone, or exclusively: nobody else has anything of them."""
        return "cores" not in self.spec or self.spec.get("exclusive", False)

    def preemptible_from(self):
        """From its first second on, or as much later as it asks for."""
        return self.start + max(1, self.spec.get("preemptible_after", 0))

    def held_until(self, now):
        """A job that overruns is held until nobody knows when."""
        return self.until if self.until > now else FOREVER

    def at_most(self):
        """How long it may keep a block away: as long as its limit, or without one as its estimate, if it has one."""
        return self.limit if self.limit < FOREVER else self.duration


def lengths(spec):
    """Its limit, and how long it is expected to take; FOREVER: nobody knows. Where jobs give neither, nobody does."""
    if "duration" in spec:
        return spec["duration"], spec["duration"]
    limit = FOREVER if spec.get("limit", "unlimited") == "unlimited" else spec["limit"]
    return limit, FOREVER if spec.get("estimate", "unknown") == "unknown" else spec["estimate"]


ASKED = ("nodes", "cores", "gpus", "memory", "licenses", "exclusive", "requires")


def asking_for(spec, value):
    """What was submitted, but for what it asks for."""
    rest = {key: what for key, what in spec.items() if key not in ASKED}
    return dict(rest, **{key: what for key, what in value.items() if key in ASKED})


def is_refused(job, queue, name, reason):
    """Whether a refusal is of this job by this queue; a limit may be that of any, and a block says nothing of queues."""
    return name == job.name and (reason.startswith(("limit ", "block ", "queue %s takes" % queue)) or
                                 "in queue %s:" % queue in reason)


class World:
    def __init__(self, scene):
        self.scene = scene
        self.use(scene.config)
        self.cores = scene.cores
        self.gpus = scene.gpus
        self.memory = scene.memory
        self.tools = scene.tools
        self.nodes = scene.nodes
        self.gone = set()  # nodes that were removed
        self.fast = set()  # nodes with that property
        self.out = {n: set() for n in range(scene.nodes)}  # why a node takes no jobs
        self.tools_out = False  # no licence is given
        self.blocks = {}
        self.closed = {}
        self.jobs = {}
        self.arrays = {}

    # ---- Queues ----

    def use(self, config):
        """A configuration; what concerns the machine is not read again."""
        self.config = config
        self.lanes = {name: q.get("parent", name) for name, q in config["queues"].items()}
        self.own_blocks = {b["name"]: b for b in config.get("blocks", [])}

    def lane(self, queue):
        return self.lanes[queue]

    def lane_config(self, queue):
        return self.config["queues"][self.lanes[queue]]

    def of_lane(self, queue):
        lane = self.lanes[queue]
        return [j for j in self.jobs.values() if self.lanes[j.queue] == lane]

    def fcfs(self):
        return [q for q in self.config["queues"] if self.lane_config(q)["policy"] == "fcfs"]

    def depth(self, queue):
        """How many of its waiting jobs may hold a reservation, by its policy."""
        q = self.lane_config(queue)
        most = q.get("max-reservation-depth", FOREVER)
        k = {"fcfs": 0, "easy": 1, "hybrid": q.get("reservation-depth", 64), "conservative": FOREVER}[q["policy"]]
        return min(k, most)

    def key(self, job):
        """Priority of its queue, its own, and when it was submitted; the least goes first."""
        q = self.config["queues"][job.queue]
        above = self.lane_config(job.queue)
        return (-q.get("priority", above.get("priority", 0)), -job.priority, job.order)

    def may_preempt(self, job):
        q = self.lane_config(job.queue)
        return not q.get("preemptible") and q.get("preempts") != "nobody"

    def starts_jobs(self, queue):
        return not self.closed.get(self.lane(queue), {}).get("starts")

    # ---- Where and when ----

    def allowed(self, job):
        """The nodes of its queue's part that it asks for, up or down."""
        nodes = set(range(self.nodes)) - self.gone
        for what in (job.spec.get("requires"), self.lane_config(job.queue).get("requires")):
            if what == ["fast"]:
                nodes &= self.fast
            elif what:
                nodes &= set().union(*(names(h) for h in what["hostlist"]))
        return nodes

    def all_blocks(self):
        return list(self.blocks.values()) + list(self.own_blocks.values())

    def permits(self, block, job):
        """Whether the job is one of those that a block is for: by its user, or its queue or the parent of that."""
        who = block.get("for", {})
        return job.user in who.get("users", []) or \
            bool({job.queue, self.lane(job.queue)} & set(who.get("queues", [])))

    def blocked_nodes(self, job, start, end):
        """Nodes with a block during some of that time that is not for the job."""
        nodes = set()
        for b in self.all_blocks():
            if not self.permits(b, job) and meets(b, start, end):
                nodes |= names(b["resources"])
        return nodes

    def are_tools_blocked(self, job, start, end):
        """Whether the licences that it asks for are blocked during some of that time."""
        return job.tools() > 0 and any(TOOL in entries(b["resources"]) and not self.permits(b, job) and
                                       meets(b, start, end) for b in self.all_blocks())

    def gone_by(self, job, holding, begin, now):
        """When a job that begins at a time is gone at the latest: its limit is over, or if it has none a block stops it that
        is on when its estimate is over, or comes then."""
        if job.limit < FOREVER or job.duration == FOREVER:
            return begin + job.limit
        over = max(begin + job.duration, now) if job.state == RUNNING else begin + job.duration
        mine = [b for b in self.all_blocks() if not self.permits(b, job) and
                (names(b["resources"]) & holding.nodes() or (holding.tools and TOOL in entries(b["resources"])))]
        return min((on_from(b, over) for b in mine), default=FOREVER)

    def fits(self, job):
        """Whether it would fit if all were up and idle."""
        return len(self.allowed(job)) >= job.nodes() and job.spec.get("cores", 1) <= self.cores and \
            job.spec.get("gpus", 0) <= self.gpus and job.memory() <= self.memory and job.tools() <= self.tools

    def needs_down(self, job):
        """Whether what is up could not run it, were it idle."""
        up = [n for n in self.allowed(job) if not self.out[n]]
        return len(up) < job.nodes() or bool(job.tools() and self.tools_out)

    # ---- Events ----

    def submit(self, spec):
        n, _, most = str(spec.get("array", 0)).partition("%")
        n = int(n.rpartition("-")[2]) + n.count("-")
        members = ["%s[%d]" % (spec["id"], i) for i in range(n)] if n > 1 else [spec["id"]]
        self.arrays[spec["id"]] = members
        for name in members:
            self.jobs[name] = Job(name, spec, len(self.jobs))
            self.jobs[name].most = int(most or 0)
            self.jobs[name].limited = limits.any_limit(self, self.jobs[name])
            self.jobs[name].recurs = any(b.get("every") for b in self.all_blocks())
            self.jobs[name].closed = self.closed.get(self.lane(spec["queue"]), {}).get("takes")

    def members(self, name):
        return [self.jobs[m] for m in self.arrays.get(name, [])]

    def array_has_promise(self, job):
        """Whether a member of its array that waits is promised a time, or has a claim."""
        return any((k.promise is not None or k.claim) for k in self.jobs.values() if k.array == job.array and k.state == WAITING)

    def happen(self, event, refused):
        """An event of the scene; `refused` are jobs that a queue does not take, and why."""
        self.change_something(event, refused)
        for j in self.waiting():
            j.unfit = j.unfit or not self.fits(j)

    def change_something(self, event, refused):
        what = next(k for k in event if k != "at")
        value = event[what]
        if what == "submit":
            self.submit(value)
        elif what in ("hold", "release"):
            for j in self.members(value):
                if j.state == WAITING:
                    j.held = what == "hold"
        elif what in ("priority", "duration", "queue"):
            for j in self.members(value["id"]):
                self.change(j, what, value["value"], refused)
        elif what == "update":  # that a queue takes no jobs is no answer to this
            answers = [(name, reason) for name, reason in refused if not reason.startswith("queue ")]
            for j in self.members(value["id"]):
                if j.state == WAITING and not any(is_refused(j, j.queue, *why) for why in answers):
                    j.spec = asking_for(j.spec, value)
        elif what == "at-once":
            for j in self.members(value["id"]):
                j.most = value["value"]
        elif what in ("queue-stop", "queue-pause", "queue-drain", "queue-start"):
            self.closed[value] = {"starts": what in ("queue-stop", "queue-pause"),
                                  "takes": what in ("queue-stop", "queue-drain")}
        elif what == "config":
            self.use(self.scene.others.get(value, self.scene.config))
        else:
            self.happen_to_machine(event["at"], what, value)

    def change(self, job, what, value, refused):
        if what == "queue":  # who is cancelled at this instant, too, was moved before that
            if job.state != RUNNING and not any(is_refused(job, value, *why) for why in refused):
                job.queue = value
        elif job.state == ENDED:
            return
        elif what == "duration":
            if job.state == RUNNING:
                job.until = job.start + value
            job.limit = job.duration = value
        else:
            job.priority = value  # of one that runs, it is for when it waits again

    def happen_to_machine(self, at, what, value):
        if what == "block":
            self.blocks[value["name"]] = value
        elif what == "unblock":
            self.blocks.pop(value, None)
            self.own_blocks.pop(value, None)
        elif what == "property":
            self.fast |= names(value["resources"])
            if value["value"] is None:
                self.fast -= names(value["resources"])
        elif what == "remove":
            self.gone |= names(value)
            for j in self.running():
                j.holding.lose(names(value))
        elif what in ("down", "drain", "fail"):
            for n in names(value):
                self.out[n].add("drain" if what == "drain" else "down")
        elif what == "up":
            for n in names(value):
                self.out[n].clear()
        if what in ("drain", "up") and TOOL in entries(value):
            self.tools_out = what == "drain"

    # ---- Decisions ----

    def decide(self, d):
        """Carry out a decision, as a shell does."""
        j = self.jobs[d["job"]]
        what = d["decision"]
        if what == "start":
            j.state, j.start, j.until = RUNNING, d["at"], FOREVER if d["until"] is None else d["until"]
            j.holding = Holding(d["resources"], self)
            j.starts += 1
            j.how = d["how"]
            j.promise = j.promised = j.claim = None
        elif what == "reserve":
            j.promise, j.promised, j.firm = d["start"], None, not d.get("expected")
        elif what == "wait":
            j.promise = j.promised = None
            j.reason = d["reason"]
            j.claim = j.claim if j.reason.startswith("claims ") else None
        elif what in ("end", "reject"):
            j.state, j.status = ENDED, d.get("status", "rejected")
            j.promise = j.promised = j.holding = None
        elif what == "preempt" and d["then"] == "requeue":
            j.state, j.holding, j.start = WAITING, None, None
            j.requeues += 1

    def running(self):
        return [j for j in self.jobs.values() if j.state == RUNNING]

    def waiting(self):
        return [j for j in self.jobs.values() if j.state == WAITING]


def on_from(block, at):
    """The first time on or after one at which a block is on."""
    begin, every = block["start"], block.get("every", 0)
    if every and at >= begin + block["duration"]:
        begin += (at - begin - block["duration"]) // every * every + every
    return max(begin, at) if at < begin + block["duration"] else FOREVER


def on_until(block, at):
    """When the occurrence of a block is over that is on at a time."""
    begin, every = block["start"], block.get("every", 0)
    return begin + block["duration"] + ((at - begin) // every * every if every else 0)


def ends_of(block, before):
    """When occurrences of a block end, up to a time: at least the first one."""
    end, every = block["start"] + block["duration"], block.get("every", 0)
    return range(end, max(before, end) + 1, every) if every else [end]


def meets(block, start, end):
    """Whether some occurrence of a block lies in [start, end)."""
    begin, every = block["start"], block.get("every", 0)
    if every and start > begin + block["duration"]:
        begin += (start - begin - block["duration"]) // every * every
    while begin < end:
        if begin + block["duration"] > start:
            return True
        if not every:
            return False
        begin += every
    return False
