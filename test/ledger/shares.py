"""Shares as berth-config(5) says them: what queues, and divisions, have at most, and who may have jobs of others stopped."""
import fractions

from words import Holding
from world import WAITING


def own(world, queue):
    return world.lane_config(queue).get("shares", {})


def division(world, queue):
    """The division that a queue is in, or ""."""
    return own(world, queue).get("under", "")


def own_division(world, queue):
    """What the configuration says of the division that a queue is in."""
    return world.config["shares"]["divisions"][division(world, queue)] if division(world, queue) else {}


def capabilities(world, job):
    """What the job's queue, and its division, have at most: (whose, amount by type, whom it counts besides)."""
    lanes, lane = world.lanes, world.lanes[job.queue]
    yield "queue", own(world, job.queue).get("capability", {}), lambda k: lanes.get(k.queue) == lane
    under = division(world, job.queue)
    if under:
        yield "division", own_division(world, job.queue).get("capability", {}), lambda k: division(world, k.queue) == under


def cores(holdings):
    return sum(len(h.units()) for h in holdings if h)


def check_guarantee(ledger, job):
    """A queue of which a job is stopped for another queue has what it is guaranteed without it, by what runs then, and by
    what starts at that instant as others have been stopped for it."""
    w = ledger.world
    lane = w.lane(job.queue)
    kept = cores(k.holding for k in w.running() if k is not job and w.lane(k.queue) == lane)
    kept += cores(Holding(d["resources"], w) for d in ledger.decided if d["decision"] == "start" and d["job"] in ledger.takers
                  and w.jobs[d["job"]].state == WAITING and w.lane(w.jobs[d["job"]].queue) == lane)
    least = own(w, lane).get("guarantee", {}).get("core", 0)
    ledger.law("guarantee", kept >= least, job, "%s keeps %d of %d" % (lane, kept, least))


def kinds(holdings):
    """Of what they have something."""
    return {kind for h in holdings if h for kind in ("cores", "gpus", "memory") if any(getattr(h, kind).values())}


def richer(world, job):
    """Whether jobs of its queue have those of users stopped who have more."""
    return world.lane_config(job.queue).get("preempts") == "richer"


def side(world, job):
    """Who takes or gives: its queue or, where users take from each other, its user there."""
    lane = world.lane(job.queue)
    return (lane, job.user) if richer(world, job) else lane


def about_to_start(ledger, user, lane):
    """What starts of a user of a queue at that instant as others have been stopped for it, but has not yet."""
    w = ledger.world
    jobs = [(w.jobs[d["job"]], d) for d in ledger.decided if d["decision"] == "start" and d["job"] in ledger.takers]
    return [Holding(d["resources"], w) for j, d in jobs if j.state == WAITING and j.user == user and w.lane(j.queue) == lane]


def largest_part(ledger, user, lane):
    """What a user has in a queue, with what is about to start: the largest of its parts of all there is, of the resources
    that count."""
    world = ledger.world
    had = [k.holding for k in world.running() if k.user == user and world.lane(k.queue) == lane]
    had += about_to_start(ledger, user, lane)
    some = {"core": sum(len(h.units()) for h in had), "gpu": sum(len(g) for h in had for g in h.gpus.values()),
            "memory": sum(sum(h.memory.values()) for h in had)}
    all_of = {"core": world.cores, "gpu": world.gpus, "memory": world.memory}
    return max(fractions.Fraction(some[x], world.nodes * all_of[x]) for x in world.config["shares"]["resources"])


def check_richer(ledger, decision):
    """A job of a user who has more is stopped for one of another user of the queue, who has no more than that one when it
    has started and all have given; what else starts afterwards at that instant does not count."""
    w = ledger.world
    taker = w.jobs[decision["for"]]
    mine = [d for d in ledger.decided if d["decision"] == "preempt" and d["for"] == taker.name]
    if not richer(w, taker) or mine[-1] is not decision:
        return
    lane = w.lane(taker.queue)
    has = largest_part(ledger, taker.user, lane)
    for d in mine:
        j = w.jobs[d["job"]]
        left = largest_part(ledger, j.user, lane)
        good = w.lane(j.queue) == lane and j.user != taker.user and has <= left
        ledger.law("richer", good, j, "%s has %s then, %s has %s" % (taker.user, has, j.user, left))


