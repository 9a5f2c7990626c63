"""Loans as berth-config(5) says them (`preempts`): a job that borrows, and may be stopped for that at once, starts only in what
no job can use that waits and is entitled to it. Whether a job borrows is not worked out here: who is entitled says so by having
it stopped a second later."""
import shares


class Loans:
    """What was true at the end of the instant before, of those that waited then, and what was decided at it."""

    def __init__(self):
        self.at = None
        self.able = set()  # who might have started, resources alone left aside
        self.started = {}  # by queue
        self.lost = set()  # queues of which some were stopped
        self.blocked = set()  # whom only a limit keeps, which has promised nothing
        self.promised = set()  # who had a promise
        self.claimed = set()  # who has started with a claim, which does not give way

    def check(self, ledger, decided, preempted, has_news):
        """`preempted`: decisions with what the victim held, since when."""
        w = ledger.world
        lost = {w.lane(w.jobs[d["job"]].queue) for d, holding, start in preempted}
        for d, holding, start in preempted:
            j, taker = w.jobs[d["job"]], w.jobs[d["for"]]
            if self.at == start == ledger.now - 1 and not has_news and not shares.richer(w, taker):
                victims = [e["job"] for e, had, since in preempted if e["for"] == taker.name]
                self.check_loan(ledger, j, taker, victims, self.lost | lost)
        self.lost = lost
        self.note(ledger, decided)

    def check_loan(self, ledger, j, taker, victims, lost):
        """A job is not stopped in its second second for one of another queue that might have started in its place: unless it is of
        a higher queue; others of its queue started with it, by which that had more; others must go as well, as they borrow, too;
        a limit has blocked the other one, as long as nobody could be stopped for it; the one that starts may last longer than it
        is expected to, which may have been in the way of a promise; or its queue has lost something since, and is entitled only
        now."""
        w = ledger.world
        giver, to = w.lane(j.queue), w.lane(taker.queue)
        told = w.key(j)[0] < w.key(taker)[0] or self.started[giver] != {j.name} or victims != [j.name] or to in lost
        lasts = taker.limit > taker.duration and self.promised - {taker.name}
        ledger.law("lent", told or lasts or j.name in self.claimed or taker.name not in self.able, j, "%s waited at %s" % (taker.name, self.at))

    def note(self, ledger, decided):
        w = ledger.world
        self.at = ledger.now
        self.started = {}
        self.claimed = set(ledger.claims.before) if ledger.claims else set()
        new = [w.jobs[d["job"]] for d in decided if d["decision"] == "start" and d["job"] in w.jobs]
        for j in new:
            self.started.setdefault(w.lane(j.queue), set()).add(j.name)
        blocked = {j.name for j in w.waiting() if j.promise is None and j.reason.startswith("limit ")}
        lanes = {w.lane(q) for q in w.config["queues"]}
        self.able = {j.name for lane in lanes for j in ledger.considered(lane)
                     if j.name not in self.blocked & blocked and not self.waits_for(w, j, new)}
        self.blocked = blocked
        self.promised = {j.name for j in w.waiting() if j.promise is not None}

    @staticmethod
    def waits_for(world, j, new):
        """Whether a job might start only as one of these has."""
        return any(k in new for k in world.members(j.spec.get("dependency", "").partition(":")[2]))
