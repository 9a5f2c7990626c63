#!/usr/bin/env python3
"""Calls every operation of doc/openapi.json with a client that is made of it.

usage: tour.py OPENAPI SOCKET

The server has four cores, a queue "batch", which is the default, and one "shared" with classes; jobs that run until they are
ended keep it busy.
"""
import sys
import time

from client import Client, Refused

TIRED = 60  # seconds

berth = Client(sys.argv[1], sys.argv[2])
wrong = []


def expect(what, expected, got):
    if expected != got:
        wrong.append(f"{what}: expected {expected!r}, got {got!r}")


def refused(what, status, key, call):
    try:
        call()
        wrong.append(f"{what} is not refused")
    except Refused as why:
        expect(what, (status, key), (why.status, why.key))


def await_state(job, state, attempts=1):
    for _ in range(TIRED * 20):
        told = berth.get_jobs_job(job=str(job))
        if (told["state"], told["attempts"]) == (state, attempts):
            return
        time.sleep(0.05)
    wrong.append(f"job {job} is not {state}: {told}")


def submit(**job):
    return berth.post_jobs(body={"command": ["sleep", "1000"], "limit": "1h", **job})["id"]


def ids(**which):
    return [job["id"] for job in berth.get_jobs(**which)["jobs"]]


def jobs():
    running = submit(cores=4, name="first", labels={"a": "b"})
    await_state(running, "running")
    expect("the last job", running, berth.get_jobs_last()["id"])
    waiting, array = berth.post_jobs(body=[{"command": ["true"]}, {"command": ["true"], "array": 3, "hold": True}])["ids"]
    expect("jobs", [running, waiting], ids(ids=f"{running},{waiting}"))
    expect("running", [running], ids(state="running"))
    expect("labels", [running], ids(label="a=b"))
    expect("when it would start", False, berth.post_jobs(body={"command": ["true"], "test_only": True})["now"])
    expect("why", "resources", (berth.get_jobs_job_explain(job=str(waiting))["reason"] or "").split()[0])
    expect("an array", {"held": "0-2"}, berth.get_jobs_job(job=str(array))["ranges"])
    expect("kinds of events", "submitted", berth.get_jobs_job_events(job=str(waiting))["events"][0]["kind"])
    if "event: submitted" not in berth.get_events(since="0", job=str(waiting)):
        wrong.append("the stream of events")
    refused("a job without a command", 400, "command", lambda: berth.post_jobs(body={"cores": 1}))
    refused("a job that is not there", 404, None, lambda: berth.get_jobs_job(job="999"))

    berth.patch_jobs_job(job=str(waiting), body={"priority": 7, "limit": "2h"})
    job = berth.get_jobs_job(job=str(waiting))
    expect("a change", (7, 7200), (job["priority"], job["limit"]))
    expect("updates", 1, berth.post_jobs_update(body={"jobs": [waiting], "priority": 8})["done"])
    expect("holds", 1, berth.post_jobs_hold(body={"jobs": {"state": "pending"}})["done"])
    expect("held", "held", berth.get_jobs_job(job=str(waiting))["state"])
    expect("releases", 1, berth.post_jobs_release(body={"jobs": [str(waiting)]})["done"])
    many = berth.post_jobs_requeue(body={"jobs": [waiting, 999]})
    expect("what is refused", [(waiting, 409), (999, 404)], [(r["id"], r["status"]) for r in many["refused"]])
    berth.post_jobs_job_requeue(job=str(running))
    await_state(running, "running", 2)
    expect("signals", 1, berth.post_jobs_signal(body={"jobs": [running], "signal": "CONT"})["done"])
    berth.post_jobs_job_signal(job=str(running), body={"signal": "TERM"})
    await_state(running, "failed", 2)
    await_state(waiting, "done")
    berth.delete_jobs_job(job=str(array))
    expect("what is gone", 0, berth.post_jobs_cancel(body={"jobs": {"name": "first"}})["done"])


def queues():
    berth.patch_queues_name(name="batch", body={"started": False})
    told = {queue["name"]: queue for queue in berth.get_queues()["queues"]}
    expect("a queue that is stopped", (True, False), (told["batch"]["enabled"], told["batch"]["started"]))
    berth.patch_queues_name(name="batch", body={"started": True})
    expect("shares", "machine", berth.get_shares()["shares"][0]["kind"])
    berth.patch_shares(body={"queue": "shared", "usage": 12.5})
    expect("usage", [12.5], [round(s["usage"], 1) for s in berth.get_shares()["shares"] if s["name"] == "shared"])
    expect("classes", ["land", "other"], [c["class"] for c in berth.get_classes()["classes"]])
    berth.patch_classes_name(name="shared", body={"rebalance_threshold": 20})
    expect("a threshold", 20, berth.get_classes_name(name="shared")["rebalance_threshold"])
    berth.delete_classes_name(name="shared")


def machine():
    node = berth.get_nodes()["nodes"][0]["name"]
    berth.patch_resources(body={"resources": node, "status": "drained", "reason": "new kernel"})
    expect("what is drained", ["new kernel"], [c["reason"] for c in berth.get_resources()["changed"]])
    berth.patch_resources(body={"resources": node, "status": "up"})
    start = int(berth.get_server()["now"]) + 100000
    berth.post_blocks(body={"name": "disks", "resources": node, "start": start, "duration": "4h", "for": {"users": ["root"]}})
    expect("blocks", [(start, 14400)], [(b["start"], b["duration"]) for b in berth.get_blocks()["blocks"]])
    berth.delete_blocks_name(name="disks")
    pilot = str(berth.post_pilots(body={"kind": "slurm", "nodes": 2})["pilot"])
    berth.patch_pilots_name(name=pilot, body={"drain": True, "slurm": "PENDING"})
    expect("pilots", [("ending", "PENDING")], [(p["state"], p["slurm"]) for p in berth.get_pilots()["pilots"]])
    berth.delete_pilots_name(name=pilot, lost="1")
    expect("no rule", None, berth.get_pilots_auto()["rule"])
    told = berth.post_pilots_auto(body={"kind": "slurm", "max_nodes": 2, "dry_run": True})
    expect("a rule that is tried", 2, told["rule"]["max_nodes"])
    expect("still no rule", None, berth.get_pilots_auto()["rule"])
    berth.post_pilots_auto(body={"kind": "slurm", "max_nodes": 2, "time": "1h"})
    expect("a rule", (2, 3600), tuple(berth.get_pilots_auto()["rule"][key] for key in ("max_nodes", "time")))
    berth.patch_pilots_auto(body={"refused": "no partition"})
    berth.delete_pilots_auto()
    if "# EOF" not in berth.get_metrics():
        wrong.append("numbers for Prometheus")


jobs()
queues()
machine()
berth.post_server_reload()
berth.post_server_stop()
expect("operations that were not called", set(), set(berth.operations) - berth.called)
print("\n".join(wrong))
sys.exit(bool(wrong))
