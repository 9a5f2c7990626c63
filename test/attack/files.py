"""Mutates files that Berth reads, the project's own fixtures and a few sound ones, and hands them to its programs.

Whatever a file says, a program ends in time with status 0, 1 or 2, and says what is wrong in one line that shows no control
characters.
"""
import ctypes
import glob
import os
import resource
import shlex
import signal
import subprocess

from common import HERE, base_environment, is_sanitized, read

LIMIT = 10  # seconds of processor time; sanitizers take more
STUCK = 300  # seconds after which it does not end even if it takes none
MEMORY = 6 << 30
LARGEST = 1 << 20  # bytes of a mutated file
EACH_ROUND = 25
PROJECT = os.path.dirname(os.path.dirname(HERE))
SUSPECT = [b"0", b"-1", b"1", b"2", b"255", b"65536", b"2147483648", b"4294967295", b"9223372036854775807",
           b"18446744073709551616", b"1e308", b"-1e-9", b"nan", b"null", b"true", b"[]", b"{}", b'""', b"0x10", b"1:1"]

CONFIG = """resources: {nodes: 4, cores: 2}
default-queue: batch
users: {u1: [staff], u2: []}
queues:
  batch: {policy: easy, limits: {job: {node: 3}, user: {running: 10}}}
  deep: {policy: hybrid, reservation-depth: 3, queue-depth: 9}
  spare: {policy: fcfs, preemptible: requeue}
blocks:
- {name: m, resources: node2, start: 1d, duration: 4h, every: 7d}
trace: {queues: {1: batch, 2: spare}}
"""
TRACE = "; MaxProcs: 64\n" + "".join(f"{n} {n * 7} -1 {20 + n % 30} {1 + n % 4} -1 -1 {1 + n % 4} {60 + n} -1 1 {n % 3} 1 1 {1 + n % 2} 1 -1 -1\n"
                for n in range(1, 30))
JOBSPEC = """version: 9999
resources:
- {type: node, count: {min: 1, max: 2, operator: "+", operand: 1}, with: [{type: slot, label: s, count: 1, with: [
    {type: core, count: 1}]}]}
tasks: [{command: [app, "1"], slot: s, count: {per_slot: 1}}]
attributes: {system: {duration: 10.5, constraints: {or: [{properties: ["a", "^b"]}, {hostlist: ["n[0-2]"]}]}}}
"""
R = """{"version": 1, "execution": {"R_lite": [{"rank": "0-3", "children": {"core": "0-3", "gpu": "0"}}],
 "nodelist": ["n[0-3]"], "properties": {"fast": "0-1"}, "starttime": 0, "expiration": 0}}
"""
GRUG = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="root" for="node" attr.name="root" attr.type="int"><default>0</default></key>
<key id="type" for="node" attr.name="type" attr.type="string"/>
<key id="basename" for="node" attr.name="basename" attr.type="string"/>
<key id="size" for="node" attr.name="size" attr.type="long"><default>1</default></key>
<key id="multi_scale" for="edge" attr.name="multi_scale" attr.type="int"><default>1</default></key>
<graph id="machine" edgedefault="directed">
<node id="cluster"><data key="root">1</data><data key="type">cluster</data><data key="basename">c</data></node>
<node id="node"><data key="type">node</data><data key="basename">node</data></node>
<node id="core"><data key="type">core</data><data key="basename">core</data></node>
<edge id="nodes" source="cluster" target="node"><data key="multi_scale">4</data></edge>
<edge id="cores" source="node" target="core"><data key="multi_scale">8</data></edge>
</graph></graphml>
"""
COMMANDS = "m allocate job.yaml\nm allocate_orelse_reserve job.yaml\nfind status=up\ninfo 1\ncancel 1\nlist\nstat\nquit\n"


def hwloc_xml(path):
    """A machine as hwloc itself writes it; None where it can't."""
    try:
        hwloc = ctypes.CDLL("libhwloc.so.15")
    except OSError:
        return None
    topology = ctypes.c_void_p()
    hwloc.hwloc_topology_init(ctypes.byref(topology))
    hwloc.hwloc_topology_set_synthetic(topology, b"pack:2 numa:1 l3:1 core:4 pu:2")
    hwloc.hwloc_topology_load(topology)
    hwloc.hwloc_topology_export_xml(topology, path.encode(), ctypes.c_ulong(0))
    hwloc.hwloc_topology_destroy(topology)
    return read(path) or None


