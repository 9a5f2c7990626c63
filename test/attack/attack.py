#!/usr/bin/env python3
"""Runs the attacks, one after the other, and ends with a table of what was tried and what was lost.

An attack is a process of its own, in a directory of its own, which is kept if something was lost. All that it started is gone
when it ends, whatever ended it.
"""
import argparse
import json
import os
import pwd
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback

import clients
import common
import crash
import files
import stores
import users

SKIPPED = 77  # the exit status by which meson knows it
BRIEF_LIMIT = 300  # seconds that an attack of few rounds may take
SHOWN = 5  # losses of a kind that are printed
REST = 300  # seconds that an attack may take beyond its share, to wait and to verify


class Attack:
    def __init__(self, word, name, run, share, brief, user):
        """`word`: for --only; `share` of the time; `brief`: rounds where no time is given; `user`: whose server, root's or
        another's."""
        self.word, self.name, self.run, self.share, self.brief, self.user = word, name, run, share, brief, user


ATTACKS = [
    Attack("crash", "crash of one's server", crash.for_one, 4, 12, "other"),
    Attack("crash", "crash of all users' server", crash.for_all, 4, 12, "root"),
    Attack("users", "two users", users.attack, 3, 1, "root"),
    Attack("clients", "bad clients", clients.attack, 2, 1, "other"),
    Attack("stores", "damaged stores", stores.attack, 4, 10, "other"),
    Attack("files", "mutated files", files.attack, 3, 40, "other"),
]


def arguments():
    parser = argparse.ArgumentParser(description="Attacks Berth and says what was lost.")
    parser.add_argument("--build", default="build", help="the build directory")
    parser.add_argument("--minutes", type=float, help="how long all of it takes; without it a few rounds of each")
    parser.add_argument("--seed", type=int, default=None, help="repeats the moments of a run")
    parser.add_argument("--only", default="", help="some of crash, users, clients, stores, files, with commas between")
    return parser.parse_args()


# ---- One attack ----


def others_reach(build):
    """Whether the programs can be run, and these files be read, by users who are not root: not in root's home, say."""
    pid = os.fork()
    if pid == 0:
        reach = False
        try:
            common.become("nobody")
            reach = os.access(os.path.join(build, "berth"), os.X_OK) and os.access(common.HERE, os.R_OK | os.X_OK)
        finally:
            os._exit(not reach)
    return os.waitpid(pid, 0)[1] == 0


def drop_root(attack, directory, build):
    """Who attacks a server of one's own is no root; one of all users has jobs of others."""
    if os.getuid() != 0:
        if attack.user == "root":
            raise common.Skip("needs root")
        return
    if not others_reach(build):
        raise common.Skip(f"the user nobody can't reach {build}")
    if attack.user == "root":
        return
    entry = pwd.getpwnam("nobody")
    os.chown(directory, entry.pw_uid, entry.pw_gid)
    common.become("nobody")


def interrupted(*_):
    raise KeyboardInterrupt


def inside(attack, trial, build):
    """In the attack's process: what it found goes to the runner in its last line."""
    os.setsid()
    signal.signal(signal.SIGTERM, interrupted)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    common.become_reaper()
    end = {}
    try:
        drop_root(attack, trial.directory, build)
        attack.run(trial)
    except common.Skip as why:
        end["skipped"] = str(why)
    except KeyboardInterrupt:
        end["interrupted"] = True
    except Exception:
        trial.lost("the attack itself", traceback.format_exc())
    finally:
        common.kill_descendants()
        trial.look_for_reports()
        common.tell({"rows": trial.rows, "losses": len(trial.losses), "notes": trial.notes, **end})


def spawn(attack, trial, build):
    out, into = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.dup2(into, 3)
            os.closerange(4, 256)
            inside(attack, trial, build)
        finally:
            os._exit(0)
    os.close(into)
    return pid, out


def show(attack, heard, begin):
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns - 1
        line = (f"{attack.name}: {heard.get('progress', 0):4.0%}, round {heard.get('round', 0)}, "
                f"{time.monotonic() - begin:.0f} s, {heard.get('losses', 0)} lost")
        sys.stderr.write(f"\r\033[K{line[:width]}")
        sys.stderr.flush()


