#!/bin/sh
# Gangs of several roles: --role, what members know of theirs, what is told of each, and a server that is killed.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
machine 4

# Wrong command lines say what is expected, and submit nothing.
wrong() { # TEXT ARG...
    text=$1
    shift
    expect_status 2 "$BERTH" submit "$@"
    expect_err "berth submit: $text; see 'berth submit --help'"
}
wrong "--role is 'a:0': the number behind ':': expected a whole number from 1 to 1000000" --role a:0 true
wrong "--role is 'a,cpus=2': 'cpus': expected min, nodes, tasks, cores, gpus, gpu_type, gpu_memory, memory, requires, exclusive or run" --role a,cpus=2 true
wrong "--role is ':2': expected a role such as server or worker:8,min=6,cores=2" --role :2 true
wrong "--role is 'a,memory=much': memory: expected a size such as 512M or 4G" --role a,memory=much true
wrong "--role is 'a:2,min=3': min: expected at most the role's 2 members" --role a:2,min=3 true
wrong "--role is 'b,min=2': min: expected at most the role's 1 member" --role a:2 --role b,min=2 true
wrong "--role: expected two members or more, of which one starts" --role a true
wrong "--role: expected two members or more, of which one starts" --role a:2,min=0 true
wrong "--role: expected at most 1000000 members in all, got 1000001" --role a:1000000 --role b true
wrong "--role takes no --gang: each role says that itself" --role a:2 --gang 2 true
wrong "--role takes no --cores-per-task: each role says that itself" -c 2 --role a:2 true
wrong "no command given, expected a command or a script" --role a:2,run=true --role b
wrong "each --role has a run, expected no other command, got './x'" --role a:2,run=true --role b,run=false ./x
printf '#!/bin/sh\n#SBATCH -n 1\n#SBATCH hetjob\n#SBATCH -n 4\n' >het.sh
wrong "./het.sh: line 3: 'hetjob' is not an option of a job; for parts that differ, --role NAME:N,cores=C each" ./het.sh
"$BERTH" server start || fail "server start"
expect "nothing is there" "" "$("$BERTH" jobs -a --no-header)"

# A role has its own command, or runs the job's. Members know their role, and how many there are of each.
cat >told.sh <<'EOS2'
echo "$BERTH_ROLE $BERTH_ROLE_RANK of $BERTH_ROLE_COUNT, $BERTH_MEMBER_RANK of $BERTH_MEMBER_COUNT in $BERTH_ROLES, with $BERTH_CORES: $*"
EOS2
expect_status 0 "$BERTH" run --role 'chief,cores=2,run=sh told.sh lead, then go' --role hand:2 sh told.sh work
expect "what members are told" '0: chief 0 of 1, 0 of 3 in chief:1,hand:2, with 2: lead, then go|1: hand 0 of 2, 1 of 3 in chief:1,hand:2, with 1: work|2: hand 1 of 2, 2 of 3 in chief:1,hand:2, with 1: work|' \
    "$(sort out | tr '\n' '|')"

# It starts whole, and tells of each role what it lacks.
busy=$("$BERTH" submit -c 1 -t unlimited --estimate unknown sleep 1000)
await_state "$busy" running
gang=$("$BERTH" submit --role server,cores=2 --role worker:4,min=2 --failure go-on --name crew sh -c '
    echo x >>"ran.$BERTH_ARRAY_INDEX"; until [ -e "end.$BERTH_ARRAY_INDEX" ]; do sleep 0.02; done; exit $(cat "end.$BERTH_ARRAY_INDEX")')
lacks() {
    "$BERTH" jobs --no-header "$gang" | grep -qF 'too few fit: worker 1 of 2'
}
await "the gang to say what it lacks" lacks
expect "explained" "It is a gang, of which 3 start together (server 1, worker 2); there is room for 2 of 3 (server 1 of 1, worker 1 of 2): it is not ready." \
    "$("$BERTH" explain "$gang" | tr '\n' ' ' | grep -o 'It is a gang.*ready\.')"
expect "for programs" 'not ready 1 2' "$("$BERTH" explain --json "$gang" | python3 -c '
import json, sys
gang = json.load(sys.stdin)["gang"]
print(gang["readiness"], gang["roles"][0]["allocated"], gang["roles"][1]["min"])')"
ls ran.* 2>/dev/null && fail "some of it run"
expect_status 0 "$BERTH" cancel "$busy"
held_by() {
    "$BERTH" explain "$gang" | grep -q "^ *$gang\[0\]  *[a-z]"
}
line() {
    "$BERTH" jobs -a --no-header "$gang" | sed 's/  */ /g'
}
is_line() {
    line | grep -qF " $1 "
}
await "three to run" is_line '2 pending, 3 running'
held_by || fail "who holds what the next worker waits for: $("$BERTH" explain "$gang")"
expect "shown" "role server: $gang[0], min 1, 1 node, 2 cores; 1 running|role worker: $gang[1-4], min 2, 1 node, 1 core each; 2 pending, 2 running|" \
    "$("$BERTH" show "$gang" | sed -n 's/^role  *//p' | sed 's/^/role /' | tr '\n' '|')"
expect "a member's role" '"worker" "server"' "$(get "$gang[3]" role) $(get "$gang[0]" role)"

# The server is killed between two starts. A worker succeeds while nobody looks, and the next one takes its place.
crash
echo 0 >end.1
"$BERTH" server start || fail "server start"
await "the next worker to run" ls ran.3
crash
"$BERTH" server start || fail "server start"
expect "which run" '1 pending, 3 running, 1 done' "$(line | grep -o '1 pending, .* done')"
# Two workers succeed, and two fail: with the server that is a success.
for i in 0 2; do
    echo 0 >"end.$i"
done
for i in 3 4; do
    echo 7 >"end.$i"
done
expect_status 0 "$BERTH" wait "$gang"
expect "its state" '"done" 0' "$(get "$gang" state) $(get "$gang" exit)"
expect "what one of its first role asked for" '1 2' "$(get "$gang" nodes) $(get "$gang" cores)"
for i in 0 1 2 3 4; do
    expect "starts of $i" x "$(cat "ran.$i")"
done

# Three workers are as many as all mins together, and no success without the server.
rm -f end.*
status=0
"$BERTH" run --role server --role worker:3,min=2 --failure go-on sh -c '
    [ "$BERTH_ROLE" = worker ] && { touch "worker.$BERTH_ROLE_RANK"; exit 0; }
    until [ -e worker.0 ] && [ -e worker.1 ] && [ -e worker.2 ]; do sleep 0.02; done; exit 5' || status=$?
expect "the status of one without its server" 5 "$status"

# What was asked for can be asked for again.
id=$("$BERTH" submit --role 'a:1,cores=2,run=exit 3' --role b:2,min=0,exclusive --hold true)
expect "the request" '[{"role": "a", "count": 1, "cores": 2, "command": ["/bin/sh", "-c", "exit 3"]}, {"role": "b", "count": 2, "min": 0, "exclusive": true}]' \
    "$("$BERTH" show --json "$id" | python3 -c 'import json, sys; print(json.dumps(json.load(sys.stdin)["request"]["roles"]))')"
finish
