#!/bin/sh
# Shares, limits, priorities of queues and preemption in an instance, as berth-config(5) says.
. "$BERTH_SOURCE/test/flux.sh"

user=$(id -un)
machine 1 8 <<END
[queues.batch]
[queues.spare]
[policy.jobspec.defaults.system]
queue = "batch"
[sched-berth.accounts.physics]
users = ["$user"]
limits = {core = 6}
[sched-berth.accounts.chemistry]
users = ["$user"]
[sched-berth.queues.batch]
policy = "easy"
priority = 10
shares = {by = "account", order = ["share"]}
[sched-berth.queues.spare]
policy = "easy"
preemptible = "cancel"
END
instance 1 <<'END'
flux queue start --all >/dev/null
of() { # ACCOUNT CORES MINUTES COMMAND...
    account=$1 cores=$2 minutes=$3
    shift 3
    flux submit --setattr=system.bank="$account" -n"$cores" -t "${minutes}m" "$@"
}
received() { flux berth shares --json | jq ".shares[] | select(.name == \"$1\" and .kind == \"account\") | .received.core"; }

# 8 cores. In the order of submission both jobs of physics would start when x ends; by shares, one of each account does, and
# of those that are left, now with equals, the first is promised what it asks for: that counts as received.
x=$(of chemistry 8 60 sleep inf)
started "$x"
p1=$(of physics 4 30 sleep inf)
p2=$(of physics 2 30 sleep inf)
c1=$(of chemistry 4 30 sleep inf)
c2=$(of chemistry 4 30 sleep inf)
flux cancel "$x"
started "$p1"
started "$c1"
expect "$p2" state SCHED
expect "$c2" state SCHED
[ "$(received physics) $(received chemistry)" = "6 4" ] || fail "received: $(flux berth shares)"

# physics may have 6 cores: 3 more wait for p1's end although 4 are free, and 2 more for a while start before that
flux cancel "$c1" "$c2" "$p2"
ended "$c1"
p3=$(of physics 3 30 true)
promised "$p3"
end=$(flux jobs -n -o '{expiration}' "$p1") eta=$(flux jobs -n -o '{annotations.sched.t_estimate}' "$p3")
[ "${eta%.*}" = "${end%.*}" ] || fail "p3 is estimated for $eta, p1 ends at $end"
p4=$(of physics 2 10 sleep inf)
started "$p4"
flux cancel "$p1"
ended "$p3"
expect "$p3" status COMPLETED
flux cancel "$p4"
ended "$p4"

# a job of a queue that is preemptible is ended for one of a queue of higher priority, and only if that starts then
s=$(flux submit -q spare -n6 -t 60m sleep inf)
started "$s"
y=$(of chemistry 2 60 sleep inf)
started "$y"
expect "$s" state RUN
z=$(of chemistry 6 60 true)
started "$z"
flux job eventlog "$s" | grep -q "exception type=\"preempt\" severity=0 note=\"for job $(flux job id --to=f58 "$z")\"" ||
    fail "s: $(flux job eventlog "$s")"
ended "$s"
flux cancel "$y"
ended "$z"
END
finish
