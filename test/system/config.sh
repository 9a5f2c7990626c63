#!/bin/sh
# berth config: wrong command lines, files that are wrong or can't be read, machines, and what is shown.
. "$BERTH_SOURCE/test/lib.sh"
cd "$scratch" || exit 1

wrong() { # MESSAGE ARG...: one line on standard error, nothing on standard output, status 2
    message=$1
    shift
    expect_status 2 "$BERTH" config "$@"
    expect_line err "berth config: $message; see 'berth config --help'"
    [ -s out ] && fail "writes to standard output: berth config $*"
}
wrong 'no action given, expected check or show'
wrong "unknown action 'chek', expected check or show" chek a
wrong 'check takes one file, not 0' check
wrong 'show takes one file, not 2' show a b
wrong "the file's name is empty" check ''
wrong "unknown option '-x'" check -x
wrong "unknown option '--frob'" check --frob
wrong '--help takes no argument' --help=me
expect_status 0 "$BERTH" config check --help

# bad MESSAGE FILE: neither checked nor shown
bad() {
    for verb in check show; do
        expect_status 1 "$BERTH" config $verb "$2"
        expect_line err "$1"
        [ -s out ] && fail "config $verb writes of a file that is wrong"
    done
}
mkdir -p site/graphs
grug 4 8 >site/graphs/machine.graphml
cat >site/berth.yaml <<'YAML'
resources: {file: graphs/machine.graphml}
default-queue: batch
queues:
  batch: {policy: easy, limits: {job: {node: 2}}}
  short: {parent: batch, priority: 10}
blocks:
  - {name: maint, resources: "node[0-3]", start: 1h, duration: 10m, every: 1d}
YAML
sed 's/easy/eazy/' site/berth.yaml >bad.yaml
printf 'resources: [' >broken.yaml
bad 'bad.yaml:4:19: key "policy": expected fcfs, easy, hybrid, conservative or ageing, got "eazy"' bad.yaml
bad 'missing.yaml: No such file or directory' missing.yaml
bad '.: Is a directory' .
expect_status 1 "$BERTH" config check broken.yaml
[ "$(wc -l <err)" -eq 1 ] || fail 'broken YAML is not told in one line'
head -c 20000000 /dev/zero | tr '\0' '#' >large.yaml
bad 'large.yaml: File too large' large.yaml

# The machine's file is sought from the configuration's folder, wherever that is.
expect_status 0 "$BERTH" config check site/berth.yaml
expect_line out 'site/berth.yaml: 2 queues, 1 block; 4 nodes, 32 cores'
expect_status 0 sh -c "cd site && '$BERTH' config check berth.yaml"
expect_line out 'berth.yaml: 2 queues, 1 block; 4 nodes, 32 cores'
sed "s|graphs|$scratch/site/graphs|" site/berth.yaml >absolute.yaml
expect_status 0 "$BERTH" config check absolute.yaml
expect_line out 'absolute.yaml: 2 queues, 1 block; 4 nodes, 32 cores'

# unfit MESSAGE SED: a configuration that is right, but not for its machine
unfit() {
    sed "$2" site/berth.yaml >site/unfit.yaml
    expect_status 0 "$BERTH" config show site/unfit.yaml
    expect_status 1 "$BERTH" config check site/unfit.yaml
    expect_line err "site/unfit.yaml: $1"
    [ -s out ] && fail "config check writes of what does not fit"
}
# A simulation says in which file, too.
unfit_in_sim() { # MESSAGE SED
    unfit "$@"
    expect_status 1 "$BERTH" sim --config site/unfit.yaml none.swf
    expect_line err "berth sim: site/unfit.yaml: $1"
}
unfit 'site/none.graphml: No such file or directory' 's|graphs/machine|none|'
unfit_in_sim 'queue "batch": limits: key "nodes": expected a type of resources that the machine has, such as core' \
    's/{node: 2}/{nodes: 2}/'
