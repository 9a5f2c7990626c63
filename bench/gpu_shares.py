#!/usr/bin/env python3
"""A trace of tasks with parts of GPUs, as a machine and a scenario, and what was decided as numbers (doc/gpu-traces.md).

usage: gpu_shares.py machine NODES.csv.gz EVERY         the machine, JGF: one node of so many, in the order of the file
       gpu_shares.py scenario PODS.csv.gz LESS HOW      the tasks, all times of arrival divided by LESS
       gpu_shares.py sum GPUS TITLE SCENARIO DECISIONS  a row of a table
       gpu_shares.py gpus NODES.csv.gz EVERY            how many GPUs the machine has

A node's GPUs are seats, each with ten parts and as many of the node's cores as the others: a task takes some parts of one
seat, or all of several, with its cores. Memory is left out. HOW is "limits" (times are rounded up, as people do) or "whole" (the
same, and who asks for a part of a GPU gets all of it).
"""
import csv
import gzip
import heapq
import json
import sys

from gpu_trace import fair, times

HOUR = 3600
PARTS = 10


def rows(path):
    with gzip.open(path, "rt") as text:
        yield from csv.DictReader(text)


def nodes_of(path, every):
    return [row for number, row in enumerate(rows(path)) if number % every == 0]


def machine(path, every):
    nodes, edges = [], []

    def vertex(kind, number, parent, rank):
        name = "%s%d" % (kind, number)
        where = (parent[1] if parent else "") + "/" + name
        me = str(len(nodes))
        nodes.append({"id": me, "metadata": {"type": kind, "basename": kind, "name": name, "id": number, "size": 1,
                                             "rank": rank, "paths": {"containment": where}}})
        if parent:
            edges.append({"source": parent[0], "target": me, "metadata": {"subsystem": "containment"}})
        return me, where

    top = vertex("cluster", 0, None, -1)
    for rank, row in enumerate(nodes_of(path, every)):
        node, cores, gpus = vertex("node", rank, top, rank), int(row["cpu_milli"]) // 1000, int(row["gpu"])
        for core in range(cores if gpus == 0 else 0):
            vertex("core", core, node, rank)
        for gpu in range(gpus):
            seat = vertex("seat", gpu, node, rank)
            for part in range(PARTS):
                vertex("part", gpu * PARTS + part, seat, rank)
            for core in range(cores // gpus):
                vertex("core", gpu * (cores // gpus) + core, seat, rank)
    print(json.dumps({"graph": {"nodes": nodes, "edges": edges}}))


def jobspec(row, how):
    gpus, cores = int(row["num_gpu"]), max(1, -(-int(row["cpu_milli"]) // 1000))
    slot = {"type": "slot", "count": 1, "label": "task", "with": [{"type": "core", "count": cores}]}
    below = slot
    if gpus > 0:
        parts = PARTS if "whole" in how else -(-int(row["gpu_milli"]) * PARTS // 1000)
        slot["with"] = [{"type": "part", "count": parts}, {"type": "core", "count": -(-cores // gpus)}]
        below = {"type": "seat", "count": gpus, "with": [slot]}
    return {"version": 9999, "resources": [{"type": "node", "count": 1, "with": [below]}],
            "tasks": [{"command": ["app"], "slot": "task", "count": {"per_slot": 1}}],
            "attributes": {"system": {"duration": 0}}}


def scenario(path, less, how):
    order = sorted(rows(path), key=lambda row: float(row["creation_time"]))
    for row in order:
        run = max(1, int(float(row["deletion_time"]) - float(row["creation_time"])))
        queue = "best-effort" if row["qos"] == "BE" else "service"
        submit = {"id": row["name"], "queue": queue, "jobspec": jobspec(row, how), **times(run, how)}
        # What the task needs of its GPUs, for the sums: a scenario has no key for that.
        submit["name"] = "%d" % (int(row["num_gpu"]) * int(row["gpu_milli"] or 0))
        print(json.dumps({"at": int(float(row["creation_time"]) / less), "submit": submit}))


def summarise(total, title, events, decisions):
    jobs, waits = {}, {"best-effort": [], "service": []}
    heap, stops, lost = [], 0, 0.0
    for line in open(events):
        event = json.loads(line)
        s = event["submit"]
        jobs[s["id"]] = [event["at"], int(s["name"]) / 1000, s["queue"], None, False]
        heap.append((event["at"], 0, s["id"], "submit"))
    last = max(job[0] for job in jobs.values())
    for number, line in enumerate(open(decisions)):
        d = json.loads(line)
        job = jobs.get(d["job"])
        if not job or d["decision"] not in ("start", "end", "preempt"):
            continue
        if d["decision"] == "start":
            if not job[4]:
                waits[job[2]].append(d["at"] - job[0])
                job[4] = True
            job[3] = d["at"]
            heap.append((d["at"], number + 1, d["job"], "start"))
        elif job[3] is not None:
            if d["decision"] == "preempt":
                stops += 1
                lost += (d["at"] - job[3]) * job[1]
            again = d["decision"] == "preempt" and d["then"] == "requeue"
            heap.append((d["at"], number + 1, d["job"], "again" if again else "end"))
            job[3] = None
    heapq.heapify(heap)
    asked, has = dict.fromkeys(waits, 0.0), dict.fromkeys(waits, 0.0)
    now, error, used, most = 0, 0.0, 0.0, 0.0
    while heap and heap[0][0] <= last + HOUR:  # while tasks come, and an hour more
        at, _, name, what = heapq.heappop(heap)
        each, queue = jobs[name][1], jobs[name][2]
        if at > now:
            deserved = fair(asked, total)
            error += (at - now) * sum(abs(has[q] - deserved[q]) for q in asked) / 2 / total
            used += (at - now) * sum(has.values())
            most = max(most, sum(has.values()))
        now = at
        asked[queue] += each if what == "submit" else -each if what == "end" else 0
        has[queue] += each if what == "start" else 0 if what == "submit" else -each
    everyone = sorted(w for of in waits.values() for w in of)
    print("| %s | %.1f | %.1f | %.1f | %.1f | %d | %.1f | %.1f | %.1f | %d | %d |" % (
        title, *(sum(waits[q]) / max(1, len(waits[q])) / 60 for q in ("service", "best-effort")),
        everyone[int(len(everyone) * 0.95)] / 60, everyone[-1] / HOUR, len(jobs) - len(everyone),
        100 * error / now, 100 * used / total / now, 100 * most / total, stops, lost / HOUR))


def main():
    if sys.argv[1] == "machine":
        machine(sys.argv[2], int(sys.argv[3]))
    elif sys.argv[1] == "gpus":
        print(sum(int(row["gpu"]) for row in nodes_of(sys.argv[2], int(sys.argv[3]))))
    elif sys.argv[1] == "scenario":
        scenario(sys.argv[2], float(sys.argv[3]), sys.argv[4])
    else:
        summarise(int(sys.argv[2]), *sys.argv[3:6])


if __name__ == "__main__":
    main()
