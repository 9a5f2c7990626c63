"""Starving jobs and their claims as berth-config(5) says them (`starvation-threshold`, `claims`, `claims-admit`). Which nodes
a claim is of is told; whether it may be, who may run there, and for how long anybody waits follows from the words."""
import limits
from words import TOOL, Holding, entries, names
from world import FOREVER, WAITING, meets, on_until

SECOND = 1  # in which nobody is stopped
TURNS = 64  # of blocks, each of which begins before another one is over: so many are looked at


def are_in(config):
    return "starvation-threshold" in config or any("starvation-threshold" in q for q in config["queues"].values())


def threshold(world, job):
    """FOREVER: it never starves."""
    most = world.lane_config(job.queue).get("starvation-threshold", world.config.get("starvation-threshold", "none"))
    return FOREVER if most == "none" else most


def most_of(world, queue):
    return world.config["queues"][queue].get("claims", world.config.get("claims", 1))


def is_preemptible(world, job):
    return bool(world.lane_config(job.queue).get("preemptible"))


def is_stopped_at_once(world, job):
    """In its first second nobody is; that counts as at once."""
    return is_preemptible(world, job) and job.spec.get("preemptible_after", 0) <= SECOND


def may_stop(world, job, victim, now):
    is_due = victim.start is not None and is_preemptible(world, victim) and victim.preemptible_from() <= now
    return world.may_preempt(job) and (is_stopped_at_once(world, victim) or is_due)


def meet(a, b):
    """Whether two have something of the same node: a core, a GPU, or memory."""
    return bool(a.things() & b.things()) or any(a.memory.get(n) and b.memory.get(n) for n in a.nodes() & b.nodes())


def awaited(world, job, claim, now):
    """For whom a claim waits: who runs in it and can't be stopped for it by now, and when that is expected to end or may be
    stopped; and who is promised something of it, or may be by a decision of this instant, and goes before."""
    for k in world.running():
        if k.holding and meet(k.holding, claim) and not may_stop(world, job, k, now):
            may_be = is_preemptible(world, k) and world.may_preempt(job)
            yield k, min(k.held_until(now), k.preemptible_from() if may_be else FOREVER)
    for k in world.waiting():
        is_in_it = k.promise is not None and (not k.promised or meet(k.promised, claim))
        if is_in_it and world.key(k) < world.key(job) and not may_stop(world, job, k, now):
            yield k, min(k.promise + k.duration, FOREVER)


def clear_from(world, job, claim, now):
    """The first time from now on at which no block has something of a claim that is not for its job."""
    mine = [b for b in world.all_blocks() if not world.permits(b, job) and
            (names(b["resources"]) & claim.nodes() or (claim.tools and TOOL in entries(b["resources"])))]
    while any(meets(b, now, now + 1) for b in mine):
        now = max(on_until(b, now) for b in mine if meets(b, now, now + 1))
    return now


def has_others(ledger, job, claim, some):
    """Whether one of these, for whom a claim waits, is neither preemptible nor has come since its job starves."""
    starves = ledger.claims.starves(ledger, job)
    return any(not is_preemptible(ledger.world, k) and (k.state == WAITING or k.start < starves or k.how == "reserved")
               for k in some)


class Entry:
    """A job starts in what was claimed as this instant began, and who was awaited then."""

    def __init__(self, ledger, job, claimant):
        w, now = ledger.world, ledger.now
        self.job, self.claimant, self.claim = job, claimant, claimant.claim
        found = [k for k, end in awaited(w, claimant, self.claim, now) if k is not job]
        self.begin = ledger.claims.begin(ledger, claimant, self.claim)
        self.others = has_others(ledger, claimant, self.claim, found)


