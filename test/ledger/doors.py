"""Who is let in: by queues that take no jobs, and by limits of how many may be pending."""
import limits
from world import WAITING


def is_closed(world, queue):
    """Whether a queue takes no jobs, or its parent doesn't."""
    return bool(world.closed.get(world.lane(queue), {}).get("takes"))


def check_submission(ledger, spec):
    """A job that has just come is refused if its queue takes none, or if as many are pending as may be; an array counts as
    one of these. What is told of a refusal is told at the same instant, but to nobody who is cancelled at that, too."""
    w = ledger.world
    if spec["id"] in cancelled(ledger):
        return
    jobs = [w.jobs[name] for name in w.arrays[spec["id"]]]
    rejected = {d["job"]: d["reason"] for d in ledger.decided if d["decision"] == "reject"}
    refused = [j for j in jobs if j.name in rejected]
    if is_closed(w, spec["queue"]):
        ledger.law("closed", len(refused) == len(jobs), jobs[0], spec["queue"])
        return
    least, most = pending_beside(ledger, jobs[0], rejected)
    for n, counts in pending_limits(w, jobs[0]):
        is_over = sum(1 for k in least if counts(k)) + 1 > n
        ledger.law("pending", not is_over or len(refused) == len(jobs), jobs[0], "limit %d" % n)
    says = [rejected[j.name] for j in refused if " pending " in rejected[j.name]]
    may = any(sum(1 for k in most if counts(k)) + 1 > n for n, counts in pending_limits(w, jobs[0]))
    ledger.law("pending", not says or may, jobs[0], "%s" % says[:1])


def cancelled(ledger):
    """Jobs and arrays that are cancelled at this instant."""
    return {e["cancel"] for e in ledger.events[ledger.now] if "cancel" in e}


def pending_limits(world, job):
    """Each limit of pending jobs that concerns one: its amount, and who counts."""
    return [(most["pending"], counts) for of, most, counts in limits.rules(world, job)
            if most.get("pending", "unlimited") != "unlimited"]


def pending_beside(ledger, job, rejected):
    """Of others that wait, one of each array; and all that may count by themselves, as those do that were put back. Who was
    refused or is cancelled at this instant does not wait, though that is told only now."""
    w = ledger.world
    gone = cancelled(ledger)  # before the job has come, or after that
    every = [k for k in w.jobs.values() if (k.state == WAITING or k.array in gone) and k.array != job.array]
    surely = [k for k in every if k.name not in rejected and k.array not in gone]
    one_each = {k.array: k for k in surely}
    others = {k.array: k for k in every if not k.requeues}
    return one_each.values(), list(others.values()) + [k for k in every if k.requeues]


def check_move(ledger, event, were):
    """No job is moved into a queue that takes none."""
    w = ledger.world
    to = event["queue"]["value"]
    for j, was in were:
        ledger.law("closed", was == to or j.queue != to or not is_closed(w, to), j, to)
