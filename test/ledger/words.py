"""The words that a user reads, read back: names with ranges, resources and decisions."""
import functools
import re


def ids(text):
    """The numbers of 3 or [0-2,7]."""
    numbers = []
    for part in text.strip("[]").split(","):
        low, _, high = part.partition("-")
        numbers.extend(range(int(low), int(high or low) + 1))
    return numbers


def entries(text):
    """The parts of a list with commas, of which those in brackets part nothing."""
    return re.findall(r"(?:\[[^\]]*\]|[^,\[])+", text)


TOOL = "tool"  # the name of the licences


def names(text):
    """The numbers of the nodes of node[0-2],node7; licences are beside them."""
    found = set()
    for entry in entries(text):
        if entry == TOOL:
            continue
        found.update(ids(re.fullmatch(r"node(\d+|\[.*\])", entry).group(1)))
    return found


class Holding:
    """What a job holds: for each node, its cores, its gpus and how much of its memory; and how many licences."""

    def __init__(self, text, machine):
        self.cores = {}
        self.gpus = {}
        self.memory = {}
        self.tools = 0
        self.text = text
        for entry in entries(text):
            name, _, units = entry.partition(":")
            if name == TOOL:
                self.tools += int(units or machine.tools)
                continue
            node, _, rest = entry.partition("/")
            for n in names(node):
                self.add(n, rest, machine)

    def add(self, n, rest, machine):
        cores = self.cores.setdefault(n, set())
        gpus = self.gpus.setdefault(n, set())
        self.memory.setdefault(n, 0)
        if not rest:
            cores.update(range(machine.cores))
            gpus.update(range(machine.gpus))
            self.memory[n] = machine.memory
            return
        what, some = re.fullmatch(r"(core|gpu|memory)(.*)", rest).groups()
        if what != "memory":
            (cores if what == "core" else gpus).update(ids(some))
        else:
            self.memory[n] += int(some.partition(":")[2] or machine.memory)

    def nodes(self):
        return set(self.cores)

    def units(self):
        return {(n, c) for n in self.cores for c in self.cores[n]}

    def things(self):
        """Cores and gpus, each of which is one job's at a time."""
        return self.units() | {(n, g, "gpu") for n in self.gpus for g in self.gpus[n]}

    def lose(self, nodes):
        for n in nodes:
            for each in (self.cores, self.gpus, self.memory):
                each.pop(n, None)


def members(name):
    """The jobs of a[0-2], else the one of that name."""
    array, _, numbers = name.partition("[")
    return ["%s[%d]" % (array, n) for n in ids(numbers[:-1])] if numbers else [name]


def decisions(lines):
    """One by one, also those about several members of an array, which are one line."""
    return [dict(d, job=name) for d in lines for name in members(d["job"])]
