#!/bin/sh
# What users ask in an instance: why a job waits, queues, and when a job would start, by `flux berth`.
. "$BERTH_SOURCE/test/flux.sh"

machine 2 4 <<'END'
[sched-berth]
match = {policy = "low"}
[sched-berth.queues.default]
policy = "easy"
limits = {user = {core = 100}}
END
instance 2 <<'END'
# says PATTERN VERB...: one line of the answer is this
says() {
    pattern=$1
    shift
    flux berth "$@" >"$scratch/said" 2>&1
    grep -Eq "$pattern" "$scratch/said" || fail "$*: no '$pattern' in: $(cat "$scratch/said")"
}
in_time='[0-9hms ]*'

# 8 cores: a has 6 of them for 30 minutes, b is promised the rest of them at its end
a=$(flux submit -n6 -t 30m sleep inf)
started "$a"
b=$(flux submit -n8 -t 10m true)
promised "$b"
says "^It waits for cores that 1 other job holds\. It has a reservation and will start in $in_time at the latest\. It would start now with 2 cores\.\$" explain "$b"
says "^ *$(flux job id --to=f58 "$a") +[^ ]+ +[0-9-]+ [0-9:]+ +n\[0-1\]/core\[0-2\]\$" explain "$b"
says "^It has been running for $in_time, and is expected to end in $in_time\.\$" explain "$a"
[ "$(flux berth explain --json "$b" | jq -r '.state, .reason, (.holders | length), .would_start_now.cores')" = "pending
resources core
1
2" ] || fail "explain --json: $(flux berth explain --json "$b")"
says '^QUEUE +POLICY +PRIORITY +ESTIMATE +PENDING +RUNNING +STATE +LIMITS$' queues
says '^default +easy +0 +1:00:00 +1 +1 +open +user core=100$' queues
flux queue stop >/dev/null
says '^default +easy +0 +1:00:00 +0 +1 +stopped +user core=100$' queues
flux queue start >/dev/null
promised "$b"
says '^The configuration has no shares' shares

# what would be: two cores are free for half an hour, then b has all for ten minutes
try() { flux submit --dry-run "$@" true; }
[ "$(try -n2 -t 20m | flux berth what-if)" = "It would start now." ] || fail "$(try -n2 -t 20m | flux berth what-if)"
end=$(flux job info "$a" R | jq .execution.expiration)
[ "$(try -n2 -t 2h | flux berth what-if --json | jq '.start | floor')" = "$((${end%.*} + 600))" ] ||
    fail "2 cores for 2 hours, b ends at $end + 600: $(try -n2 -t 2h | flux berth what-if --json)"
try -n9 -t 1m >"$scratch/large"
says '^It would never start\. Why: unsatisfiable: asks for 9 cores, the machine has 8$' what-if "$scratch/large"
check "nothing was submitted" sh -c "flux module stats sched-berth | jq -e '.jobs == 2 and .queues.default.rejected == 0'"

# what is not there, and who may not ask
says "^flux berth explain: no such job" explain "$(flux job id --to=f58 1)"
says "^flux berth explain: 'seven' is no job id" explain seven
says "^flux berth: wrong verb" expalin "$a"
export FLUX_HANDLE_ROLEMASK=0x2 FLUX_HANDLE_USERID=12345
says "^flux berth explain: it is another user's job" explain "$b"
says '^default ' queues
unset FLUX_HANDLE_ROLEMASK FLUX_HANDLE_USERID
flux resource drain 1
flux cancel "$b"
c=$(flux submit -n5 -t 10m true)
flux cancel "$a"
ended "$a"
until_true "c waits for a node" sh -c "flux berth explain $c | grep -q '^It waits for cores: n1 is not up\.'"
flux cancel "$c"
END
finish
