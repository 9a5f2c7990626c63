"""The ledger: reads decisions, and holds them to laws that follow from the manual pages. It knows nothing of how
the scheduler decides. Each law is a method whose comment says it in words; `broken` gathers what breaks one."""
import itertools

import claims
import doors
import limits
import loans
import order
import shares
import victims
from words import Holding
from world import ENDED, FOREVER, RUNNING, WAITING, World

BAD_NEWS = ("down", "drain", "fail", "remove", "property", "block", "config", "unblock", "queue-stop", "queue-pause")


class Ledger:
    def __init__(self, scene, decisions, shown):
        """`shown`: by time, which resources each job is promised."""
        self.scene = scene
        self.world = World(scene)
        self.decisions = {}
        for d in decisions:
            self.decisions.setdefault(d["at"], []).append(d)
        self.events = {}
        for e in scene.events:
            self.events.setdefault(e["at"], []).append(e)
        self.shown = shown
        self.broken = []
        self.now = 0
        self.gave_up = False  # a job of unknown end has lost what it was promised at the instant before, or it has moved
        self.reclaims = shares.Reclaims() if "shares" in scene.config else None
        self.loans = loans.Loans()
        self.claims = claims.Claims() if claims.are_in(scene.config) else None

    def law(self, name, holds, job, text=""):
        if not holds:
            self.broken.append((self.now, name, job.name if job else "", text))

    def check(self):
        for self.now in sorted(set(self.decisions) | set(self.events)):
            self.instant()
        self.check_end()
        return self.broken

    def instant(self):
        """The ends of jobs, the events, what is decided, and then what is true until the next instant."""
        w = self.world
        decided = self.decisions.get(self.now, [])
        self.promises_before = before = {j.name: j.promise for j in w.waiting()}
        self.firm_before = {j.name for j in w.waiting() if j.promise is not None and j.firm}
        self.windows_before = [found for found in self.windows() if found[0].state == WAITING]
        self.held_before = held_before = {j.name for j in w.waiting() if j.promise is not None}
        self.endless_before = {name for name in held_before if w.jobs[name].duration == FOREVER}
        first = itertools.takewhile(lambda d: d["decision"] == "end" and d["job"] in w.jobs, decided)
        ends = list(first)
        over = w.running()
        holdings, starts = [j.holding for j in over], [j.start for j in over]
        for d in ends:
            self.decide(d)
        # What has taken longer than was expected, or than its limit; and what was over in time is not that.
        overrun = any(j.until < self.now or (j.until == self.now and j.state == RUNNING) for j in over)
        # What nobody knew the end of has ended, or something is up again: who has lost a time has a turn by rank.
        self.nobody_knew = overrun or any(j.until == FOREVER and j.state != RUNNING for j in over)
        self.comes_back = self.nobody_knew or any("up" in e or "unblock" in e for e in self.events.get(self.now, []))
        # So has it once in a pass when a job of unknown end loses what it is promised; if one does after that, in the next one.
        gave_up = any(d["job"] in self.endless_before for d in decided)
        self.comes_back |= gave_up or self.gave_up
        self.gave_up = gave_up
        overrun_limit = any(w.gone_by(j, had, start, self.now) <= self.now - (j.state != RUNNING)
                            for j, had, start in zip(over, holdings, starts))
        # Something may be, also by a job that is stopped for another and leaves more than that one takes.
        self.is_freed = bool(ends) or self.now in self.events or any(d["decision"] == "preempt" for d in decided)
        refused = [(d["job"], d["reason"]) for d in decided if d["decision"] == "refuse"]
        self.decided, self.takers = decided, set()  # and for whom others are stopped at this instant
        for e in self.events.get(self.now, []):
            self.happen(e, refused)
        if self.claims:
            self.claims.go_on(self)
        preemptions, stops, awaits = [], [], []
        stoppable = [(k.name, k.holding, k.start) for k in self.stoppable()]
        for d in decided[len(ends):]:
            if d["decision"] == "preempt":
                preemptions.append((d, w.jobs[d["job"]].holding, w.jobs[d["job"]].start))
            if d["decision"] == "stop":
                stops.append((d["job"], w.jobs[d["job"]].holding))
            if d["decision"] == "await":
                awaits.append(d)
            self.decide(d)
        self.look(self.shown.get(self.now, {}))
        if self.claims:
            self.claims.look(self, self.shown.claimed.get(self.now, {}))
        self.check_preemptions(preemptions, stops, awaits)
        if self.reclaims:
            self.reclaims.check(self, decided[len(ends):], preemptions, ends or self.now in self.events)
            self.loans.check(self, decided[len(ends):], preemptions, ends or self.now in self.events)
        else:
            victims.check(self, preemptions, stoppable)
        self.stopped = {d["job"] for d, holding, start in preemptions}
        self.check_promises(before, held_before, overrun, overrun_limit)
        self.check_windows()
        self.check_counts()
        if self.claims:
            self.claims.check(self)
        order.check_enough(self)
        order.check_first(self)
        order.check_never(self)
        order.check_new(self, preemptions)
        if not preemptions and not self.reclaims:
            order.check_protected(self, held_before)
        self.check_idle()

    def happen(self, event, refused):
        w = self.world
        moved = w.members(event["queue"]["id"]) if "queue" in event else []
        were = [(j, j.queue) for j in moved if j.state == WAITING]
        w.happen(event, refused)
        if "submit" in event:
            doors.check_submission(self, event["submit"])
        if "queue" in event:
            doors.check_move(self, event, were)

    def look(self, shown):
        """What is promised to whom. No promise is taken back without a word, and nobody holds one that he was not told
        of."""
        for j in self.world.waiting():
            self.law("told", (j.promise is not None) == (j.name in shown), j, "%s" % j.promise)
            has = j.promise is not None and j.name in shown
            j.promised = Holding(shown[j.name], self.world) if has else None

    # ---- One decision ----

    def decide(self, d):
        w = self.world
        j = w.jobs.get(d["job"])
        self.law("known", j is not None, None, d["job"])
        if not j:
            return
        what = d["decision"]
        if what == "refuse":
            return
        state = {"end": (RUNNING, WAITING), "preempt": (RUNNING,), "stop": (RUNNING,)}.get(what, (WAITING,))
        self.law("state", j.state in state, j, "%s while it is %s" % (what, j.state))
        if what == "preempt":
            self.takers.add(d["for"])
            self.check_victim(j, d)
        if what == "await":
            self.takers.add(d["job"])
        if what == "stop":
            self.check_stop(j)
        w.decide(d)
        if what == "start":
            self.check_start(j, d)
        if what == "preempt" and self.reclaims:
            shares.check_richer(self, d)
        if what == "reject":
            self.check_reject(j, d)

    def check_start(self, j, d):
        w = self.world
        nodes = j.holding.nodes()
        # A node, core or gpu is one job's at a time.
        for k in w.running():
            if k is not j:
                self.law("twice", not k.holding.things() & j.holding.things(), j, "also held by " + k.name)
        for n in nodes:
            used = sum(k.holding.memory.get(n, 0) for k in w.running())
            self.law("memory", used <= w.memory, j, "node%d" % n)
        self.law("licences", sum(k.holding.tools for k in w.running()) <= w.tools, j, j.holding.text)
        self.law("licences", j.holding.tools == j.tools(), j, j.holding.text)
        self.check_shape(j)
        # Resources are of the queue's part, and as the job requires them.
        self.law("part", nodes <= w.allowed(j), j, j.holding.text)
        # No job gets what is down or drained.
        self.law("down", not any(w.out[n] for n in nodes) and not (j.tools() and w.tools_out), j, j.holding.text)
        # No job runs into a block, but those that it is for.
        inside = nodes & w.blocked_nodes(j, self.now, self.now + j.at_most())
        self.law("block", not inside, j, "node%s" % sorted(inside))
        self.law("block", not w.are_tools_blocked(j, self.now, self.now + j.at_most()), j, "licences")
        # Jobs of one user, and of one queue, have at most so much at once.
        over = list(limits.exceeded(w, j, j.holding, [(k, k.holding) for k in w.running()]))
        self.law("limit", not over, j, ", ".join(over))
        until = self.now + j.duration if j.duration < FOREVER else None
        self.law("until", d["until"] == until, j)
        self.law("begin", j.spec.get("begin", 0) <= self.now, j)
        self.law("held", not j.held, j)
        self.law("stopped", w.starts_jobs(j.queue), j)
        self.law("dependency", self.is_met(j), j)
        # It starts as often as it was requeued, and once more.
        self.law("once", j.starts == j.requeues + 1, j)
        if self.claims:
            self.claims.enters(self, j)

    def check_shape(self, j):
        """As many nodes as it asks for, and of each what it asks for or all."""
        w = self.world
        cores = w.cores if j.takes_whole() else j.spec["cores"]
        gpus = w.gpus if j.takes_whole() else j.spec.get("gpus", 0)
        self.law("nodes", len(j.holding.nodes()) == j.nodes(), j, j.holding.text)
        for n, has in j.holding.cores.items():
            self.law("cores", len(has) == cores, j, j.holding.text)
            self.law("gpus", len(j.holding.gpus[n]) == gpus, j, j.holding.text)
            least = w.memory if j.takes_whole() else j.memory()
            self.law("amount", j.holding.memory[n] >= least, j, j.holding.text)

    def is_met(self, j, surely=False):
        """After others have started, or ended, well or not. What was put back has started, but does so again."""
        how, _, who = j.spec.get("dependency", "").partition(":")
        others = self.world.members(who)
        if not others:
            return True
        if how == "after":
            return all((k.starts and (k.state != WAITING or not surely)) or k.state == ENDED for k in others)
        if any(k.state != ENDED for k in others):
            return False
        well = all(k.status == "done" for k in others)
        return {"afterok": well, "afternotok": not well}.get(how, True)

    def check_reject(self, j, d):
        """Rejected is what can't start even if all were up and idle, what a limit or a block allows never, or what a
        queue does not take."""
        w = self.world
        reason = d["reason"]
        why = j.unfit or not w.fits(j) or j.closed or any(b.get("every") for b in w.all_blocks()) or j.recurs or \
            j.limited or limits.any_limit(w, j) or "dependency" in j.spec
        self.law("reject", why and reason, j, reason)

    def check_stop(self, j):
        """For a block only a job is stopped that has no limit, takes longer than was expected and is in its way."""
        w = self.world
        inside = w.blocked_nodes(j, self.now, self.now + 1) & j.holding.nodes()
        blocked = inside or w.are_tools_blocked(j, self.now, self.now + 1)
        self.law("stop", blocked and j.limit == FOREVER and j.until <= self.now, j)

    # ---- Preemption ----

    def check_victim(self, j, d):
        """Only jobs of a preemptible queue are stopped, not in their first second nor before they allow it, and only
        for jobs of queues that are not."""
        w = self.world
        then = "requeue" if self.reclaims else w.lane_config(j.queue).get("preemptible")
        self.law("victim", bool(then), j)
        self.law("then", then == d["then"], j, d["then"])
        self.law("young", j.state != RUNNING or j.preemptible_from() <= self.now, j)
        if self.reclaims:
            shares.check_guarantee(self, j)
        self.law("preemptor", w.may_preempt(w.jobs[d["for"]]), w.jobs[d["for"]])

    def check_preemptions(self, preemptions, stops, awaits):
        by = {}
        had = dict(stops, **{d["job"]: holding for d, holding, start in preemptions})
        for d, holding, start in preemptions:
            by.setdefault(d["for"], []).append((d["job"], holding))
        for d in awaits:
            # Those that are being stopped are gone at the same instant in these scenes.
            self.law("await", d["of"] in had, self.world.jobs[d["job"]], d["of"])
            by.setdefault(d["job"], []).append((d["of"], had.get(d["of"])))
        for name, victims in by.items():
            j = self.world.jobs[name]
            # Nobody is stopped in vain: the job starts, and needs something of each, or another one does that waits for that.
            self.law("vain", j.state == RUNNING and j.start == self.now, j)
            if j.state != RUNNING or not j.holding or (self.claims and self.claims.any_new(self)):
                continue  # a claim that is made meanwhile takes promises back: it has room elsewhere
            for victim, holding in victims:
                waits = [self.world.jobs[n] for n, some in by.items() if (victim, holding) in some]
                near = any(self.has_of(k, holding) for k in waits)
                self.law("vain", near or limits.any_limit(self.world, j), j, victim)

    @staticmethod
    def has_of(j, holding):
        """Whether a job has something where another one did."""
        return bool(holding and j.holding and (holding.nodes() & j.holding.nodes() or (holding.tools and j.tools())))

    # ---- What is true at the end of an instant ----

    def check_promises(self, before, held_before, overrun, overrun_limit):
        """A promise is kept or becomes earlier, unless the machine, a block, a person or a job that goes before
        comes in its way, or, if it is only expected, a job takes longer than was expected; and when its time has come,
        the job starts."""
        w = self.world
        events = [next(k for k in e if k != "at") for e in self.events.get(self.now, [])]
        touched = {name for e in self.events.get(self.now, []) for v in e.values() for name in self.named(v)}
        news = any(e in BAD_NEWS or e == "duration" for e in events)
        excused, excused_if_firm = overrun or news, overrun_limit or news
        for name, promise in before.items():
            j = w.jobs[name]
            if promise is None or j.state != WAITING or name in touched:
                continue
            was_firm = name in self.firm_before
            if j.promise is not None and j.promise <= promise and (j.firm or not was_firm):
                continue
            gone_before = any(w.key(k) < w.key(j) and self.may_come_before(k, j, touched, before, held_before)
                              for k in w.jobs.values())
            softer = j.promise is not None and j.promise <= promise
            gone_before |= (promise <= self.now or self.is_freed) and shares.lends_to_entitled(self, j, before)
            told = excused_if_firm if was_firm and not softer else excused
            self.law("promise", told or gone_before, j, "%s%s, then %s%s" % (
                promise, "" if was_firm else " expected", j.promise, "" if j.firm else " expected"))
        for j in w.waiting():
            self.law("due", j.promise is None or j.promise > self.now, j, "%s" % j.promise)

    def named(self, value):
        if isinstance(value, dict):
            value = value.get("id")
        return self.world.arrays.get(value, []) if isinstance(value, str) else []

    def may_come_before(self, k, j, touched, before, held_before):
        """Whether a job that goes before another one may have taken its place at this instant. The promises of a lower
        queue give way to whatever a higher one is promised, also where that only moves, and to the first of an fcfs
        queue, which is promised nothing. Where such a queue has limits, these promise times behind its first job; one that
        is stopped for another and is the first again takes these back."""
        w = self.world
        if k.name in touched or self.is_new_or_later(k, before, held_before):
            return True
        then = k.start if k.state == RUNNING else k.promise if k.state == WAITING else None
        if self.comes_back and then is not None and self.now <= then < before.get(k.name, FOREVER):
            return True
        if k.name in self.stopped and k.state == WAITING and w.lane(k.queue) == w.lane(j.queue) and \
                (w.depth(k.queue) == 0 or self.takes_last(k, j, before)):
            return True
        if w.key(k)[0] == w.key(j)[0]:
            return False
        if k.state == WAITING and k.promise is not None and k.firm and k.name not in self.firm_before:
            return True  # lower queues go by their limits before it from now on
        started = k.state == RUNNING and k.start == self.now
        moved = k.state == WAITING and k.promise is not None and (k.promise != before.get(k.name) or
                                                                  self.has_moved(k))
        return started or moved or (k.state == WAITING and w.depth(k.queue) == 0)

    def takes_last(self, k, j, before):
        """Whether a job that was stopped and waits again takes the promise that its queue has for it from the last job
        behind it: as many of the queue as may had one. It may be promised nothing itself: that is not before what the
        queues are promised that are not preemptible, which may be without end."""
        w = self.world
        had = [o for o in w.of_lane(k.queue) if before.get(o.name) is not None]
        behind = [o for o in had if w.key(o) > w.key(j)]
        back = [o for o in w.of_lane(k.queue) if o.name in self.stopped and o.state == WAITING]
        return k.promise is None and len(had) >= w.depth(k.queue) and len(behind) < len(back)

    def has_moved(self, k):
        """Whether what it is promised is elsewhere than before this instant."""
        was = [holding.text for j, holding, start, until in self.windows_before if j is k]
        return not k.promised or was != [k.promised.text]

    def is_new_or_later(self, k, before, held_before):
        """Whether a job started or was promised something anew at this instant, or later than before."""
        if k.state == RUNNING:
            return k.start == self.now and k.name not in held_before
        if k.claim:
            return self.claims.is_new(k)
        if k.state != WAITING or k.promise is None:
            return False
        old = before.get(k.name)
        return old is None or k.promise > old

    def windows(self, but=()):
        """What is held from when until when."""
        for k in self.world.jobs.values():
            if k in but:
                continue
            if k.state == RUNNING:
                yield k, k.holding, k.start, k.held_until(self.now)
            elif k.promised:
                yield k, k.promised, k.promise, k.promise + k.duration
            elif k.claim:
                yield k, k.claim, self.now, FOREVER

    def check_windows(self):
        """Nobody is promised what another has or is promised at that time, what is down, or what is blocked."""
        w = self.world
        every = [found for found in self.windows() if not found[0].claim]
        for k, holding, start, end in every:
            if k.state == RUNNING:
                continue
            for other, has, begin, until in every:
                if other is not k and begin < end and start < until and until != FOREVER:
                    self.law("promised twice", not has.things() & holding.things(), k, other.name)
            beside = [found[1:] for found in every if found[0] is not k and found[3] != FOREVER]
            self.law("promised amount", self.has_amounts(holding, start, end, beside), k, holding.text)
            # Limits hold at the time that is promised, too.
            then = [(o, has) for o, has, begin, until in every if begin <= start < until and until != FOREVER]
            over = list(limits.exceeded(w, k, holding, then))
            self.law("promised limit", not over, k, ", ".join(over))
            out = any(w.out[n] for n in holding.nodes()) or (holding.tools and w.tools_out)
            self.law("promised down", not out, k, holding.text)
            self.law("promised part", holding.nodes() <= w.allowed(k), k, holding.text)
            inside = holding.nodes() & w.blocked_nodes(k, start, start + k.at_most())
            blocked = inside or w.are_tools_blocked(k, start, start + k.at_most())
            self.law("promised block", not blocked, k, holding.text)
        self.check_firm(every)

    def check_firm(self, every):
        """What is promised holds even if all jobs take as long as their limits; what is only expected is called that
        because some job may take longer than is expected."""
        late = any(k.duration < k.limit or k.held_until(self.now) == FOREVER for k in self.world.running()) or \
            any(k.duration < k.limit for k, has, begin, until in every)
        for k, holding, start, end in every:
            if k.state == RUNNING:
                continue
            self.law("expected", k.firm or late, k, "%s" % start)
            longest = [(has, begin, self.world.gone_by(o, has, begin, self.now)) for o, has, begin, until in every
                       if o is not k and begin < start and until != FOREVER]
            if k.firm:
                there = [found for found in longest if found[2] > start]
                kept = [has.things() & holding.things() for has, begin, until in there]
                beside = one_of_each(there)
                self.law("firm", not any(kept) and self.has_amounts(holding, start, start + 1, beside), k, "%s" % start)

    def has_amounts(self, holding, start, end, windows):
        """Whether what it has of memory and licences is left, at any time from start to end, beside these windows."""
        w = self.world
        meets = [found for found in windows if found[1] < end and found[2] > start]
        for t in {max(start, begin) for has, begin, until in meets}:
            then = [has for has, begin, until in meets if begin <= t < until] + [holding]
            if holding.tools and sum(has.tools for has in then) > w.tools:
                return False
            if any(some and sum(has.memory.get(n, 0) for has in then) > w.memory for n, some in holding.memory.items()):
                return False
        return True

    def check_counts(self):
        """A queue gives at most as many promises as its policy says, and as many, one at least, to jobs that only a
        limit keeps, for each limit."""
        w = self.world
        for queue in w.config["queues"]:
            held = [j for j in w.of_lane(queue) if j.state == WAITING and j.promise is not None and
                    not (self.claims and self.claims.is_starving(self, j))]
            most = w.depth(queue) + len(limits.calendars(w, held)) * max(1, w.depth(queue))
            self.law("count", len(held) <= most, None, "%s: %d" % (queue, len(held)))

    def has_higher(self, j, lanes):
        """Whether a job of a higher queue, of these lanes, waits: what lower ones are promised gives way to it, and
        under fcfs they may not go before its first. Where that has a claim, what it claims is enough."""
        w = self.world
        found = [k for k in w.waiting() if w.lane(k.queue) in lanes and w.key(k)[0] < w.key(j)[0]]
        claims = [k for k in found if k.claim]
        return any(not any(w.lane(c.queue) == w.lane(k.queue) and w.key(c) <= w.key(k) for c in claims)
                   for k in found)

    def fits_at(self, j, start, windows):
        """Whether it fits from some time on beside what is held from when until when."""
        w = self.world
        end, longest = start + j.duration, start + j.at_most()
        nodes = [n for n in w.allowed(j) - w.blocked_nodes(j, start, longest) if not w.out[n]]
        cores = {n: set(range(w.cores)) for n in nodes}
        gpus = {n: set(range(w.gpus)) for n in nodes}
        meets = [(holding, begin, until) for holding, begin, until in windows if begin < end and until > start]
        for holding, begin, until in meets:
            for n in holding.nodes() & set(nodes):
                cores[n] -= holding.cores[n]
                gpus[n] -= holding.gpus[n]
        times = {max(start, begin) for holding, begin, until in meets} if w.memory or w.tools else ()
        tools = max((sum(h.tools for h, begin, until in meets if begin <= t < until) for t in times), default=0)
        if j.tools() and (w.tools_out or tools + j.tools() > w.tools or w.are_tools_blocked(j, start, longest)):
            return False
        memory = {n: w.memory - max((sum(h.memory.get(n, 0) for h, begin, until in meets if begin <= t < until)
                                     for t in times), default=0) for n in nodes}
        least = (w.cores, w.gpus, w.memory) if j.takes_whole() else \
            (j.spec["cores"], j.spec.get("gpus", 0), j.memory())
        return sum(len(cores[n]) >= least[0] and len(gpus[n]) >= least[1] and memory[n] >= least[2]
                   for n in nodes) >= j.nodes()

    def is_free(self, j, but=()):
        """Whether it fits from now on beside all that is held and promised but by some, and claimed by jobs that go before it:
        it may take what others claim."""
        w = self.world
        behind = [k for k in w.waiting() if k.claim and w.key(j) < w.key(k)]
        return self.fits_at(j, self.now, self.seen_by(j, self.windows(tuple(but) + (j, *behind))))

    def seen_by(self, j, windows):
        """What is held and promised, as a job has to look at it that may start now: before a promised start it goes by
        its limit, before one that is only expected by its estimate."""
        return self.seen_beside(j, windows, {k.name for k in self.world.waiting() if k.firm})

    def seen_by_before(self, j, windows):
        """The same of what was promised as this instant began."""
        return self.seen_beside(j, windows, self.firm_before)

    def seen_beside(self, j, windows, firm):
        tail = j.limit - j.duration
        return [(holding, begin - tail if k.name in firm else begin, until) for k, holding, begin, until in windows]

    def stops_nobody(self, j):
        """Whether only a limit keeps a job: it has promised it a time, or the machine has room."""
        return limits.keeps(self.world, j) and (j.promise is not None or self.is_free(j))

    def considered(self, lane):
        """Jobs that may go on now, of those that a pass considers: nothing but resources or a limit keeps them. Under
        fcfs nobody goes before the first, of which nobody is sure perhaps that it may, but for those that only a limit
        keeps."""
        w = self.world
        if not w.starts_jobs(lane):
            return []
        q = w.config["queues"][lane]
        jobs = sorted((j for j in w.of_lane(lane) if j.state == WAITING), key=w.key)
        jobs = [j for j in jobs if not j.held and j.spec.get("begin", 0) <= self.now and self.is_met(j)]
        if q["policy"] == "fcfs":
            jobs = list(itertools.dropwhile(self.stops_nobody, jobs))
            most = 1
        else: # what waits for something that is down does not count
            jobs = [j for j in jobs if not w.needs_down(j)]
            most = q.get("queue-depth", FOREVER)
        return [j for j in first_entries(jobs, most) if self.is_met(j, True)]

    def candidates(self):
        """Jobs that may start now if there is room. Those of an array that wait together are one job, and none of them
        goes before the first that is promised a time."""
        w = self.world
        for lane in {w.lane(q) for q in w.config["queues"]}:
            for j in self.considered(lane):
                if j.promise is None and not w.array_has_promise(j):
                    yield j, limits.has_room(w, j, self.now)

    def stoppable(self):
        w = self.world
        return [k for k in w.running() if w.lane_config(k.queue).get("preemptible")
                and k.preemptible_from() <= self.now]

    def all_shown(self):
        """Whether it is known what everybody is promised."""
        return all(k.promise is None or k.promised for k in self.world.waiting())

    def check_idle(self):
        """No job waits that fits beside all that is held and promised; and none that would if jobs that may be
        preempted were."""
        w = self.world
        if not self.all_shown():
            return
        stoppable = self.stoppable()
        for j, has_room in self.candidates():
            if has_room and not self.has_higher(j, w.fcfs()):
                self.law("idle", not self.is_free(j), j, j.reason)
                if stoppable and w.may_preempt(j):
                    self.law("preempt", not self.is_free(j, stoppable), j, j.reason)

    def check_end(self):
        """In the end nobody runs, and who waits has a reason: jobs that it waits for, or a block."""
        for j in self.world.jobs.values():
            self.law("over", j.state != RUNNING, j)
            if j.state == WAITING:
                reason = j.reason
                self.law("waits", reason.startswith("dependency") or self.world.all_blocks(), j, reason)


def first_entries(jobs, most):
    """As many of these as a depth counts, in order. The members of an array that wait together are one; one that was put back
    waits by itself."""
    entries, some = set(), []
    for j in jobs:
        entries.add(j.name if j.requeues else j.array)
        if len(entries) > most:
            return some
        some.append(j)
    return some


def one_of_each(windows):
    """Those that may all be there at one time that all of them contain: of several that hold the same core or GPU, the
    others begin when the first one has ended."""
    several = []
    for found in sorted(windows, key=lambda found: found[1]):
        if not any(found[0].things() & has.things() for has, begin, until in several):
            several.append(found)
    return several
