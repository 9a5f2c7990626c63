#!/bin/sh
# kill -9 at random moments under load: afterwards every job that was acknowledged is accounted for exactly once.
# BERTH_TORTURE says how often (20); BERTH_SEED repeats a sequence of moments.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
rounds=${BERTH_TORTURE:-20}
seed=${BERTH_SEED:-$(date +%s)}
echo "BERTH_SEED=$seed"
machine 4
mkdir marks

# Each job leaves a mark for each of its starts, lasts a moment, and ends with its own status.
cat >job.sh <<'END'
#!/bin/sh
echo x >>"$2/marks/$1"
sleep "0.0$(($1 % 10))"
exit $(($1 % 3))
END
chmod 755 job.sh

# Submits until told to stop, and notes each acknowledged id with the job's own number; one whose reply was cut off may
# have been taken or not.
client() { # FIRST
    n=$1
    while [ ! -e stop ]; do
        n=$((n + 1))
        if id=$("$BERTH" submit ./job.sh "$n" "$scratch" 2>/dev/null); then
            echo "$id $n" >>acknowledged
        else
            echo "$n" >>unknown
        fi
    done
}

moment() { # ROUND: from 0.00 to 0.39 s
    awk -v seed="$((seed + $1))" 'BEGIN { srand(seed); printf "0.%02d", rand() * 40 }'
}

"$BERTHD" || fail "berthd does not start"
: >acknowledged
: >unknown
client 1000000 &
client 2000000 &
round=0
while [ "$round" -lt "$rounds" ]; do
    round=$((round + 1))
    sleep "$(moment "$round")"
    # A client may have started the next one by itself.
    pid=$(daemon_pid)
    kill -9 "$pid" 2>/dev/null
    await "berthd to die" is_gone "$pid"
    "$BERTHD" 2>/dev/null
done
: >stop
wait
"$BERTH" server status >/dev/null 2>&1 || "$BERTHD"
none_is_left() {
    [ "$("$BERTH" jobs --no-header | wc -l)" -eq 0 ]
}
await "all jobs to end" none_is_left

"$BERTH" jobs -a --json >all.json
[ "$(wc -l <acknowledged)" -ge "$rounds" ] || fail "hardly any job was acknowledged"
# Ids are given once.
expect "ids that were given twice" '' "$(cut -d' ' -f1 acknowledged | sort | uniq -d)"
sed -n 's/.*"id":\([0-9]*\),.*"state":"\([a-z]*\)".*"exit":\([0-9a-z]*\),.*/\1 \2 \3/p' all.json | sort -n >ended
expect "rows twice" '' "$(cut -d' ' -f1 ended | uniq -d)"
while read -r id n; do
    expect "starts of job $id" 1 "$(cat "marks/$n" 2>/dev/null | wc -l)"
    row=$(grep "^$id " ended)
    case $((n % 3)) in
    0) expect "job $id" "$id done 0" "$row" ;;
    *) expect "job $id" "$id failed $((n % 3))" "$row" ;;
    esac
    [ "$failures" -gt 10 ] && break
done <acknowledged
# Those in doubt ran once or never.
for n in $(cat unknown); do
    [ ! -e "marks/$n" ] || [ "$(wc -l <"marks/$n")" -le 1 ] || fail "a job in doubt ran more than once"
done
echo "$rounds kills, $(wc -l <acknowledged) jobs acknowledged, $(wc -l <unknown) in doubt"
finish
