#!/bin/sh
# Real traces against recorded schedules, which another simulator made: every job starts when it should, where
# the whole schedule is recorded, and the averages are those of oracle/summary.csv where a row of it has one of our
# policies.
#
# usage: oracle.sh [BERTH [SHARED]]   or with both in the environment; SHARED has traces/ and traces/oracle/
#
# The Curie rows were made from a trace that a stronger filter (strong_filter.py there) had gone over; what the
# reader of berth keeps of the unfiltered trace is the same 295,540 jobs, so none is needed here. Of KTH-SP2 the
# filtered and the unfiltered trace give the same jobs too, and both are tried.
#
# With BERTH_FEW=1, as under sanitizers, the longest trace is replayed under easy alone.
set -u
: "${BERTH_FEW:=0}"

berth=${1:-${BERTH:-build/berth}}
traces=${2:-${BERTH_SHARED:-../shared}}/traces
oracle=$traces/oracle

if [ ! -e "$oracle/summary.csv" ]; then
    echo "skipped: no $oracle/summary.csv"
    exit 77
fi

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

schedules=0
rows=0
failures=0

fail() {
    echo "FAIL: $*"
    failures=$((failures + 1))
}

# simulate TRACE PROCS POLICY EVENTS ESTIMATES: into out.csv.gz and out.json of the scratch directory
simulate() {
    rm -f "$scratch/out.csv.gz" "$scratch/out.json"
    "$berth" sim "$traces/$1" --procs "$2" --policy "$3" --events "$4" --estimates "$5" --json \
        --jobs "$scratch/out.csv.gz" >"$scratch/out.json" 2>"$scratch/err" </dev/null && return
    fail "$1 $3 $4: exit status $?"
    cat "$scratch/err"
    return 1
}

# compare_schedule WHAT NAME: out.csv.gz with the recorded schedule, byte for byte
compare_schedule() {
    schedules=$((schedules + 1))
    zcat "$oracle/$2.csv.gz" >"$scratch/expected"
    zcat "$scratch/out.csv.gz" | cmp - "$scratch/expected" >"$scratch/cmp" 2>&1 && return
    fail "$1: not the schedule $2: $(cat "$scratch/cmp")"
    zcat "$scratch/out.csv.gz" | diff "$scratch/expected" - | sed -n '1,6p'
}

# value KEY: that number in out.json
value() {
    tr -d ' \n' <"$scratch/out.json" | sed 's/.*"'"$1"'":\([-+.0-9eE]*\).*/\1/'
}

# compare_value WHAT KEY EXPECTED: as many decimals as were recorded
compare_value() {
    found=$(value "$2")
    awk -v a="$found" -v b="$3" 'BEGIN {
        point = index(b, ".")
        unit = point ? 10 ^ (point - length(b)) : 1
        difference = a > b + 0 ? a - b : b - a
        exit !(a ~ /^[-+.0-9eE]+$/ && difference <= (point ? 0.6 : 0) * unit)
    }' && return
    fail "$1: $2 is $found instead of $3"
}

# The name under which the schedules of a trace are recorded.
recorded_as() {
    case $1 in
    KTH-SP2-*) echo KTH-SP2-1996-2.f28481 ;;
    CEA-Curie-*) echo CEA-Curie-2011-2.1.f295540 ;;
    *) echo "${1%.swf.gz}" ;;
    esac
}

while IFS=, read -r input procs recorded events estimates n wait flow max_flow bsld max_bsld utilisation \
    makespan rest <&3; do
    case $recorded in
    fcfs | easy) policy=$recorded ;;
    cons) policy=conservative ;;
    *) continue ;;
    esac
    input=${input%% *}
    case $BERTH_FEW:$input:$policy in 1:CEA-Curie-*:easy) ;; 1:CEA-Curie-*) continue ;; esac
    # a trace without estimates is recorded as "exact(no estimates in log)"
    [ "$estimates" = exact ] || estimates=user
    what="$input $policy $events $estimates"
    simulate "$input" "$procs" "$policy" "$events" "$estimates" || continue
    rows=$((rows + 1))
    compare_value "$what" n "$n"
    compare_value "$what" avg_wait_s "$wait"
    compare_value "$what" avg_flow_s "$flow"
    compare_value "$what" max_flow_s "$max_flow"
    compare_value "$what" avg_bsld "$bsld"
    compare_value "$what" max_bsld "$max_bsld"
    compare_value "$what" utilisation "$utilisation"
    compare_value "$what" makespan_s "$makespan"
    name=$(recorded_as "$input").$recorded.$events
    [ "$estimates" = exact ] && name=$name.exact
    [ -e "$oracle/$name.csv.gz" ] || continue
    compare_schedule "$what" "$name"
    case $input in
    *.filtered28481.swf.gz)
        input=${input%.filtered28481.swf.gz}.swf.gz
        simulate "$input" "$procs" "$policy" "$events" "$estimates" || continue
        compare_schedule "$input $policy $events $estimates" "$name"
        ;;
    esac
done 3<"$oracle/summary.csv"

echo "$schedules schedules and $rows rows of averages compared, $failures differences"
# fewer would mean that the recorded results were not found under their names
[ "$failures" -eq 0 ] && [ "$schedules" -ge 22 ] && [ "$rows" -ge $((BERTH_FEW ? 16 : 18)) ]
