#!/bin/sh
# A trace through a queue on a graph whose reservations name their cores, against recorded schedules: every job starts
# when it should and gets the cores that it should, under easy and conservative; with BERTH_FEW under easy.
. "$BERTH_SOURCE/test/lib.sh"
need_shared traces/oracle/KTH-SP2-1996-2.f28481.nodeset-easy.batched.csv.gz
cd "$scratch" || exit 1

policies='easy conservative'
[ -n "${BERTH_FEW:-}" ] && policies=easy
for policy in $policies; do
    cat >config.yaml <<END
resources: {nodes: 1, cores: 100}
match: {policy: low}
queues:
  batch: {policy: $policy}
END
    case $policy in
    easy) name=nodeset-easy ;;
    *) name=nodeset-cons ;;
    esac
    expect_status 0 "$BERTH" sim --config config.yaml --jobs found.csv \
        "$BERTH_SHARED/traces/KTH-SP2-1996-2.filtered28481.swf.gz"
    zcat "$BERTH_SHARED/traces/oracle/KTH-SP2-1996-2.f28481.$name.batched.csv.gz" >expected.csv
    [ "$(wc -l <expected.csv)" -eq 28482 ] || fail "not 28481 jobs are recorded"
    cmp expected.csv found.csv >/dev/null || {
        fail "$policy: $(diff expected.csv found.csv | grep -c '^<') of 28481 jobs differ"
        diff expected.csv found.csv | head -6
    }
done
finish