def clear():
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K")


def watch(attack, pid, out, limit):
    """What an attack found, which is given time until `limit`."""
    heard, begin, text = {}, time.monotonic(), b""
    while True:
        ready = select.select([out], [], [], 1)[0]
        data = os.read(out, 65536) if ready else b""
        if ready and not data:
            break
        *lines, text = (text + data).split(b"\n")
        for line in lines:
            found = json.loads(line)
            if "lost" in found:
                shown = heard.setdefault("shown", {})
                what = found.pop("lost")
                shown[what] = shown.get(what, 0) + 1
                if shown[what] <= SHOWN:
                    clear()
                    print(f"LOST: {attack.name}: {what}: {found['why'].strip()[:2000]}", flush=True)
            heard.update(found)
        show(attack, heard, begin)
        if time.monotonic() - begin > limit:
            heard["late"] = True
            os.kill(pid, signal.SIGTERM)
            limit += 30
    clear()
    os.close(out)
    os.waitpid(pid, 0)
    common.kill_descendants()
    return heard


def perform(attack, options, seed, seconds):
    """(rows, whether something was lost, the directory if it is kept)"""
    directory = tempfile.mkdtemp(prefix="berth-attack-")
    os.chmod(directory, 0o755)
    trial = common.Trial(attack.name, options.build, directory, seed, None if seconds else attack.brief, seconds)
    pid, out = spawn(attack, trial, options.build)
    try:
        heard = watch(attack, pid, out, (seconds or BRIEF_LIMIT) + REST)
    except KeyboardInterrupt:
        clear()
        os.kill(pid, signal.SIGTERM)
        os.waitpid(pid, 0)
        common.kill_descendants()
        if os.path.exists(trial.path("lost")):
            print(f"evidence of {attack.name}: {directory}")
        else:
            shutil.rmtree(directory, ignore_errors=True)
        raise
    if "rows" not in heard or "late" in heard:
        heard.setdefault("rows", {})["the attack itself"] = [1, 1]
    lost = any(row[1] for row in heard["rows"].values())
    if not lost:
        shutil.rmtree(directory, ignore_errors=True)
    return heard, lost, directory if lost else None


# ---- All of them ----


def table(found):
    rows = [("attack", "what", "tried", "lost")]
    for name, heard in found:
        if "skipped" in heard:
            rows.append((name, f"skipped: {heard['skipped']}", "", ""))
        for what, (tried, lost) in heard["rows"].items():
            rows.append((name, what, f"{tried:,}", f"{lost:,}"))
            name = ""
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    for row in rows:
        print(f"{row[0]:{widths[0]}}  {row[1]:{widths[1]}}  {row[2]:>{widths[2]}}  {row[3]:>{widths[3]}}".rstrip())


def main():
    options = arguments()
    options.build = os.path.abspath(options.build)
    words = {word for word in options.only.split(",") if word}
    unknown = words - {a.word for a in ATTACKS}
    if unknown:
        sys.exit(f"attack: there is no attack {sorted(unknown)[0]}")
    chosen = [a for a in ATTACKS if not words or a.word in words]
    seed = options.seed if options.seed is not None else int(time.time()) % 1000000
    print(f"seed {seed}", flush=True)
    common.become_reaper()
    shares = sum(a.share for a in chosen)
    found, kept = [], []
    try:
        for attack in chosen:
            seconds = options.minutes * 60 * attack.share / shares if options.minutes else None
            heard, lost, directory = perform(attack, options, seed, seconds)
            found.append((attack.name, heard))
            if lost:
                kept.append((attack.name, directory))
    except KeyboardInterrupt:
        print("interrupted")
        kept.append(("interrupted", None))
    if found:
        table(found)
    for name, heard in found:
        for note in heard.get("notes", []):
            print(f"{name}: {note}")
    for name, directory in kept:
        if directory:
            print(f"evidence of {name}: {directory}")
    if kept:
        sys.exit(1)
    sys.exit(SKIPPED if all("skipped" in heard for _, heard in found) else 0)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, interrupted)
    main()
