"""Who is promised a time, and who may not be overtaken."""
import limits
from world import FOREVER, WAITING, ends_of

OCCURRENCES = 20  # of each block after all else is over: what leaves no gap by then is taken to leave none


def can_be_promised(ledger, j):
    """Whether there surely is a time for it: it would fit on what is up, but for those that overrun, and no limit, block
    that comes again or waiting job without an end may keep it. What others claim is withheld, and a claim is kept."""
    w = ledger.world
    endless = any(k.duration == FOREVER for k in w.waiting())
    if endless or j.claim or limits.any_limit(w, j) or any(b.get("every") for b in w.all_blocks()):
        return False
    late = [(k.holding, ledger.now, FOREVER) for k in w.running() if k.held_until(ledger.now) == FOREVER]
    late += [(k.claim, ledger.now, FOREVER) for k in w.waiting() if k.claim]
    after = max([b["start"] + b["duration"] for b in w.all_blocks()] + [ledger.now])
    return ledger.fits_at(j, after, late)


def check_enough(ledger):
    """A queue promises as many jobs a time as its policy may, and nobody is passed over."""
    w = ledger.world
    for lane in {w.lane(q) for q in w.config["queues"]}:
        if not w.starts_jobs(lane) or w.depth(lane) == 0:
            continue
        jobs = ledger.considered(lane)
        able = [j for j in jobs if can_be_promised(ledger, j)]
        without = [j for j in able if j.promise is None and not w.array_has_promise(j)]
        held = [j for j in w.of_lane(lane) if j.state == WAITING and j.promise is not None]
        if without:
            ledger.law("enough", len(held) >= w.depth(lane), without[0], "%d of %s" % (len(held), w.depth(lane)))


def check_first(ledger):
    """The first waiting job of a queue whose policy promises something is promised a time, if there surely is one: nobody
    behind it has the promise instead, and a node that was away for a while has taken nobody's rank. A job that was stopped
    for another puts off none of those that were promised something meanwhile; nor does one that shares put first, by
    doc/shares.md, and so this law says nothing of shares."""
    w = ledger.world
    if ledger.reclaims:
        return
    for lane in {w.lane(q) for q in w.config["queues"]}:
        jobs = ledger.considered(lane) if w.depth(lane) > 0 else []
        if jobs and not jobs[0].requeues and not w.array_has_promise(jobs[0]) and can_be_promised(ledger, jobs[0]):
            held = [j for j in w.of_lane(lane) if j.state == WAITING and j.promise is not None]
            # One before it may be promised a time of which it is not sure that it may go on.
            holds = jobs[0].promise is not None or any(w.key(j) < w.key(jobs[0]) for j in held)
            ledger.law("first", holds, jobs[0], "%s have promises" % [j.name for j in held])


def check_new(ledger, preemptions):
    """A job that has just come starts if it fits beside all that runs and what those before it are promised, and limits have
    room for it beside these: those behind it give way. Nor are jobs in its way that may be stopped for it. Those that are
    stopped for others at this instant are there when it has its turn; when they have gone it is new no more."""
    w = ledger.world
    if ledger.reclaims or not ledger.all_shown():
        return
    for e in ledger.events.get(ledger.now, []):
        j = w.members(e["submit"]["id"])[0] if "submit" in e else None
        if not j or j.state != WAITING or j not in ledger.considered(w.lane(j.queue)) or ledger.has_higher(j, w.fcfs()):
            continue
        before = {k.name for k in w.jobs.values() if k.holding or w.key(k) < w.key(j)}
        if not limits.has_room(w, j, ledger.now, before):
            continue
        stopped = {k.name for k in ledger.stoppable()} if w.may_preempt(j) else set()
        windows = [found for found in ledger.windows((j,)) if found[0].name in before - stopped]
        if not w.may_preempt(j):
            windows += [(w.jobs[d["job"]], holding, ledger.now, ledger.now + 1)
                        for d, holding, start in preemptions if holding]
        ledger.law("outranks", not ledger.fits_at(j, ledger.now, ledger.seen_by(j, windows)), j, "%s" % j.promise)


def check_never(ledger):
    """No job waits that could not start even if all were up and idle; and of an array that waits together either all
    are rejected at one time or none."""
    w = ledger.world
    for j in w.waiting():
        ledger.law("never", w.fits(j), j, j.reason)
    rejected = {w.jobs[d["job"]].array for d in ledger.decisions.get(ledger.now, [])
                if d["decision"] == "reject" and d["job"] in w.jobs}
    for j in w.waiting():
        ledger.law("whole", j.array not in rejected or j.requeues, j, "others of its array are rejected")


def longest_period(w):
    return max((b.get("every", 0) for b in w.all_blocks()), default=0)


def earliest(ledger, j, windows):
    """When it could start beside these windows."""
    w = ledger.world
    ends = {until for h, start, until in windows}
    last = max([t for t in ends if t < FOREVER] + [ledger.now]) + OCCURRENCES * longest_period(w)
    ends |= {t for b in w.all_blocks() for t in ends_of(b, last)}
    for t in sorted({ledger.now} | {t for t in ends if ledger.now < t < FOREVER}):
        if ledger.fits_at(j, t, windows):
            return t
    return None


def first_of_all(ledger, lanes):
    """The first waiting job of all that are the first of their queue and are promised nothing, unless another of its queue
    is, before it. Others may be delayed by it."""
    w = ledger.world
    heads = [jobs[0] for jobs in (ledger.considered(lane) for lane in lanes) if jobs]
    first = min((j for j in heads if j.promise is None), key=w.key, default=None)
    before = (k for k in w.of_lane(first.queue) if k.state == WAITING and w.key(k) < w.key(first)) if first else ()
    return None if any(k.promise is not None for k in before) else first


def check_protected(ledger, held_before):
    """Where nobody is preempted, the first waiting job is not delayed by what jobs of lower queues start or are newly
    promised; it goes by its own limit before what others are promised. What a dependency keeps may have come first only
    now, or since a lower job has started, and take what was left for the first; and when a job ends that overruns, or has
    no end that is known, nobody knows: the first could not be promised a time behind it, and what others are promised
    moves first. Of what is claimed this law says nothing."""
    w = ledger.world
    lanes = {w.lane(q) for q in w.config["queues"]}
    first = first_of_all(ledger, lanes)
    overruns = any(k.held_until(ledger.now) == FOREVER for k in w.running())
    if not first or "dependency" in first.spec or overruns or any(k.claim for k in w.waiting()) or limits.any_limit(w, first) or \
            len(lanes) == 1 or not ledger.all_shown() or ledger.nobody_knew:
        return
    every = [(k, h, start, until) for k, h, start, until in ledger.windows()
             if until > ledger.now and k is not first]
    lower = [k for k in w.jobs.values() if w.key(k)[0] > w.key(first)[0]]
    new = [k for k in w.jobs.values()
           if k.start == ledger.now or (k.promise is not None and k.name not in held_before)]
    if any("dependency" in k.spec for k in new):
        return
    behind = {k.name for k in lower if k in new}
    promised = {k.name for k in lower if k.promise is not None}
    without = ledger.seen_by(first, [found for found in every if found[0].name not in behind | promised])
    best = earliest(ledger, first, without)
    late = earliest(ledger, first, without + [(h, a, b) for k, h, a, b in every if k.name in behind])
    ledger.law("protected", best is None or (late is not None and late <= best), first,
               "%s, but for %s %s" % (late, sorted(behind), best))
