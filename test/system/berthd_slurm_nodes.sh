#!/bin/sh
# Slurm's own sinfo beside ours, of the same three nodes with the same jobs on them: all that is printed is the same.
. "$BERTH_SOURCE/test/slurm.sh"
LAB_GPUS=2 slurm_up 3 4
mkdir ours "$BERTH_DIR"
for name in sbatch sinfo; do
    ln -s "$BERTH" "ours/$name"
done
theirs=$(dirname "$(command -v sinfo)")

# The lab's machine: n1 to n3, each with 4 cores, 2 GPUs, 4 GB and a property; and its partitions that have all of it.
/usr/bin/python3 - >"$BERTH_DIR/machine.json" <<'END'
import json

nodes, edges = [], []


def vertex(kind, name, number, path, rank, parent, **more):
    key = str(len(nodes))
    nodes.append({"id": key, "metadata": {"type": kind, "basename": kind, "name": name, "id": number, "rank": rank,
                                          "size": 1, "unit": "", "paths": {"containment": path}, **more}})
    if parent:
        edges.append({"source": parent, "target": key, "metadata": {"subsystem": "containment"}})
    return key


top = vertex("cluster", "cluster0", 0, "/cluster0", -1, None)
for n in range(3):
    path = f"/cluster0/n{n + 1}"
    node = vertex("node", f"n{n + 1}", n + 1, path, n, top, properties={"x86": ""})
    for kind, count in (("core", 4), ("gpu", 2)):
        for i in range(count):
            vertex(kind, f"{kind}{i}", i, f"{path}/{kind}{i}", n, node)
    vertex("memory", "memory0", 0, f"{path}/memory0", n, node, size=4, unit="GB")
print(json.dumps({"graph": {"nodes": nodes, "edges": edges}}))
END
cat >"$BERTH_DIR/berth.yaml" <<'END'
resources: {file: machine.json}
server: {imagined: yes}
default-queue: batch
queues:
  batch: {priority: 10}
  short: {limits: {job: {duration: 1m}}, priority: 10}
END

# One node full, one with a job, one that is drained.
for folder in "$theirs" "$scratch/ours"; do
    "$folder/sbatch" -w n1 -n 1 -o /dev/null --wrap 'sleep 1000' >/dev/null || fail "$folder/sbatch"
    "$folder/sbatch" -w n3 -n 4 -o /dev/null --wrap 'sleep 1000' >/dev/null || fail "$folder/sbatch"
done
scontrol update nodename=n2 state=drain reason='fan broken' || fail 'scontrol'
expect_status 0 "$BERTH" drain n2 'fan broken'
full() { # FOLDER
    [ "$("$1/sinfo" -h -p batch -t mix,alloc -o '%N %t' | tr '\n' ' ')" = 'n1 mix n3 alloc ' ]
}
await "Slurm's jobs" full "$theirs"
await 'our jobs' full "$scratch/ours"

# Slurm's controller may hear late of a node that is busy, which changes the state by which it sorts: ask both again then.
same() { # SINFO'S ARGUMENT...
    tries=0
    until
        "$theirs/sinfo" "$@" >theirs.out 2>&1
        "$scratch/ours/sinfo" "$@" >ours.out 2>&1
        cmp -s theirs.out ours.out
    do
        tries=$((tries + 1))
        [ "$tries" -lt 50 ] || fail "sinfo $*: $(diff theirs.out ours.out)"
        sleep 0.1
    done
}
all_are_the_same() {
    same -p batch
    same -p batch,short
    same -h -p batch,short -l
    same -N -p batch
    same -h -N -l -p batch
    same -s -p batch
    same -h -R -o '%E %N'
    same -p batch -o '%10P|%.10t|%T|%C|%c|%m|%G|%f|%b|%X|%Y|%Z|%z|%E|%d|%w|%g|%h|%s|%r|%A|%F|%a|%D|%l|%L|%N|%R|%S'
    same -h -p batch -o '%D'
    same -h -p batch -o '%C'
    same -h -p batch,short -o '%D'
    same -h -p batch -n n1,n3 -o '%N %t'
    # as Toil calls it, but for its -a, with which Slurm takes no -p
    same -p batch -o '%P %G %l %p %c %m' --noheader
    for state in mix drain drained draining down; do # to idle and alloc theirs counts some that are drained, too
        same -h -p batch -t "$state" -o '%N %t %D'
        same -h -p batch,short -t "$state"
    done
}
all_are_the_same

# The same where a node is drained while a job runs on it.
scontrol update nodename=n1 state=drain reason=busy || fail 'scontrol'
expect_status 0 "$BERTH" drain n1 busy
all_are_the_same

expect_status 1 ours/sinfo -t broken
expect_err "sinfo: error: --states has 'broken', expected idle, mix, alloc, drain, drained, draining or down"
finish