class Kind:
    """Files of one kind, and the command lines that read them: {} is the file, {name} a sound file of the trial's."""

    def __init__(self, name, sound, corpus, *commands, says=b""):
        """`says`: how an error begins, where other lines may come too; None: where errors of several commands may come."""
        self.name, self.commands, self.says = name, commands, says
        self.sound = [sound.encode() if isinstance(sound, str) else sound] if sound else []
        self.files = self.sound + [read(path) for pattern in corpus for path in sorted(glob.glob(os.path.join(PROJECT, "test", pattern)))]


def kinds(trial):
    sound = {"job.yaml": JOBSPEC, "trace.swf": TRACE, "config.yaml": CONFIG, "machine.graphml": GRUG, "commands": COMMANDS}
    for name, text in sound.items():
        write(trial.path(name), text.encode())
    scenarios = os.path.join(PROJECT, "test", "scenario")
    several = "{scenarios}/combined/config.yaml"
    subprocess.run([os.path.join(trial.build, "berth"), "sim", "--config", f"{scenarios}/combined/config.yaml", "--scenario",
                    f"{scenarios}/combined/events.jsonl", "--save", trial.path("saved")],
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    query = "query -L {file} -f %s -F rv1 <commands"
    found = [
        Kind("configurations", CONFIG, ["fuzz/corpus/config/*", "scenario/*/*.yaml"], "config check {file}",
             "config show {file}", "sim --config {file} trace.swf"),
        Kind("traces", TRACE, ["fuzz/corpus/swf/*"], "sim --procs 64 {file}", "sim --policy conservative --jobs jobs.csv {file}",
             "sim --config config.yaml {file}"),
        Kind("scenarios", None, ["scenario/*/events.jsonl", "fuzz/corpus/scenario/*"],
             f"sim --config {several} --scenario {{file}} --decisions decided",
             says=b"berth sim: "),  # before it may stand what was expected and did not come
        Kind("states", read(trial.path("saved")), ["fuzz/corpus/state/*"], f"sim --config {several} --load {{file}} --json",
             says=b"berth sim: "),  # before it may stand the jobs that can't be restored
        Kind("jobspecs", JOBSPEC, ["fuzz/corpus/jobspec/*", "scenario/jobspec/*.yaml"], "jobspec check {file}"),
        Kind("machines in GRUG", GRUG, ["fuzz/corpus/grug/*"], query % "grug", "sim --machine {file}:grug trace.swf", says=None),
        Kind("machines in JGF", None, ["fuzz/corpus/jgf/*"], query % "jgf", says=None),
        Kind("machines in R", R, ["fuzz/corpus/rv1/*"], query % "rv1exec", says=None),
        Kind("commands of a query", COMMANDS, ["fuzz/corpus/query_commands/*"],
             "query -L machine.graphml -f grug <{file}", says=None),
    ]
    xml = hwloc_xml(trial.path("machine.xml"))
    if xml:
        found.append(Kind("machines in hwloc's XML", xml, [], query % "hwloc", says=None))
    return [kind for kind in found if kind.files]


# ---- Mutations ----


def is_digit(byte):
    return 48 <= byte < 58


def number(random, data):
    """One that stands there becomes one that is wrong somewhere."""
    at = random.randrange(len(data))
    while at < len(data) and not is_digit(data[at]):
        at += 1
    end = at
    while end < len(data) and is_digit(data[end]):
        end += 1
    return data[:at] + random.choice(SUSPECT) + data[end:]


def flip(random, data):
    at = random.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << random.randrange(8)]) + data[at + 1:]


def piece(random, data):
    """Two places, mostly near to each other."""
    a = random.randrange(len(data))
    return a, min(len(data), a + random.choice((1, 4, 16, 64, 1000)))


