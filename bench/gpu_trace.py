#!/usr/bin/env python3
"""A trace of a GPU cluster as a scenario, and what was decided as numbers (doc/gpu-traces.md).

usage: gpu_trace.py philly TRACE.csv.gz HOW          a scenario: jobs of several nodes are gangs
       gpu_trace.py picture                          a picture of a table that is read, SVG
       gpu_trace.py sum GPUS TITLE SCENARIO DECISIONS  a row of a table

HOW is a list of words, with commas between: "array" (members start one by one), "wide" (one member that spans nodes),
"unknown" (nobody knows when jobs end), "exact" (limits are run times).
"""
import csv
import gzip
import heapq
import json
import sys

HOUR = 3600
LIMITS = [HOUR * n for n in (1, 4, 12, 24, 72, 168, 336, 720, 1440, 2880, 5760)]
NODE_GPUS = 8  # of Philly's larger nodes


def rows(path):
    with gzip.open(path, "rt") as text:
        yield from csv.DictReader(text)


def times(run, how):
    """What a job says of its end: users of batch systems round up."""
    if "unknown" in how:
        return {"limit": "unlimited", "estimate": "unknown", "runtime": run}
    return {"limit": run if "exact" in how else next(n for n in LIMITS if n >= run), "runtime": run}


def put(at, submit):
    print(json.dumps({"at": at, "submit": submit}))


def philly(path, how):
    for number, row in enumerate(rows(path)):
        gpus, run = int(row["gpus"]), int(float(row["run_s"]))
        nodes, each = -(-gpus // NODE_GPUS), min(gpus, NODE_GPUS)
        if run < 1:
            continue
        job = {"id": "j%d" % number, "queue": "several" if nodes > 1 else "one", "nodes": 1,
               "cores": each, "gpus": each, **times(run, how)}
        if "wide" in how:
            job["nodes"] = nodes
        elif nodes > 1:
            job["array" if "array" in how else "gang"] = nodes
        put(int(float(row["submit_s"])), job)


def gpus_of(submit):
    """GPUs of a member, and how many members there are."""
    members = submit.get("gang") or submit.get("array") or 1
    return submit["gpus"] * submit["nodes"], members


def fair(demand, total):
    """Equal parts of `total` for who asks for them; who asks for less gets that."""
    got, left = {}, total
    for n, (queue, asked) in enumerate(sorted(demand.items(), key=lambda item: item[1])):
        got[queue] = min(asked, left / (len(demand) - n))
        left -= got[queue]
    return got


def summarise(total, title, scenario, decisions):
    jobs, events = {}, []
    for line in open(scenario):
        event = json.loads(line)
        if "submit" in event:
            each, members = gpus_of(event["submit"])
            jobs[event["submit"]["id"]] = {"at": event["at"], "each": each, "n": members, "queue": event["submit"]["queue"],
                                           "run": event["submit"]["runtime"], "started": {}, "running": 0}
            heapq.heappush(events, (event["at"], 0, event["submit"]["id"], "submit"))
    runs, stops, lost, held, end = {}, 0, 0.0, 0.0, 0
    for number, line in enumerate(open(decisions)):
        if line.startswith("#"):
            continue
        d = json.loads(line)
        name, _, index = d["job"].partition("[")
        job = jobs.get(name)
        if not job or d["decision"] not in ("start", "end", "preempt"):
            continue
        if d["decision"] == "start":
            job["started"][index] = d["at"]
            runs[d["job"]] = d["at"]
            job["running"] += 1
            if job["running"] == job["n"] and "first" not in job:
                job["first"] = d["at"]
                held += sum(d["at"] - at for at in job["started"].values()) * job["each"]
            heapq.heappush(events, (d["at"], number + 1, name, "start"))
        elif d["decision"] == "preempt":
            stops += 1
            if d["job"] in runs:
                lost += (d["at"] - runs.pop(d["job"])) * job["each"]
                job["running"] -= 1
                heapq.heappush(events, (d["at"], number + 1, name, "again" if d["then"] == "requeue" else "end"))
        elif d["job"] in runs:
            runs.pop(d["job"])
            job["running"] -= 1
            end = max(end, d["at"])
            heapq.heappush(events, (d["at"], number + 1, name, "end"))
    waits = {queue: [] for queue in sorted({job["queue"] for job in jobs.values()})}
    never = sum("first" not in job for job in jobs.values())
    for job in jobs.values():
        if "first" in job:
            waits[job["queue"]].append(job["first"] - job["at"])
    # The share error: what queues have against equal parts, while they ask for any.
    asked, has = dict.fromkeys(waits, 0.0), dict.fromkeys(waits, 0.0)
    now, error, spent, used = 0, 0.0, 0.0, 0.0
    while events:
        at, _, name, what = heapq.heappop(events)
        job = jobs[name]
        if at > now and sum(asked.values()) > 0:
            deserved = fair(asked, total)
            error += (at - now) * sum(abs(has[q] - deserved[q]) for q in asked) / 2 / total
            spent += at - now
        used += (at - now) * sum(has.values())
        now = at
        each, queue = job["each"], job["queue"]
        if what == "submit":
            asked[queue] += each * job["n"]
        elif what == "start":
            has[queue] += each
        else:
            has[queue] -= each
            asked[queue] -= each if what == "end" else 0
    everyone = sorted(w for of in waits.values() for w in of)
    print("| %s | %s | %.1f | %.1f | %s | %.1f | %.1f | %d | %d | %d |" % (
        title, " | ".join("%.1f" % (sum(of) / max(1, len(of)) / HOUR) for of in waits.values()),
        everyone[int(len(everyone) * 0.95)] / HOUR, everyone[-1] / HOUR, never if never else "0",
        100 * error / max(1, spent), 100 * used / total / max(1, end), held / HOUR, stops, lost / HOUR))


def picture():
    """Bars: the mean waits of a table's rows."""
    table = [line.strip("| \n").split(" | ") for line in sys.stdin if line.startswith("|") and " | " in line][1:]
    longest = max(float(cell) for row in table for cell in row[1:3])
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="720" height="%d" font-family="sans-serif" font-size="12">' %
           (44 * len(table) + 40), '<rect width="100%" height="100%" fill="white"/>',
           '<text x="10" y="20">Mean wait in hours: <tspan fill="#4878a8">jobs of one node</tspan>, '
           '<tspan fill="#c06030">of several</tspan></text>']
    for n, row in enumerate(table):
        y = 44 * n + 36
        out.append('<text x="10" y="%d">%s</text>' % (y + 18, row[0]))
        for k, colour in ((1, "#4878a8"), (2, "#c06030")):
            width = 380 * float(row[k]) / longest
            out.append('<rect x="260" y="%d" width="%.1f" height="12" fill="%s"/><text x="%.1f" y="%d">%s</text>' %
                       (y + 15 * (k - 1), width, colour, 264 + width, y + 15 * (k - 1) + 11, row[k]))
    print("\n".join(out + ["</svg>"]))


def main():
    what = sys.argv[1]
    if what == "picture":
        picture()
    elif what == "sum":
        summarise(float(sys.argv[2]), *sys.argv[3:6])
    else:
        philly(sys.argv[2], sys.argv[3].split(","))


if __name__ == "__main__":
    main()
