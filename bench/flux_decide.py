"""What bench/flux.sh measures in an instance of Flux.

usage: flux python flux_decide.py rate JOBS | decide JOBS NODES

rate: submits JOBS of `true` and prints jobs a second.
decide: submits JOBS of mixed shapes while the queue is stopped, starts it, and prints the seconds to the last decision, the
jobs that run, those that are promised a time, the median and longest seconds from an end to the next start, and the
memory of the scheduler in MiB.
"""

import os
import random
import subprocess
import sys
import time

import flux
import flux.job

QUIET = 5  # seconds without a decision in which the scheduler computes nothing, after which there are no more
IDLE = 0.2  # seconds of processor time that may pass in these
ENDS = 10  # jobs that are ended one after the other


class Journal:
    """Events of jobs, as they come: (time, job, name, context)."""

    def __init__(self):
        self.flux = flux.Flux()
        self.rpc = self.flux.rpc(
            "job-manager.events-journal", {"full": False}, flags=flux.constants.FLUX_RPC_STREAMING
        )
        self.events = []
        self.rpc.then(self.take)

    def take(self, rpc):
        answer = rpc.get()
        for event in answer["events"]:
            self.events.append(
                (event["timestamp"], answer["id"], event["name"], event.get("context", {}))
            )
        rpc.reset()

    def wait(self, seconds):
        """Take events for so long."""
        timer = self.flux.timer_watcher_create(seconds, lambda h, w, r, a: h.reactor_stop())
        timer.start()
        self.flux.reactor_run()
        timer.stop()

    def wait_quiet(self, names, longest=3600):
        """Until none of these names has come for a while, in which the scheduler rests. Returns when the last one came."""
        began = time.time()
        while time.time() < began + longest:
            count, used = self.count(names), processor_time()
            self.wait(QUIET)
            if self.count(names) == count and processor_time() < used + IDLE:
                break
        return max((e[0] for e in self.events if e[2] in names), default=began)

    def count(self, names):
        return sum(e[2] in names for e in self.events)


def shape(rng, nodes):
    """Most jobs have whole nodes, a power of two of them; others some cores."""
    if rng.random() < 0.3:
        return {"num_tasks": rng.randint(1, 64)}
    n = min(2 ** rng.randint(0, 11), nodes)
    return {"num_nodes": n, "num_tasks": n, "cores_per_task": 32}


def submit(h, count, nodes):
    """One after the other, so that each scheduler has them in the same order."""
    rng = random.Random(1)
    for _ in range(count):
        spec = flux.job.JobspecV1.from_command(["true"], **shape(rng, nodes))
        spec.duration = rng.randint(600, 86400)
        spec.setattr("system.exec.test.run_duration", "100000s")
        flux.job.submit(h, spec)


def next_starts(h, journal):
    """The largest job is ended, and then the next one: from each word of what is free to the next start."""
    waits = []
    for _ in range(ENDS):
        running = flux.job.JobList(h, filters=["running"], max_entries=0).jobs()
        if not running:
            break
        job = max(running, key=lambda j: j.ncores)
        before = len(journal.events)
        flux.job.cancel(h, job.id)
        journal.wait_quiet(["alloc", "annotations"], 60)
        freed = [e[0] for e in journal.events[before:] if e[1] == job.id and e[2] == "free"]
        started = [e[0] for e in journal.events[before:] if e[2] == "alloc" and freed and e[0] >= freed[0]]
        if started:
            waits.append(started[0] - freed[0])
    return sorted(waits) or [float("nan")]


def processes():
    """Those of modules of schedulers."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                words = f.read().split(b"\0")
            with open(f"/proc/{pid}/environ", "rb") as f:
                is_ours = os.environ["FLUX_URI"].encode() in f.read()
            if is_ours and any(b"sched-" in word for word in words) and b"module-" in b" ".join(words):
                yield f"/proc/{pid}"
        except OSError:
            pass


def processor_time():
    """Of all of them together, in seconds."""
    ticks = 0
    for process in processes():
        with open(process + "/stat") as f:
            ticks += sum(map(int, f.read().rpartition(")")[2].split()[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def memory():
    """Of all of them together, in MiB."""
    total = 0
    for process in processes():
        with open(process + "/status") as f:
            total += sum(int(line.split()[1]) for line in f if line.startswith("VmRSS"))
    return total / 1024


def decide(count, nodes):
    h = flux.Flux()
    subprocess.run(["flux", "queue", "stop", "--all"], check=True, stdout=subprocess.DEVNULL)
    submit(h, count, nodes)
    journal = Journal()
    journal.wait(QUIET)
    began = time.time()
    subprocess.run(["flux", "queue", "start", "--all"], check=True, stdout=subprocess.DEVNULL)
    last = journal.wait_quiet(["alloc", "annotations"])
    started = journal.count(["alloc"])
    promised = {}
    for _, job, name, context in journal.events:
        if name == "annotations":
            sched = (context.get("annotations") or {}).get("sched") or {}
            promised[job] = sched.get("t_estimate", promised.get(job))
        elif name == "alloc":
            promised.pop(job, None)
    told = sum(t is not None for t in promised.values())
    used = memory()
    waits = next_starts(h, journal)
    print(f"{last - began:.2f} {started} {told} {waits[len(waits) // 2]:.4f} {waits[-1]:.4f} {used:.0f}")


def rate(count):
    began = time.time()
    subprocess.run(
        ["flux", "submit", "--quiet", "--wait", f"--cc=1-{count}", "true"], check=True, stdout=subprocess.DEVNULL
    )
    print(f"{count / (time.time() - began):.1f}")


if __name__ == "__main__":
    if sys.argv[1] == "rate":
        rate(int(sys.argv[2]))
    else:
        decide(int(sys.argv[2]), int(sys.argv[3]))