def drop(random, data):
    a, b = piece(random, data)
    return data[:a] + data[b:]


def repeat(random, data):
    a, b = piece(random, data)
    return data[:b] + data[a:b] * random.choice((1, 1, 2, 50)) + data[b:]


def move(random, data):
    a, b = piece(random, data)
    at = random.randrange(len(data))
    return data[:at] + data[a:b] + data[at:]


def insert(random, data):
    at = random.randrange(len(data))
    new = random.choice((random.randbytes(4), b"\0", b"\n", b"\x1b[2J", b"\xff\xfe", b'"', b"{", b"]", b"<", b"&", b": ", b"- ",
                         b"," * 100, b"[" * 200))
    return data[:at] + new + data[at:]


def line(random, data):
    """Lines change places."""
    lines = data.split(b"\n")
    a, b = random.randrange(len(lines)), random.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a] if random.random() < 0.7 else lines[b]
    return b"\n".join(lines)


def cut(random, data):
    return data[:random.randrange(len(data))]


def mutate(random, files):
    data = random.choice(files)
    for _ in range(random.choice((1, 1, 2, 3, 6))):
        if data and random.random() < 0.9:
            data = random.choice((number, number, flip, drop, repeat, move, insert, line, cut))(random, data)
        else:
            other = random.choice(files)
            data = data[:len(data) // 2] + other[len(other) // 2:]
        data = data[:LARGEST]
    return data


# ---- Programs ----


def bound(sanitized):
    limit = LIMIT * (3 if sanitized else 1)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 20, 64 << 20))
    if not sanitized:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def what_is_wrong(status, said, says):
    """With what a program came back, in words; None if all is as it should be."""
    if status in (None, -signal.SIGXCPU, -signal.SIGKILL):
        return "it does not end"
    if status not in (0, 1, 2):
        return f"status {status}: {said[-200:]}"
    if any(byte < 32 and byte != 10 for byte in said):
        return f"a control character in {said[:200]}"
    if says is None or status == 0:
        return None
    lines = said.split(b"\n")
    errors = sum(line_.startswith(says) for line_ in lines[:-1])
    if lines[-1] or errors > 1 or len(lines) < 2 or (errors == 0 and not says):
        return f"status {status}, and not one line of error: {said[:300]}"
    return None


def perform(trial, command, path, sanitized):
    line_, _, from_ = command.format(file=path, scenarios=os.path.join(PROJECT, "test", "scenario")).partition(" <")
    with open(trial.path(from_) if from_ else os.devnull, "rb") as given:
        try:
            ended = subprocess.run([os.path.join(trial.build, "berth"), *shlex.split(line_)], stdin=given,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=STUCK, check=False,
                                   cwd=trial.directory, env=base_environment(trial.directory),
                                   preexec_fn=lambda: bound(sanitized))
        except subprocess.TimeoutExpired:
            return None, b""
    return ended.returncode, ended.stderr


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def check_sound(trial, kind, sanitized):
    """What is mutated is read first as it is, or little would be reached."""
    for data in kind.sound:
        for command in kind.commands:
            write(trial.path("input"), data)
            status, said = perform(trial, command, trial.path("input"), sanitized)
            trial.count("sound files")
            if status != 0:
                trial.lost("sound files", f"{kind.name}: berth {command}: status {status}: {said[:300]}")


def attack(trial):
    all_kinds = kinds(trial)
    sanitized = is_sanitized(os.path.join(trial.build, "berth"))
    for kind in all_kinds:
        check_sound(trial, kind, sanitized)
    for _ in trial.rounds():
        kind = all_kinds[trial.round % len(all_kinds)]
        for n in range(EACH_ROUND):
            path = trial.path("input")
            write(path, mutate(trial.random, kind.files))
            command = trial.random.choice(kind.commands)
            trial.count(kind.name)
            why = what_is_wrong(*perform(trial, command, path, sanitized), kind.says)
            if why:
                kept = trial.path(f"input{trial.round}.{n}")
                os.rename(path, kept)
                trial.lost(kind.name, f"berth {command.replace('{file}', kept)}: {why}")