unfit_in_sim 'account "physics": limits: key "cores": expected a type of resources that the machine has, such as core' \
    '$a accounts: {physics: {users: [ann], limits: {cores: 2}}}'
unfit_in_sim 'shares: key "resources": expected types of resources that the machine has, such as core, got "cores"' \
    '$a shares: {resources: [cores]}'
unfit 'block "maint": key "resources": expected resources of the machine, got "node4"' 's/\[0-3/[0-9/'
unfit 'block "maint": key "resources": expected resources of the machine, got "/c0/node9"' \
    's|node\[0-3|/c0/node[3,9|'
unfit 'block "maint": key "resources": expected resources of the machine, got "node4"' \
    's/\[0-3/[0-99999999999/'
unfit 'site/graphs/machine.graphml: matcher "PA": the graph has no subsystem "power"' \
    '$a match: {subsystems: PA}'
printf 'resources: {file: graphs/machine.graphml, format: jgf}' >site/jgf.yaml
expect_status 1 "$BERTH" config check site/jgf.yaml
grep -q '^site/jgf.yaml: site/graphs/machine.graphml: ' err || fail "$(cat err)"

# So does a simulation, which would go by no such limit.
sed 's/{node: 2}/{nodes: 2}/' site/berth.yaml >site/unfit.yaml
echo '{"at": 0, "submit": {"id": "a", "cores": 1, "duration": 5}}' >one.jsonl
expect_status 1 "$BERTH" sim --config site/unfit.yaml --scenario one.jsonl
grep -q 'key "nodes": expected a type' err || fail "$(cat err)"
# GPUs and memory may be limited where there are none.
echo 'resources: {nodes: 1}
queues: {batch: {limits: {user: {gpu: 2, memory: 5, gpu-memory: 5}}}}' >memory.yaml
expect_status 0 "$BERTH" config check memory.yaml

# Machines that are in no file.
echo 'resources: {nodes: 3, cores: 2, gpus: 1, memory: 4}' >nodes.yaml
expect_status 0 "$BERTH" config check nodes.yaml
expect_line out 'nodes.yaml: 1 queue; 3 nodes, 6 cores, 3 gpus'
echo 'resources: {nodes: 1}' >one.yaml
expect_status 0 "$BERTH" config check one.yaml
expect_line out 'one.yaml: 1 queue; 1 node, 1 core'

# What is shown says the same, the machine aside is all there, and has a depth as it is used.
expect_status 0 "$BERTH" config show site/berth.yaml
cp out site/shown.yaml
expect_status 0 "$BERTH" config check site/shown.yaml
expect_line out 'site/shown.yaml: 2 queues, 1 block; 4 nodes, 32 cores'
expect_status 0 "$BERTH" config show site/shown.yaml
cmp -s out site/shown.yaml || fail 'what is shown is shown otherwise'
printf '%s\n' 'resources: local' 'queues:' \
    '  q: {policy: hybrid, reservation-depth: 70, max-reservation-depth: 60}' >depth.yaml
expect_status 0 "$BERTH" config show depth.yaml
grep -qx '    reservation-depth: 60' out || fail 'a depth over its bound is not shown as the bound'

# The tiers of kube-batch's own configuration, and binpack and sla: what orders, in this order.
cat >tiers.yaml <<'END'
resources: {nodes: 2}
queues:
  batch:
    shares:
      by: user
      order:
      - plugins: [{name: priority}, {name: gang}, {name: conformance}]
      - plugins: [{name: drf}, {name: predicates}, {name: proportion}, {name: nodeorder}, {name: binpack}, {name: sla}]
