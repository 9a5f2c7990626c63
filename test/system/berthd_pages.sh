#!/bin/sh
# The commands of the tutorial and of the page for administrators do what the pages show.
. "$BERTH_SOURCE/test/daemon.sh"
mkdir "$scratch/bin"
ln -s "$BERTH" "$scratch/bin/berth"
PATH=$scratch/bin:$PATH
export PATH
base=$BERTH_DIR

# In a page, "    $ COMMAND" is run, with the lines up to END where it has "<<'END'"; what follows is its output, or "..." for any.
cat >"$scratch/play.py" <<'END'
import re, subprocess, sys
lines = [l.rstrip("\n") for l in open(sys.argv[1])]
at = commands = wrong = 0
while at < len(lines):
    if not lines[at].startswith("    $ "):
        at += 1
        continue
    command = lines[at][6:]
    at += 1
    if "<<'END'" in command:
        while True:
            command += "\n" + lines[at][4:]
            at += 1
            if lines[at - 1] == "    END":
                break
    expected = []
    while at < len(lines) and lines[at].startswith("    ") and not re.match("    [$#] ", lines[at]):
        expected.append(lines[at][4:])
        at += 1
    ran = subprocess.run(["sh", "-c", command], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    commands += 1
    if ran.returncode != 0:
        print(f"FAIL: {command}: status {ran.returncode}: {ran.stderr}")
        wrong += 1
    elif expected != ["..."] and ran.stdout.splitlines() != expected:
        print(f"FAIL: {command}: expected {expected}, got {ran.stdout.splitlines()} {ran.stderr}")
        wrong += 1
print(f"{sys.argv[1]}: {commands} commands")
sys.exit(wrong > 0 or commands < 10)
END

play() { # PAGE
    mkdir "$scratch/$1" "$scratch/$1/work"
    BERTH_DIR=$scratch/$1/berth
    export BERTH_DIR
    [ "$1" = tutorial ] && machine 4
    if [ "$1" = administration ]; then
        mkdir "$BERTH_DIR"
        sed -n '/^```yaml/,/^```/p' "$BERTH_SOURCE/doc/$1.md" | sed '/^```/d' >"$BERTH_DIR/berth.yaml"
    fi
    (cd "$scratch/$1/work" && timeout 300 python3 "$scratch/play.py" "$BERTH_SOURCE/doc/$1.md") || fail "doc/$1.md"
    "$BERTH" server stop >/dev/null 2>&1
}
play tutorial
play administration
BERTH_DIR=$base

# The log is rotated as the page says, where logrotate is.
PATH=$PATH:/usr/sbin:/sbin
if command -v logrotate >/dev/null; then
    BERTH_DIR=$scratch/rotated
    sed -n '/^\/var\/lib\/berth\/berthd.log {/,/^}/p' "$BERTH_SOURCE/doc/administration.md" | sed "s|/var/lib/berth|$BERTH_DIR|" >"$scratch/rotate"
    expect_status 0 "$BERTH" server start
    expect_status 0 logrotate -f -s "$scratch/rotate.state" "$scratch/rotate"
    await 'a new log' test -s "$BERTH_DIR/berthd.log"
    grep -q ' started, ' "$BERTH_DIR/berthd.log.1" || fail 'the old log is not there'
    expect_status 0 "$BERTH" server stop
    BERTH_DIR=$base
fi
finish
