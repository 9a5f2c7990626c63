"""Which jobs are stopped for another, by berth-config(5): none without which it would start; one if one is enough, of
these the one that loses the least work (cores times time run), then the youngest."""
import itertools

import limits
from world import WAITING

MOST = 400  # sets of victims that are tried for one preemption


def work(now, holding, start):
    return len(holding.units()) * (now - start)


class Choice:
    """A job has started at this instant in the place of victims: (name, holding, start) of each, and `others` that
    might have been."""

    def __init__(self, ledger, job, victims, others):
        self.ledger, self.job = ledger, job
        self.victims, self.others = victims, others

    def fits_instead_of(self, some):
        """Whether it would surely fit if only these had been stopped. What is promised may change at this instant, and
        so it has to fit beside both."""
        kept = [v for v in self.victims + self.others if v not in some]
        beside = [(holding, self.ledger.now, self.ledger.now + 1) for name, holding, start in kept]
        gone = {v[0] for v in self.victims + self.others}
        now = [(h, a, b) for k, h, a, b in self.ledger.windows() if k is not self.job and k.name not in gone]
        before = [(h, a, b) for k, h, a, b in self.ledger.windows_before if k is not self.job and k.name not in gone]
        return self.ledger.fits_at(self.job, self.ledger.now, now + before + beside)

    def sets(self, n):
        return itertools.islice(itertools.combinations(self.victims + self.others, n), MOST)

    def loss(self, some):
        return sum(work(self.ledger.now, holding, start) for name, holding, start in some)

    def better(self):
        """Words for a choice that would have been better, and its names; or None. Where several are stopped, one that
        would have been enough, or some of them."""
        n = len(self.victims)
        fewer = [()] + list(self.sets(1)) if n > 1 else [()]
        parts = (some for few in range(2, n) for some in itertools.combinations(self.victims, few))
        for some in itertools.islice(itertools.chain(fewer, parts), MOST):
            if self.fits_instead_of(some):
                return "fewest", some
        if n > 1:
            return None
        lost = self.loss(self.victims)
        for some in self.sets(1):
            if not self.fits_instead_of(some):
                continue
            if self.loss(some) < lost:
                return "least work", some
            if self.loss(some) == lost and some[0][2] > self.victims[0][2]:
                return "youngest", some
        return None


def is_behind_fcfs(ledger, job):
    """Whether a job of a higher queue under fcfs waits, or did until this instant: its first is not to be delayed."""
    w = ledger.world
    return any(w.key(k)[0] < w.key(job)[0] and w.lane_config(k.queue)["policy"] == "fcfs" and
               (k.state == WAITING or k.start == ledger.now) for k in w.jobs.values())


def check(ledger, preemptions, stoppable):
    """`preemptions`: decisions with what the victim held, since when; `stoppable`: jobs that might be stopped as this
    instant began, in the same form. Where several jobs preempt at once, a limit has a say, or the first of a queue
    under fcfs goes before, this law says nothing."""
    w = ledger.world
    preemptors = {d["for"] for d, holding, start in preemptions}
    decided = ledger.decisions.get(ledger.now, [])
    last = max((i for i, d in enumerate(decided) if d["decision"] == "preempt"), default=0)
    if any(d["decision"] == "reserve" for d in decided[:last]):
        return  # a promise made before it at this instant was in its way, and may have moved since
    told_again = any(not holding for d, holding, start in preemptions)
    if len(preemptors) != 1 or told_again or not ledger.all_shown():
        return
    job = w.jobs[preemptors.pop()]
    if not job.holding or limits.any_limit(w, job) or job.start != ledger.now or is_behind_fcfs(ledger, job):
        return
    victims = [(d["job"], holding, start) for d, holding, start in preemptions]
    names = {v[0] for v in victims}
    others = [v for v in stoppable if v[0] not in names and w.jobs[v[0]].start == v[2] and w.jobs[v[0]].holding]
    better = Choice(ledger, job, victims, others).better()
    if better:
        law, some = better
        ledger.law(law, False, job, "stops %s, not %s" % (sorted(names), sorted(v[0] for v in some)))
