"""The examples of `berth VERB --help` and of the manual pages of commands, one by one in a directory and with a server of their own.

usage: examples_of_pages.py SCRATCH PREPARE

PREPARE is a shell script that is told the verb, the page and the example and makes, in the directory in which it runs, what the examples of the verb name.
"""
import os
import re
import subprocess
import sys

# What a machine of tests lacks.
LEFT_OUT = {
    "berth top": "it wants a terminal, which berthd_top.sh has",
    "berth pilot add slurm": "no Slurm; berthd_slurm_pilots.sh has one",
    "berth pilot remove 1": "no Slurm; berthd_slurm_pilots.sh has one",
    "berth pilot auto slurm": "no Slurm; berthd_pilots_auto.sh has one",
    "berth run --pty": "it wants a terminal, which berthd_interactive.sh has",
    "berthd --config site.yaml": "it stays in the foreground; berth server start runs it in other tests",
    "berth shares set batch/physics/ann": "no other user; berthd_accounts.sh sets shares",
    "systemctl": "no systemd",
    "snakemake": "no Snakemake",
    "flux ": "no Flux; flux_command.sh has one",
}
# What stands for the program that a machine of tests may lack
STAND_INS = {"dot": "cat"}
# Examples of what is wrong
REFUSED = ("berth config check bad.yaml", "berth jobspec check job.yaml")


def plain(line):
    """A line of a page, as it is shown."""
    return line.replace("\\e", "\\").replace("\\(dq", '"').replace("\\-", "-").replace("\\&", "")


def of_help(text):
    """The lines of the example in a help, of which one may end with a backslash."""
    lines, on = [], False
    for line in text.splitlines():
        if line.startswith("Example: "):
            on, line = True, line[9:]
        elif on and not line.startswith(" "):
            break
        if on:
            lines.append(line.strip())
    return [("\n".join(lines), None)] if lines else []


def of_page(text):
    """Commands of a page, with what it shows of their output (None: nothing)."""
    found = []
    part = text.partition("\n.Sh EXAMPLES\n")[2].partition("\n.Sh ")[0]
    literal = output = False
    for line in part.split("\n"):
        if line.startswith(".Bd -literal"):
            literal, output = True, False
        elif line.startswith(".Ed"):
            literal = False
        elif line.startswith(".Dl $ "):
            found.append([plain(line[6:]), None])
        elif line.startswith(".Dl ") and found:
            found[-1][1] = (found[-1][1] or "") + plain(line[4:]) + "\n"
        elif literal and not line:
            output = True  # of an instant: it is not compared
        elif literal and not output:
            if found and found[-1][0].endswith("\\"):
                found[-1][0] += "\n" + plain(line)
            elif re.match(r"(berth|berthd|id=|grep|printf|echo|zcat|sbatch|squeue|sacct|snakemake|systemctl|flux)\b", line):
                found.append([plain(line), None])
    return found


def left_out(command):
    return next((why for start, why in LEFT_OUT.items() if command.startswith(start)), None)


class Player:
    def __init__(self, scratch, prepare):
        self.scratch, self.prepare, self.n, self.wrong = scratch, prepare, 0, 0

    def play(self, where, verb, command, shown):
        self.n += 1
        home = os.path.join(self.scratch, "played%d" % self.n)
        os.makedirs(home)
        environment = dict(os.environ, HOME=home, BERTH_DIR=os.path.join(self.scratch, "berth%d" % self.n))
        ready = subprocess.run(["sh", self.prepare, verb, where, command], cwd=home, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                               text=True, timeout=120)
        for name, instead in STAND_INS.items():
            command = re.sub(r"(^|&& |\| )%s (-\w+ )?" % name, r"\1%s " % instead, command)
        try:
            ran = subprocess.run(["sh", "-c", command], cwd=home, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                                 text=True, timeout=60)
            status, out, err = ran.returncode, ran.stdout, ran.stderr
        except subprocess.TimeoutExpired:
            status, out, err = "none after a minute", "", ""
        for end in (["cancel", "--all"], ["server", "stop"]):
            subprocess.run(["berth", *end], env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        expected = 1 if command in REFUSED and shown else 0
        if ready.returncode != 0:
            self.fail(where, command, "it could not be prepared: %s%s" % (ready.stdout, ready.stderr))
        elif status != expected:
            self.fail(where, command, "status %s, and it says: %s%s" % (status, out, err))
        elif shown is not None and out + err != shown:
            self.fail(where, command, "it says %r and not %r" % (out + err, shown))

    def fail(self, where, command, why):
        print("FAIL: %s: %s: %s" % (where, command, why))
        self.wrong += 1


def main():
    player = Player(sys.argv[1], sys.argv[2])
    pages = os.path.join(os.environ["BERTH_SOURCE"], "man")
    left = set()
    examples = []
    for verb in os.environ["VERBS"].split():
        text = subprocess.run(["berth", verb, "--help"], capture_output=True, text=True).stdout
        found = of_help(text)
        if not found:
            player.fail("berth %s --help" % verb, "", "it has no example")
        examples += [("berth %s --help" % verb, verb, *e) for e in found]
    for page in sorted(os.listdir(pages)):
        if re.search(r"\.[18]$", page):
            verb = page.rsplit(".", 1)[0].replace("berth-", "", 1)
            with open(os.path.join(pages, page)) as text:
                examples += [(page, verb, *e) for e in of_page(text.read())]
    for where, verb, command, shown in examples:
        if left_out(command):
            left.add(next(start for start in LEFT_OUT if command.startswith(start)))
        else:
            player.play(where, verb, command, shown)
    for start in LEFT_OUT.keys() - left:
        player.fail("LEFT_OUT", start, "no example begins so")
    print("%d examples played, %d wrong" % (player.n, player.wrong))
    sys.exit(player.wrong > 0 or player.n < 60)


main()