def lends_to_entitled(ledger, job, before):
    """Whether a job whose time has come, or has become earlier than it was promised and come by that, may have lost what it
    would have then to one that starts on it, or on what their division may have, was not promised that time, and has the right
    to it: of another queue, of no lower priority, which has jobs of borrowers stopped. The one that has lost it might be
    stopped at once, and its queue would have more by it than it is guaranteed, which is the least that it deserves."""
    w = ledger.world
    had = {j.name: holding for j, holding, _, _ in ledger.windows_before}
    if job.name not in had or job.spec.get("preemptible_after", 0) > 1 or w.lane_config(job.queue).get("keeps-gangs"):
        return False
    lane = w.lane(job.queue)
    has = [k.holding for k in w.running() if w.lane(k.queue) == lane]
    has += [had.get(k.name) for k in w.waiting() if w.lane(k.queue) == lane]
    wanted = had[job.name].nodes() if before[job.name] <= ledger.now else w.allowed(job)
    takes = [k for k in w.running() if k.start == ledger.now and may_take_loans(w, k, job)
             and (before.get(k.name) is None or before[k.name] > ledger.now)]
    beside = division(w, job.queue) if own_division(w, job.queue).get("capability") else None
    lost = any(wanted & k.holding.nodes() or division(w, k.queue) == beside for k in takes)
    return lost and may_be_beyond_guarantee(w, lane, has, had[job.name])


def may_take_loans(world, taker, job):
    """Whether a job may have one of another queue stopped that borrows."""
    config = world.lane_config(taker.queue)
    return config.get("preempts") in ("borrowers", "both") and world.lane(taker.queue) != world.lane(job.queue) \
        and world.key(taker)[0] <= world.key(job)[0] \
        and not (config.get("preemptible") and world.may_preempt(job))


def may_be_beyond_guarantee(world, lane, holdings, of_job):
    """What else than cores counts, nothing is guaranteed of here."""
    least = own(world, lane).get("guarantee", {}).get("core", 0)
    return cores(holdings) > least or bool(kinds([of_job]) - {"cores"})


class Reclaims:
    """Who has jobs of whom stopped."""

    def __init__(self):
        self.taken = set()  # (taker, giver) since something else happened than that

    def check(self, ledger, decided, preempted, has_news):
        """Jobs are stopped for those of another queue which preempts borrowers; and no two queues take from each other
        in turns while nothing else happens. A queue that lets more of its jobs start on what those leave that are stopped
        for one of them has borrowed again: from then on, also at the same instant, that may be taken back. So has one whose
        job also takes something of which those that are stopped for it have nothing: that may be on loan."""
        w = ledger.world
        if has_news:
            self.taken.clear()
        given = {}
        for d, holding, _ in preempted:
            given.setdefault(d["for"], []).append(holding)
        for d in decided:
            j = w.jobs.get(d["job"])
            if j and d["decision"] == "preempt":
                self.check_preemption(ledger, j, w.jobs[d["for"]])
            elif j and (d["decision"] == "await" or (d["decision"] == "start" and self.borrows(j, given))):
                self.taken = {(to, lane) for to, lane in self.taken if to != side(w, j)}

    @staticmethod
    def borrows(j, given):
        """Whether nobody is stopped for a job that starts, or it has something that those who are have nothing of."""
        return j.name not in given or bool(kinds([j.holding]) - kinds(given[j.name]))

    def check_preemption(self, ledger, j, taker):
        w = ledger.world
        giver, to = side(w, j), side(w, taker)
        if not richer(w, taker):
            ledger.law("borrowers", w.lane_config(taker.queue).get("preempts") == "borrowers" and giver != to, j, to)
        ledger.law("turns", (giver, to) not in self.taken, j, "%s has taken from %s" % (giver, to))
        self.taken.add((to, giver))
