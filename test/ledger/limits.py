"""Limits as berth-config(5) says them: who is counted together, and what counts."""
import shares


def exception(queue, user):
    for e in queue.get("limits", {}).get("except", []):
        if user in e.get("users", []):
            return e
    return {}


def has_own(world, job, what):
    """Whether the job's virtual queue limits itself what a user may have of something."""
    q = world.config["queues"][job.queue]
    own = q.get("limits", {})
    return "parent" in q and (what in own.get("user", {}) or
                              ("except" in own and what in exception(q, job.user).get("user", {})))


def rules(world, job):
    """Each limit that concerns a job: (what it is of, amount by type, whom it counts besides)."""
    queues = world.config["queues"]
    q = queues[job.queue]
    above = world.lane_config(job.queue)
    own, parent = q.get("limits", {}), above.get("limits", {})
    # The limits of job and user, each amount by itself, and except are the parent's if they are not given.
    e = exception(q if "except" in own else above, job.user)
    each = {what: dict(parent.get(what, {}), **own.get(what, {})) for what in ("job", "user")}
    for what in each:
        each[what].update(e.get(what, {}))
    if job.most:
        yield "array", {"running": job.most}, lambda k: k.array == job.array
    yield "job", each["job"], lambda k: False
    mine = {what: n for what, n in each["user"].items() if has_own(world, job, what)}
    yield "user", mine, lambda k: k.user == job.user and k.queue == job.queue
    # Those of the parent cover its virtual queues, but for what these limit themselves.
    lanes, lane = world.lanes, world.lanes[job.queue]
    above_user = dict(parent.get("user", {}), **exception(above, job.user).get("user", {}))
    for what, n in above_user.items():
        if "parent" not in q or what not in mine:
            yield "user", {what: n}, lambda k, what=what: \
                k.user == job.user and lanes.get(k.queue) == lane and not has_own(world, k, what)
    if "parent" in q:
        yield "queue", own.get("queue", {}), lambda k: k.queue == job.queue
    yield "queue", parent.get("queue", {}), lambda k: lanes.get(k.queue) == lane
    yield from shares.capabilities(world, job)


def taken(holdings, what):
    """What these jobs have of it together; a node that several of them share counts once."""
    if what == "running":
        return len(holdings)
    if what == "node":
        return len(set().union(*(h.nodes() for h in holdings)))
    if what == "core":
        return sum(len(h.units()) for h in holdings)
    if what == "license:tool":
        return sum(h.tools for h in holdings)
    return 0


def exceeded(world, job, holding, others):
    """Limits that a job which holds that is over, beside others with what they hold then: one that takes nothing more of
    what is limited is over none, however much others have since another configuration."""
    for of, most, counts in rules(world, job):
        beside = [has for k, has in others if k is not job and counts(k)]
        for what, n in most.items():
            has = taken(beside + [holding], what)
            if n != "unlimited" and what != "duration" and has > n and has > taken(beside, what):
                yield "limit %s %s %s" % (of, what, n)


def least(world, job, holdings, what):
    """What a job adds at least to what these have of something: they may share their nodes with it."""
    if what == "running":
        return 1
    if what == "license:tool":
        return job.tools()
    cores = world.cores if job.takes_whole() else job.spec["cores"]
    if what == "core":
        return job.nodes() * cores
    return max(0, job.nodes() - taken(holdings, "node"))


def keeps(world, job):
    """Whether a limit surely keeps a job from starting now: beside what runs it has no room."""
    for of, most, counts in rules(world, job):
        holdings = [k.holding for k in world.running() if k is not job and counts(k)]
        for what, n in most.items():
            if what in ("running", "core", "node", "license:tool") and n != "unlimited" and of != "job" and \
                    taken(holdings, what) + least(world, job, holdings, what) > n:
                return True
    return False


def has_room(world, job, now, among=None):
    """Whether the job is surely within its limits, whichever nodes it gets, for as long as it takes from now on, beside
    all that run, all that are promised something before it ends, and all that claim something (or those `among` these): before a
    promised start it goes by its limit, before one that is only expected by its estimate."""
    every = [k for k in world.jobs.values() if k is not job and (among is None or k.name in among) and
             (k.holding or k.claim or (k.promise is not None and k.promise < now + (job.limit if k.firm else job.duration)))]
    for of, most, counts in rules(world, job):
        if not most:
            continue
        holdings = [k.holding or k.promised or k.claim for k in every if counts(k)]
        if None in holdings:
            return False
        cores = job.nodes() * (world.cores if job.takes_whole() else job.spec.get("cores", 1))
        for what, n in most.items():
            more = {"node": job.nodes(), "core": cores, "running": 1, "license:tool": job.tools()}.get(what, 0)
            if n != "unlimited" and sum(taken([h], what) for h in holdings) + more > n:
                return False
    return True


def calendars(world, jobs):
    """The limits over time that concern these jobs: each of a queue, or of a user in a queue, and of what."""
    every = set()
    for j in jobs:
        for of, most, counts in rules(world, j):
            every |= {(of, j.queue, j.user if of == "user" else "", what) for what in most}
    return every


def any_limit(world, job):
    return any(most for of, most, counts in rules(world, job))
