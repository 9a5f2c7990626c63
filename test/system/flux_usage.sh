#!/bin/sh
# What shares have used is known after a reload of the module: who has used less goes first.
. "$BERTH_SOURCE/test/flux.sh"

user=$(id -un)
machine 1 4 <<END
[queues.batch]
[queues.other]
[policy.jobspec.defaults.system]
queue = "batch"
[sched-berth.accounts.physics]
users = ["$user"]
[sched-berth.accounts.chemistry]
users = ["$user"]
[sched-berth.shares]
half-life = "30d"
[sched-berth.queues.batch]
policy = "fcfs"
shares = {by = "account", order = ["usage"]}
END
instance 1 <<'END'
flux queue start --all >/dev/null
used() { flux berth shares --json | jq ".shares[] | select(.name == \"$1\" and .kind == \"account\") | .usage"; }
a=$(flux submit --setattr=system.bank=chemistry -n4 -t 10m sleep inf)
started "$a"
until_true "chemistry has used something" sh -c "flux berth shares --json | jq -e '.shares[] | select(.name == \"chemistry\").usage > 0'"
flux cancel "$a"
ended "$a"
before=$(used chemistry)

x=$(flux submit -q other -n4 -t 10m sleep inf)
started "$x"
c=$(flux submit --setattr=system.bank=chemistry -n4 -t 10m true)
p=$(flux submit --setattr=system.bank=physics -n4 -t 10m sleep inf)
check "reload" flux module reload sched-berth
until_true "both are back" sh -c "flux module stats sched-berth | jq -e '.queues.batch | .waiting + .reserved == 2'"
[ "$(used physics)" = 0 ] || fail "physics has used $(used physics)"
# what fades in a few seconds of thirty days is too little to see
jq -en "$(used chemistry) / $before | . > 0.999 and . <= 1" >/dev/null || fail "chemistry had used $before, and then $(used chemistry)"
flux cancel "$x"
started "$p"
expect "$c" state SCHED
flux cancel "$p"
ended "$c"
expect "$c" status COMPLETED
END
finish
