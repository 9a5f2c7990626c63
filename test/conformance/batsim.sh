#!/bin/sh
# Batsim's schedules as scenarios: 801 jobs on 32 processors, with times in microseconds. Every job starts when it did
# there and gets the same processors, under easy and conservative.
. "$BERTH_SOURCE/test/lib.sh"
need_shared traces/batsim-medium_late.easy.out_jobs.csv.gz
cd "$scratch" || exit 1

# scenario FILE: submissions from Batsim's columns, in the order in which it saw them
scenario() {
    zcat "$1" | sed 1d | sort -t, -s -k4,4n -k1,1n | awk -F, '{
        runtime = $9 + 0 < $6 + 0 ? $9 : $6
        printf "{\"at\": %s, \"submit\": {\"id\": \"%s\", \"nodes\": %d, \"duration\": %s, \"runtime\": %s}}\n",
            $4, $1, $5, $6, runtime
    }'
}

# recorded FILE: job, start in microseconds, and each of its processors, a line each
recorded() {
    zcat "$1" | sed 1d | awk -F, '{ print $1 "," $8 "," $15 }' | spread
}

# spread: JOB,START,"0-3 7" as such lines
spread() {
    awk -F, '{
        n = split($3, range, " ")
        for (i = 1; i <= n; i++) {
            ends = split(range[i], id, "-")
            for (p = id[1] + 0; p <= (ends > 1 ? id[2] : id[1]) + 0; p++)
                printf "%d %.0f %d\n", $1, $2 * 1000000, p
        }
    }' | sort -n
}

# decided FILE: the same from decisions
decided() {
    sed -n 's/^{"at": \([0-9.]*\), "job": "\([0-9]*\)", "decision": "start".*"resources": "node\[*\([^]"]*\)]*"}$/\2;\1;\3/p' "$1" |
        tr ',' ' ' | tr ';' ',' | spread
}

for policy in easy conservative; do
    recorded=$BERTH_SHARED/traces/batsim-medium_late.$policy.out_jobs.csv.gz
    cat >config.yaml <<END
resources: {nodes: 32}
match: {policy: low}
queues:
  batch: {policy: $policy}
END
    scenario "$recorded" >events.jsonl
    expect_status 0 "$BERTH" sim --config config.yaml --scenario events.jsonl --decisions decisions.jsonl
    recorded "$recorded" >expected
    decided decisions.jsonl >found
    [ "$(cut -d' ' -f1 expected | sort -u | wc -l)" -eq 801 ] || fail "not 801 jobs are recorded"
    cmp expected found >/dev/null || {
        fail "$policy: $(diff expected found | grep -c '^<') of $(wc -l <expected) starts and processors differ"
        diff expected found | head -6
    }
done
finish
