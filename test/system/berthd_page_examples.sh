#!/bin/sh
# The examples of the helps and of the manual pages of commands run as they are printed. What a machine of tests lacks is listed in
# examples_of_pages.py, with the reason.
. "$BERTH_SOURCE/test/daemon.sh"
mkdir "$scratch/bin"
ln -s "$BERTH" "$scratch/bin/berth"
ln -s "$BERTHD" "$scratch/bin/berthd"
for name in sbatch squeue sacct; do
    ln -s "$BERTH" "$scratch/bin/$name"
done
PATH=$scratch/bin:$PATH
VERBS=$(verbs | tr '\n' ' ')
export PATH VERBS
command -v jq >/dev/null || skip 'no jq, which examples use'

# What examples name: files, and a server with jobs up to 28, of which 17 is what the verb is for.
cat >"$scratch/prepare" <<'PREPARE'
set -e
cat >site.yaml <<END
resources: {nodes: 4, cores: 16, gpus: 2, memory: 64}
server: {imagined: yes}
queues:
  batch: {policy: easy}
  night: {policy: easy}
default-queue: batch
END
mkdir -p "$BERTH_DIR"
cp site.yaml "$BERTH_DIR/berth.yaml"
case $1 in
drain | resume)
    echo 'resources: local' >"$BERTH_DIR/berth.yaml" ;;
classes)
    sed -i 's/batch: .*/batch: {shares: {by: class, classes: {percent: {a: 50, b: 50}}}}/' "$BERTH_DIR/berth.yaml" ;;
shares)
    cat >>"$BERTH_DIR/berth.yaml" <<END
accounts: {physics: {users: [ann, $(id -un)]}}
END
    sed -i 's/batch: .*/batch: {shares: {by: account, order: [usage]}}/; /night/d' "$BERTH_DIR/berth.yaml"
    ;;
server) rm "$BERTH_DIR/berth.yaml" ;;
esac
[ "$1" = server ] || berth server start >/dev/null
[ "$1" != resume ] || berth drain "$(hostname)" old disk
case $3 in
*'block remove disks') berth block add disks node0 --start +1h --duration 1h >/dev/null ;;
esac

for name in fit one work part; do
    printf '#!/bin/sh\n#BERTH -t 1m\necho $BERTH_JOB_ID\n' >$name.sh
    chmod +x $name.sh
done
echo 1 >data.csv
echo 'ERROR: 1' >a.log
printf 'all test report:\n\ttrue\n' >Makefile
cat >job.json <<END
{"version": 9999, "resources": [{"type": "slot", "label": "task", "count": 1, "with": [{"type": "core", "count": 1}]}],
 "tasks": [{"command": ["true"], "slot": "task", "count": {"per_slot": 1}}], "attributes": {"system": {"duration": 60}}}
END
case $2 in
berth-jobspec.1)
    cat >job.yaml <<END
version: 9999
resources:
  - type: slot
    count: four
    label: task
    with: [{type: core, count: 1}]
tasks: [{command: ["true"], slot: task, count: {per_slot: 1}}]
attributes: {system: {duration: 60}}
END
    ;;
*) cp job.json job.yaml ;;
esac
cat >berth.yaml <<END
resources: {nodes: 10, cores: 32}
queues: {batch: {}, night: {}}
default-queue: batch
blocks: [{name: disks, resources: node0, start: 0, duration: 1h}]
END
printf 'resources: {nodes: 1}\nqueues:\n  a: {}\n  b: {}\n  c: {}\n  d: {}\n  e: {}\n  f: {}\n  g: {}\n  h: {}\n  i:\n    policy: eazy\n' >bad.yaml
echo "$GRUG" >machine.graphml
cp machine.graphml cluster.graphml
{
    echo '; MaxProcs: 8'
    for i in 1 2 3 4 5 6 7 8 9; do
        echo "$i $((i * 10)) 5 60 1 -1 -1 1 90 -1 1 1 1 -1 1 -1 -1 -1"
    done
} | gzip >KTH-SP2-1996-2.swf.gz
cp KTH-SP2-1996-2.swf.gz log.swf.gz
echo '{"at": 0, "submit": {"id": "a", "nodes": 4, "limit": 60}}' >monday.jsonl

submit() { # HOW-MANY OPTION... COMMAND
    n=$1
    shift
    while [ "$n" -gt 0 ]; do
        berth submit -o /dev/null "$@" >/dev/null
        n=$((n - 1))
    done
}
case $1 in
cancel | signal | requeue)
    submit 16 --begin +1h true
    submit 1 --array 0-3 -t 1h sleep 1000
    submit 11 --begin +1h true
    until berth jobs --no-header -s running 2>/dev/null | grep -q 17; do sleep 0.05; done
    ;;
hold | update | explain)
    submit 27 --begin +1h -t 1h true
    submit 1 --array 0-9 --begin +1h true
    ;;
release)
    submit 27 --hold true
    submit 1 --array 0-9 --hold true
    ;;
resubmit)
    submit 16 --hold true
    submit 1 --array 0-1 sh -c 'if mkdir tried; then exit 1; fi' # the first one fails, and not again
    berth wait 17 >/dev/null || true
    ;;
log | show | wait | submit | slurm)
    submit 16 --hold true
    berth submit echo done >/dev/null
    submit 11 true
    berth wait 17-28 >/dev/null
    ;;
history | report | jobs)
    submit 2 false
    berth run true
    berth wait 1 2 >/dev/null || true
    ;;
esac
PREPARE
GRUG=$(grug 2 4)
export GRUG
python3 -B "$BERTH_SOURCE/test/system/examples_of_pages.py" "$scratch" "$scratch/prepare" || fail 'examples'
finish