class Claims:
    """What was claimed at the end of the instant before; since when each job has been pending; and who starts in a claim."""

    def __init__(self):
        self.before = {}  # by job
        self.since = {}  # of those that are pending
        self.requeues = {}
        self.timed = set()  # who waits only for a time
        self.entries = []
        self.begins = {}  # from when on each claim withholds
        self.full = set()  # whose claims wait for nobody
        self.starved = set()  # who starves as this instant begins

    def is_starving(self, ledger, job):
        return job.name in self.since and ledger.now - self.since[job.name] >= threshold(ledger.world, job)

    def starves(self, ledger, job):
        """From when on a job that has a claim starves."""
        return self.since.get(job.name, ledger.now) + threshold(ledger.world, job)

    def begin(self, ledger, job, claim):
        """From when on a claim withholds: now, or if all these times are known, the first at which one of those ends that it
        waits for, or may be stopped; and no earlier than blocks are over that have something of it. Who has come since its job starves makes that no earlier. Those that start behind the job
        at this instant have come after that was so, and who was promised a later time may have started after that."""
        w, now = ledger.world, ledger.now
        was, starves = self.begins.get(job.name, 0), self.starves(ledger, job)
        clear = clear_from(w, job, claim, now)
        found = [(k, self.end_before(ledger, k, end) if k.start == now and now >= starves else end)
                 for k, end in awaited(w, job, claim, now)]
        there = [(k, end) for k, end in found if k.start != now or w.key(k) < w.key(job)]
        for some in filter(None, [there, found]):
            ends = [was if (k.start is None or k.start >= starves) and was > now and (end < was or end == FOREVER) else end
                    for k, end in some]
            was = max(now if FOREVER in ends else min(ends), clear)
        return max(was, clear)

    @staticmethod
    def end_before(ledger, job, end):
        """When one that starts at this instant was to end, or could have been stopped, if it was promised a later time before."""
        promise = ledger.promises_before.get(job.name)
        return end if promise is None else min(end + max(0, promise - ledger.now), FOREVER)

    def go_on(self, ledger):
        """Jobs have ended, and other things have happened, at an instant at which nothing is decided yet."""
        self.starved = {j.name for j in ledger.world.waiting() if self.is_starving(ledger, j)}
        for j in ledger.world.waiting():
            if j.claim:
                self.begins[j.name] = self.begin(ledger, j, j.claim)
                if not any(awaited(ledger.world, j, j.claim, ledger.now)):
                    self.full.add(j.name)

    def enters(self, ledger, job):
        """A job has started at this instant."""
        for j in ledger.world.waiting():
            if j.claim and j is not job and j.claim.things() & job.holding.things():
                self.entries.append(Entry(ledger, job, j))

    def look(self, ledger, claimed):
        """What is claimed at the end of an instant."""
        w, arrays = ledger.world, set()
        for name in claimed:
            ledger.law("claims", w.jobs[name].state == WAITING and w.jobs[name].promise is None, w.jobs[name])
        for j in w.jobs.values():
            is_one = j.name in claimed and j.state == WAITING and (j.requeues or j.array not in arrays)
            j.claim = Holding(claimed[j.name], w) if is_one else None
            if is_one and not j.requeues:
                arrays.add(j.array)  # members that wait together have one claim, which is told of each: it is the first one's
        self.note_pending(ledger)

    def note_pending(self, ledger):
        """A job is pending since it was submitted, released or requeued, or the time or the job came that it waited for."""
        w = ledger.world
        for j in w.jobs.values():
            begin = j.spec.get("begin", 0)
            has_time_only = j.state == WAITING and not j.held and ledger.is_met(j)
            if not has_time_only or begin > ledger.now:
                self.since.pop(j.name, None)
            elif j.name not in self.since or self.requeues.get(j.name, 0) != j.requeues:
                self.since[j.name] = begin if j.name in self.timed and not j.requeues else ledger.now
            self.requeues[j.name] = j.requeues
            self.timed.discard(j.name)
            if has_time_only and begin > ledger.now:
                self.timed.add(j.name)

    # ---- Laws, at the end of an instant ----

    def check(self, ledger):
        w = ledger.world
        claimants = [j for j in w.waiting() if j.claim]
        self.begins = {j.name: was for j, was in [(j, self.begins.get(j.name, 0)) for j in claimants] if not self.is_new(j)}
        self.begins = {j.name: self.begin(ledger, j, j.claim) for j in claimants}
        for j in claimants:
            self.check_claim(ledger, j)
        for queue in w.config["queues"]:
            some = [j.name for j in claimants if w.lane(j.queue) == queue]
            ledger.law("claims", len(some) <= most_of(w, queue), None, "%s: %s" % (queue, some))
        self.check_kept(ledger)
        for e in self.entries:
            if e.claimant.claim and e.claimant.claim.text == e.claim.text:
                self.check_entry(ledger, e)
        self.check_promised(ledger)
        self.check_starving(ledger)
        self.entries = []
        self.before = {j.name: j.claim for j in claimants}
        self.full = {j.name for j in claimants if "waits for" not in j.reason}

    def check_claim(self, ledger, j):
        """Nobody claims anything before it starves. A claim is of what the job asks for, up, and of no two jobs."""
        w = ledger.world
        ledger.law("early claim", self.is_starving(ledger, j), j, "since %s" % self.since.get(j.name))
        ledger.law("claimed nodes", len(j.claim.nodes()) == j.nodes() and j.claim.nodes() <= w.allowed(j), j, j.claim.text)
        ledger.law("claimed nodes", not any(w.out[n] for n in j.claim.nodes()), j, j.claim.text)
        for k in w.waiting():
            if k.claim and k is not j:
                ledger.law("claimed twice", not k.claim.things() & j.claim.things(), j, k.name)
        for n in j.claim.nodes():
            claimed = sum(k.claim.memory.get(n, 0) for k in w.waiting() if k.claim)
            ledger.law("claimed memory", claimed <= w.memory, j, "node%d" % n)

    def check_kept(self, ledger):
        """A claim is kept, where it was chosen, until its job starts: unless a starving job that goes before it claims or gets
        some of that, or the last claim that the queue has; somebody does something to the job, its queue or the machine; or
        all of it is free, and something else keeps the job: then it is chosen again, or a start is known and promised."""
        w = ledger.world
        for name, claim in self.before.items():
            j = w.jobs[name]
            if j.state != WAITING or (j.claim and j.claim.text == claim.text) or self.is_touched(ledger, j, claim):
                continue
            taken = [k for k in w.waiting() if k.claim and w.key(k) < w.key(j) and
                     (self.is_new(k) or self.is_touched(ledger, k, k.claim)) and
                     (meet(k.claim, claim) or w.lane(k.queue) == w.lane(j.queue))]
            taken += [k for k in w.running() if k.start == ledger.now and w.key(k) < w.key(j) and meet(k.holding, claim)]
            free = name in self.full or not list(awaited(w, j, claim, ledger.now)) or \
                (j.claim and "waits for" not in j.reason)
            ledger.law("claim kept", taken or free or j.promise is not None or self.is_over(ledger, j, claim), j,
                       "%s, then %s" % (claim.text, j.claim.text if j.claim else None))

    @staticmethod
    def is_over(ledger, j, claim):
        """Whether a limit keeps a job from what it claimed, beside what others have, are promised or claim by now."""
        others = [(k, k.holding or k.promised or k.claim) for k in ledger.world.jobs.values() if k is not j]
        return any(limits.exceeded(ledger.world, j, claim, [(k, has) for k, has in others if has]))

    def any_new(self, ledger):
        return any(k.claim and self.is_new(k) for k in ledger.world.waiting())

    def is_new(self, k):
        return k.name not in self.before or self.before[k.name].text != k.claim.text

    @staticmethod
    def is_touched(ledger, j, claim):
        """Whether something is done to a job, its queue or what it claims."""
        w = ledger.world
        events = ledger.events.get(ledger.now, [])
        of_queues = {e[what] for e in events for what in ("queue-stop", "queue-pause") if what in e}
        return j.name in {name for e in events for v in e.values() for name in ledger.named(v)} or \
            w.lane(j.queue) in of_queues or any(w.out[n] for n in claim.nodes()) or \
            not claim.nodes() <= w.allowed(j) - w.blocked_nodes(j, ledger.now, ledger.now + 1)

    def check_entry(self, ledger, e):
        """Where something is claimed nobody starts but jobs that go before the claim's; who was promised it before; jobs that may be
        stopped at once, if it may have them stopped; and those that are gone before the first one ends that the claim waits for,
        as their limits are over or a block stops them, who may have been stopped for them. Where a queue stops nobody, and with
        claims-admit also those of unknown end, they start as long as it waits for others than such."""
        w = ledger.world
        k, j = e.job, e.claimant
        q = w.lane_config(j.queue)
        before = w.key(k) < w.key(j) or k.name in ledger.held_before
        nobody = q.get("preempts") == "nobody"
        # Starts are not told in the order in which they are decided.
        others = e.others or has_others(ledger, j, e.claim, [o for o, end in awaited(w, j, e.claim, ledger.now) if o is not k])
        spare = is_stopped_at_once(w, k) and not is_preemptible(w, j) and (others or not nobody)
        unknown = q.get("claims-admit") == "unknown" and k.duration == FOREVER and others
        # Others may lose what they are promised there at this instant before that is told.
        gone = w.gone_by(k, k.holding, ledger.now, ledger.now)
        in_time = gone <= max(e.begin, self.begins[j.name]) or (k.name in ledger.takers and k.limit < FOREVER)
        ledger.law("enters", before or spare or unknown or in_time or self.is_taken(ledger, e), k, "what %s claims: %s" % (j.name, j.claim.text))

    def is_taken(self, ledger, e):
        """Whether a claim may have been given up at this instant, and made again since, as a starving job that goes before its job
        has claimed some of that before it has started."""
        w = ledger.world
        return any(k.name in self.starved and w.key(k) < w.key(e.claimant) and meet(k.claim or k.holding, e.claim)
                   for k in w.jobs.values() if k is not e.job and (k.claim or k.start == ledger.now and k.holding))

    def check_promised(self, ledger):
        """What is claimed is promised to no job behind the claim's, but to those whose limits are over when it begins: who may be
        stopped runs there without a promise, which would be in the way of the claim's job. Who comes to stand behind that one
        keeps what it was promised before."""
        w = ledger.world
        kept = {(k.name, holding.text, start) for k, holding, start, until in ledger.windows_before}
        for j in w.waiting():
            # What was promised to jobs before it, as this instant began or meanwhile, counted until they lost it or started.
            had = [(k.name, start) for k, holding, start, until in ledger.windows_before]
            had += [(d["job"], d["start"]) for d in ledger.decided if d["decision"] == "reserve"]
            meanwhile = any(w.key(w.jobs[name]) < w.key(j) and w.jobs[name].promise != start for name, start in had)
            for k in w.waiting() if j.claim else ():
                if k is j or not k.promised or not k.promised.things() & j.claim.things() or w.key(k) < w.key(j) or \
                        (k.name, k.promised.text, k.promise) in kept:
                    continue
                ledger.law("promised in", meanwhile or k.promise + k.limit <= self.begins[j.name], k, j.name)

    @staticmethod
    def is_unsure(world, job):
        """Whether it waits for the start of one that has been put back: it may have come before or after that."""
        how, _, who = job.spec.get("dependency", "").partition(":")
        return how == "after" and any(k.requeues for k in world.members(who))

    @staticmethod
    def fits_up(ledger, job):
        """Whether it has enough nodes that are up and that no block has, now or when some are over that are on."""
        w, at = ledger.world, ledger.now
        for _ in range(TURNS):
            able = w.allowed(job) - w.blocked_nodes(job, at, at + 1)
            ends = [on_until(b, at) for b in w.all_blocks() if not w.permits(b, job) and meets(b, at, at + 1)]
            if sum(not w.out[n] for n in able) >= job.nodes():
                return True
            if not ends:
                return False
            at = min(ends)
        return False

    def check_starving(self, ledger):
        """Somebody has a claim while the first of all that are pending starves, or that one is promised a time, if it fits what is
        up and no block has in a while; under fcfs perhaps another one of its queue is, and it is the first one."""
        w = ledger.world
        able = [j for j in w.waiting() if j.name in self.since and w.starts_jobs(j.queue) and not w.needs_down(j) and
                not self.is_unsure(w, j)]
        first = min(able, key=w.key, default=None)
        if not first or not self.is_starving(ledger, first) or limits.any_limit(w, first):
            return
        is_behind = w.depth(first.queue) == 0 and first not in ledger.considered(w.lane(first.queue))
        if is_behind or not self.fits_up(ledger, first):
            return
        lane = w.of_lane(first.queue)
        taken = any(j.claim for j in w.waiting()) or (w.depth(first.queue) == 0 and any(j.promise is not None for j in lane))
        ledger.law("starving", taken or first.promise is not None, first, first.reason)
