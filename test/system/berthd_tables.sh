#!/bin/sh
# "You type there, you type here": each command that README and the page about Slurm have in the column of Berth's, and in that of
# Slurm's, is typed and succeeds. GPUs of a type are in berthd_gpus.
. "$BERTH_SOURCE/test/daemon.sh"
command -v script >/dev/null || skip "no script, which makes a terminal"
mkdir "$scratch/bin" "$scratch/work"
for name in berth sacct salloc sbatch scancel scontrol sinfo squeue srun; do
    ln -s "$BERTH" "$scratch/bin/$name"
done
PATH=$scratch/bin:$PATH
SHELL=/bin/sh
export PATH SHELL
cd "$scratch/work" || exit 1
mkdir -p "$BERTH_DIR"
cat >"$BERTH_DIR/berth.yaml" <<'END'
resources: {nodes: 1, cores: 16, memory: 16, gpus: 2}
licenses: {matlab: 2}
END
printf 'all:\n\ttrue\n' >Makefile
printf '1\n2\n' >f
for name in job.sh work ps prog x; do
    printf '#!/bin/sh\necho %s\n' $name >$name
    chmod +x $name
done
cat >jobs.yaml <<'END'
jobs:
  one: {command: "true"}
  two: {after: one, command: "true"}
END

# Print each command of a column of the table behind a head; what is no whole command is an option of one that submits.
cat >"$scratch/cells.py" <<'END'
import re, sys
page, head, column, submit, verbs = sys.argv[1:]
inside = False
for line in open(page):
    if not line.startswith("|"):
        inside = False
    elif head in line and not inside:
        inside, at = True, [c.strip() for c in line.split("|")].index(column)
    elif inside and not line.startswith("|---"):
        for text in re.findall(r"`([^`]*)`", line.split("|")[at]):
            if text.startswith("-"):
                text = f"{submit} {text} job.sh"
            if text.split()[0] in verbs.split():
                print(text)
END
pending() { # [OPTION...]: a job that waits
    "$BERTH" submit --begin +1h "$@" true
}
ended=$("$BERTH" submit -o slurm-%j.out true)
expect_status 0 "$BERTH" wait "$ended"
node=$("$BERTH" nodes --json | sed -n 's/.*"name": *"\([^"]*\)".*/\1/p')

# type_all COLUMN: commands of standard input; 17 and 16 are jobs there, n a node
type_all() {
    typed=0
    while read -r line; do
        job=$ended
        case $line in
        *a100* | 'srun '*' : '*) continue ;; # the latter is roles here, as the page says
        *--at-once* | *ArrayTaskThrottle*) job=$(pending --array 1-3) ;;
        *cancel* | *hold* | *update*) job=$(pending) ;;
        esac
        command=$(echo "$line" | sed "s/\b17\b/$job/g; s/\b16\b/$ended/g; s/\([ =]\)n\b/\1$node/")
        if ! printf 'exit\n' | timeout 60 script -qec "$command" /dev/null >said 2>&1; then
            fail "$1: $line: $(tr -d '\r' <said)"
        fi
        typed=$((typed + 1))
        "$BERTH" resume "$node" >/dev/null 2>&1
    done <commands
}
cells() { # PAGE HEAD COLUMN SUBMIT VERBS LEAST
    python3 "$scratch/cells.py" "$BERTH_SOURCE/$1" "$2" "$3" "$4" "$5" >commands || fail "$1: no such table"
    type_all "$1, $3"
    [ "$typed" -ge "$6" ] || fail "$1, $3: only $typed commands"
}
slurms='sacct salloc sbatch scancel scontrol sinfo squeue srun'
cells README.md HyperQueue Berth "berth submit" berth 17
cells README.md HyperQueue Slurm sbatch "$slurms" 11
cells doc/slurm.md 'you type there' 'you type here' 'berth submit' berth 19
cells doc/slurm.md 'you type there' 'you type there' sbatch "$slurms" 16
finish
