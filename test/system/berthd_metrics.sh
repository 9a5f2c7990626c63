#!/bin/sh
# What monitoring systems collect: the reference parser of OpenMetrics reads it, and its numbers are those of the verbs.
. "$BERTH_SOURCE/test/daemon.sh"
/usr/bin/python3 -c 'import prometheus_client.openmetrics.parser' 2>/dev/null ||
    skip "no python3-prometheus-client, the reference parser"
cd "$scratch" || exit 1
mkdir -p "$BERTH_DIR"
cat >"$BERTH_DIR/berth.yaml" <<'END'
resources: {nodes: 2, cores: 4, gpus: 1, memory: 2}
server: {imagined: yes}
queues:
  batch: {policy: easy}
  'a"b\c': {policy: fcfs}
default-queue: batch
END
expect_status 0 "$BERTH" server start

# metric NAME{LABELS}: its value, read by the reference parser, which refuses what is malformed
cat >parse.py <<'END'
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
for family in text_string_to_metric_families(sys.stdin.read()):
    assert family.documentation, family.name
    for s in family.samples:
        labels = ",".join(f"{k}={v}" for k, v in sorted(s.labels.items()))
        print(f"{s.name}[{labels}] {s.value:.6f}")
END
look() {
    api GET /metrics >text || fail "no answer"
    /usr/bin/python3 parse.py <text >metrics 2>err || fail "the reference parser: $(cat err)"
}
metric() {
    awk -v name="$1" '{ n = length($0) - length($NF) - 1 } substr($0, 1, n) == name { printf "%.0f\n", $NF }' metrics
}

expect "the type" "application/openmetrics-text; version=1.0.0; charset=utf-8" \
    "$(api GET /metrics -o /dev/null -w '%{content_type}')"
look
expect cores 8 "$(metric 'berth_cores[]')"
expect gpus 2 "$(metric 'berth_gpus[]')"
expect memory 4294967296 "$(metric 'berth_memory_bytes[]')"
expect "a name with quotes" 0 "$(metric 'berth_queue_pending[queue=a"b\c]')"
expect version "berth_build_info[version=$("$BERTH" --version | awk '{ print $NF }')] 1.000000" "$(grep build_info metrics)"

# Two of four members run, one of another job is held.
expect_status 0 "$BERTH" run true
job=$("$BERTH" submit --array 4 -c 4 -t 1h sleep 1000)
held=$("$BERTH" submit --hold true)
await_state "$job[1]" running
look
expect pending 2 "$(metric 'berth_members[state=pending]')"
expect held 1 "$(metric 'berth_members[state=held]')"
expect running 2 "$(metric 'berth_members[state=running]')"
expect used 8 "$(metric 'berth_cores_used[]')"
expect "of the queue" 2 "$(metric 'berth_queue_running[queue=batch]')"
expect submissions 6 "$(metric 'berth_queue_submissions_total[queue=batch]')"
expect starts 3 "$(metric 'berth_queue_starts_total[queue=batch]')"
expect ends 1 "$(metric 'berth_queue_ends_total[queue=batch]')"
expect_status 0 "$BERTH" cancel "$job" "$held"
expect_status 0 "$BERTH" queues --stop batch
nothing_runs() {
    look
    [ "$(metric 'berth_members[state=running]')" = 0 ]
}
await "the end" nothing_runs
expect "a stopped queue" 0 "$(metric 'berth_queue_started[queue=batch]')"
[ "$(metric 'berth_pass_seconds_count[]')" -ge 3 ] || fail "passes: $(grep pass metrics)"
expect "another method" 405 "$(http_status POST /metrics)"
finish
