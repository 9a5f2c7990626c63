"""Which jobs are stopped for another, by berth-config(5): as few as will do; of such sets the one that loses the least
work (cores times time run), then that whose jobs have run for the shortest time together. Of several jobs this is said
where the sets of up to so many are few."""
import itertools
import math

import limits
from words import Holding
from world import WAITING

MOST = 400  # sets of victims that are tried for one preemption
SETS = 1000  # sets of two and more jobs that are compared


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
        now, before = ([found for found in windows if found[0] is not self.job and found[0].name not in gone]
                       for windows in (self.ledger.windows(), self.ledger.windows_before))
        others = self.ledger.seen_by(self.job, now) + self.ledger.seen_by_before(self.job, before)
        others += self.ledger.seen_by_before(self.job, self.chosen_again(before))
        return self.ledger.fits_at(self.job, self.ledger.now, others + beside)

    def chosen_again(self, before):
        """Where something was given back at this instant a promise may have chosen other nodes at its time, and another time
        since, as those that were stopped wait again before it: any of its nodes may have been in the way meanwhile."""
        w = self.ledger.world
        if not any(d["decision"] == "end" for d in self.ledger.decisions.get(self.ledger.now, [])):
            return []
        return [(k, Holding("node[%s]" % ",".join(map(str, sorted(w.allowed(k)))), w), start, until)
                for k, holding, start, until in before
                if k.state == WAITING and (k.promise is None or k.promise > start)]

    def loss(self, some):
        """What is lost with some: work, and how long they have run."""
        now = self.ledger.now
        return sum(work(now, holding, start) for name, holding, start in some), \
            sum(now - start for name, holding, start in some)

    def better(self):
        """Words for a choice that would have been better, and its names; or None. Where there are too many sets of as
        many jobs as are stopped, one that would have been enough, or some of them."""
        n, all_jobs = len(self.victims), self.victims + self.others
        if n > 1 and sum(math.comb(len(all_jobs), k) for k in range(2, n + 1)) > SETS:
            parts = (some for few in range(2, n) for some in itertools.combinations(self.victims, few))
            sets = itertools.chain([()], itertools.combinations(all_jobs, 1), parts)
        else:
            sets = (some for few in range(n + 1) for some in itertools.combinations(all_jobs, few))
        lost = self.loss(self.victims)
        better = (some for some in sets if len(some) < n or self.loss(some) < lost)
        for some in itertools.islice(better, MOST):
            if not self.fits_instead_of(some):
                continue
            less_work = self.loss(some)[0] < lost[0]
            return "fewest" if len(some) < n else "least work" if less_work else "youngest", some
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
