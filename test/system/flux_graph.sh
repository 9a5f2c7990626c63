#!/bin/sh
# The graph in R's `scheduling`: it is the machine, also of a recording; where it can't be used, one line of the log says so, what R_lite says is
# the machine, and the instance has its scheduler.
. "$BERTH_SOURCE/test/flux.sh"

printf '[resource]\nnoverify = true\n' >"$scratch/conf/config.toml"
instance 2 <<'END'
plain=$(flux R encode -r0-1 -c0-1 -H 'n[0-1]')
said() { flux dmesg | grep 'sched-berth.*\(err\|crit\|warning\)'; }

# loaded JSON: the module is loaded anew with this as R's scheduling
loaded() {
    check "unload" flux module remove -f sched-berth
    flux dmesg -C
    echo "$plain" | jq -c ".scheduling = $1" >"$scratch/R"
    flux kvs put resource.R="$(cat "$scratch/R")"
    check "resource" flux module reload resource
    check "load" flux module load sched-berth
    until_true "scheduling $1: it is the scheduler" sh -c 'flux module list | grep -q "^sched-berth .*sched"'
}

# all_run WHAT: jobs get the 4 cores of both ranks, and no fifth
all_run() {
    check "$1: 4 jobs run" flux run -N2 -n4 true
    id=$(flux submit -n5 true)
    ended "$id"
    reason "$id" | grep -q '^alloc denied: unsatisfiable: asks for 5 cores, the machine has 4$' || fail "$1: refused: $(reason "$id")"
}

# vertex NUMBER TYPE ID RANK PATH
vertex() {
    printf '{"id": "%s", "metadata": {"type": "%s", "id": %s, "rank": %s, "name": "%s", "paths": {"containment": "%s"}}}' \
        "$1" "$2" "$3" "$4" "${5##*/}" "$5"
}
edge() { printf '{"source": "%s", "target": "%s", "metadata": {"subsystem": "containment"}}' "$1" "$2"; }
one="$(vertex 0 cluster 0 -1 /c0), $(vertex 1 rack 0 -1 /c0/rack0), $(vertex 2 node 0 0 /c0/rack0/n0), $(vertex 3 core 0 0 /c0/rack0/n0/core0), $(vertex 4 core 1 0 /c0/rack0/n0/core1)"
edges="$(edge 0 1), $(edge 1 2), $(edge 2 3), $(edge 2 4)"
two="$one, $(vertex 5 node 1 1 /c0/rack0/n1), $(vertex 6 core 0 1 /c0/rack0/n1/core0), $(vertex 7 core 1 1 /c0/rack0/n1/core1)"
all="$edges, $(edge 1 5), $(edge 5 6), $(edge 5 7)"

# a graph that is one: R_lite knows of no racks
loaded "{\"graph\": {\"nodes\": [$two], \"edges\": [$all]}}"
said && fail "the log complains of a good graph"
all_run "a good graph"
mkdir "$scratch/record"
check "a recording" flux module reload sched-berth record="$scratch/record"
rack=$(flux run --dry-run -n1 true | jq -c '.resources = [{type: "rack", count: 1, with: .resources}]' | flux job submit)
ended "$rack"
expect "$rack" status COMPLETED

# none of these: no object, no graph, a wrong graph, and one that lacks a rank
while read -r words <&3; do
    loaded "$words"
    [ "$(said | wc -l)" -eq 1 ] || fail "scheduling $words: the log: $(said)"
    said | grep -q 'resources: .*: only what R_lite says is used$' || fail "scheduling $words: the log: $(said)"
    all_run "scheduling $words"
done 3<<WRONG
"nonsense"
7
{}
{"graph": 1}
{"graph": {"nodes": [$(vertex 0 core 0 0 /c0)], "edges": [1]}}
{"graph": {"nodes": [$one], "edges": [$edges]}}
WRONG

# and what another scheduler has written there for itself is no matter of this one
loaded '{"writer": "other", "graph": [1, 2]}'
said && fail "the log complains of what is another scheduler's"
all_run "another writer"
# a job that runs is taken up again where the graph of the machine can't be used any more
job=$(flux submit -n3 -t 10m sleep inf)
started "$job"
loaded '"nonsense"'
expect "$job" state RUN
[ "$(flux module stats sched-berth | jq .queues.default.running)" = 1 ] || fail "the running job is lost: $(flux module stats sched-berth)"
flux cancel "$job"
ended "$job"
flux dmesg -C
END
cd "$scratch/record" || exit 1
expect_status 0 "$BERTH" sim --scenario events --config config --decisions played
for made in decisions played; do
    [ "$(grep -c '"decision": "start"' "$made")" -eq 1 ] || fail "the job in a rack is not in $made: $(cat "$made")"
done
finish