END
expect_status 0 "$BERTH" config show tiers.yaml
grep -qx '      order: \[priority, gang, drf, share, deadline\]' out || fail "tiers of kube-batch: $(grep order: out)"
# With its switches: drf orders nothing, and who may be stopped is not said here.
sed -i 's/{name: gang}/{name: gang, enablePreemptable: false, enableJobOrder: true}/; s/{name: drf}/{name: drf, enableJobOrder: false, arguments: {}}/' tiers.yaml
expect_status 0 "$BERTH" config show tiers.yaml
grep -qx '      order: \[priority, gang, share, deadline\]' out || fail "switches of plugins: $(grep order: out)"
sed -i 's/enableJobOrder: true/enableJobOrder: false/' tiers.yaml
expect_status 0 "$BERTH" config show tiers.yaml
grep -qx '      order: \[priority, share, deadline\]' out || fail "gang is not to order: $(grep order: out)"

# As JSON: the counts; and a configuration, which is read as the same.
cat >json.yaml <<'END'
resources: {nodes: 2, cores: 4, gpus: 1}
default-duration: 90s
queues:
  "it's": {policy: easy, limits: {user: {core: 4, running: unlimited}}}
  b: {parent: "it's"}
blocks:
- {name: night, resources: node0, start: 1.5, duration: 10}
END
expect_status 0 "$BERTH" config check --json json.yaml
expect_line out '{"queues":2,"blocks":1,"nodes":2,"cores":8,"gpus":2}'
expect_status 0 "$BERTH" config show json.yaml
cp out shown.yaml
expect_status 0 "$BERTH" config --json show json.yaml
/usr/bin/python3 -c 'import json, sys
c = json.load(open(sys.argv[1]))
assert c["resources"]["gpus"] == 1 and c["default-limit"] == "unlimited", c
assert c["blocks"][0]["start"] == 1.5, c
assert c["queues"]["it\x27s"]["limits"]["user"]["running"] == "unlimited", c' out || fail "JSON: $(cat out)"
cp out shown.json
expect_status 0 "$BERTH" config show shown.json
cmp -s out shown.yaml || fail "read again: $(diff out shown.yaml)"
expect_status 2 "$BERTH" config show --jsn json.yaml
expect_status 1 "$BERTH" config check --json nothere.yaml
[ -s out ] && fail "an object of nothing: $(cat out)"

# The example of the manual is one.
sed -n '/^\.Bd -literal -compact$/,/^\.Ed$/p' "$BERTH_SOURCE/man/berth-config.5" | sed '/^\./d' >site/manual.yaml
[ -s site/manual.yaml ] || fail 'the manual has no example'
cp site/graphs/machine.graphml site/cluster.graphml
expect_status 0 "$BERTH" config check site/manual.yaml
[ -s err ] && fail "$(cat err)"

# On a PU that lacks one of its sets hwloc 2.9 crashes; another one may read it, or refuse it. Whoever reads it goes on.
crash=$BERTH_SOURCE/test/system/no_complete_cpuset.xml
echo "resources: {file: $crash}" >crash.yaml
for verb in 'config check crash.yaml' "query -f hwloc -L $crash"; do
    # shellcheck disable=SC2086  # a verb and its arguments
    "$BERTH" $verb >out 2>err </dev/null
    status=$?
    [ $status -le 1 ] || fail "berth $verb: status $status"
    [ "$(wc -l <err)" -eq $status ] || fail "berth $verb: status $status with: $(cat err)"
    [ $status -eq 0 ] || grep -q "no_complete_cpuset.xml: hwloc" err || fail "berth $verb: $(cat err)"
done
# Switches are yes and no, and as YAML has them.
cd "$scratch" || exit 1
for is in yes true no false; do
    cat >switch.$is <<END
resources: {nodes: 2, cores: 4}
queues: {q: {policy: easy, preemptible: $is, keeps-gangs: $is}}
server: {imagined: $is}
END
    expect_status 0 "$BERTH" config show "switch.$is"
    cp out "shown.$is"
done
cmp -s shown.yes shown.true || fail "true is not yes: $(diff shown.yes shown.true)"
cmp -s shown.no shown.false || fail "false is not no: $(diff shown.no shown.false)"
cmp -s shown.yes shown.no && fail "yes is no"

finish
