#!/bin/sh
# kill -9 at random moments under load, and in the second half of them on a disk that fills up and is freed again:
# afterwards every job that was acknowledged is accounted for exactly once, and none that was refused is there.
# BERTH_TORTURE says how often (20); BERTH_SEED repeats a sequence of moments.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
rounds=${BERTH_TORTURE:-20}
seed=${BERTH_SEED:-$(date +%s)}
echo "BERTH_SEED=$seed"

# A disk of its own that can be filled: that takes root.
small=
mkdir -p "$BERTH_DIR"
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=64m,mode=700 none "$BERTH_DIR" 2>/dev/null; then
    small=yes
    clean_disk() {
        for pid in $(ours | grep -vx "$$"); do
            kill -9 "$pid" 2>/dev/null
        done
        await "the disk to be free" umount "$BERTH_DIR"
        clean_up
    }
    trap clean_disk EXIT
else
    echo "no full disk: that needs root, to mount a small one"
fi
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
pad=$(head -c 100000 /dev/zero | tr '\0' x)

# Submits until told to stop, and notes each acknowledged id with the job's own number. What the server says can't be stored
# is not there; one whose reply was cut off may have been taken or not. Large ones use up the room that the store has in its
# files.
client() { # FIRST
    n=$1
    while [ ! -e stop ]; do
        n=$((n + 1))
        big=
        [ -e full ] && big=$pad
        if id=$("$BERTH" submit --name "t$n" --env "A=$big" --env "B=$big" --env "C=$big" -o /dev/null ./job.sh "$n" "$scratch" 2>"why.$1"); then
            echo "$id $n" >>acknowledged
        elif grep -q "cannot store the change" "why.$1"; then
            echo "$n" >>refused
            [ "$(wc -l <"why.$1")" -eq 1 ] || cp "why.$1" unclear
        else
            echo "$n" >>unknown
        fi
    done
}

moment() { # NUMBER: from 0.00 to 0.39 s
    awk -v seed="$((seed + $1))" 'BEGIN { srand(seed); rand(); printf "0.%02d", rand() * 40 }'
}

fill() {
    dd if=/dev/zero of="$BERTH_DIR/fill" bs=64k
    dd if=/dev/zero of="$BERTH_DIR/fill2" bs=4k
} 2>/dev/null

# Fills the disk and frees it again, until told to stop.
filler() {
    i=0
    while [ ! -e stop ]; do
        i=$((i + 1))
        fill
        : >full
        sleep "$(moment "$((i * 1000))")"
        sleep "$(moment "$((i * 1000 + 1))")"
        rm -f full "$BERTH_DIR/fill" "$BERTH_DIR/fill2"
        sleep "$(moment "$((i * 1000 + 2))")"
        sleep "$(moment "$((i * 1000 + 3))")"
    done
    echo "$i" >fills
}

"$BERTHD" || fail "berthd does not start"
for list in acknowledged unknown refused; do
    : >$list
done
client 1000000 &
client 2000000 &
round=0
while [ "$round" -lt "$rounds" ]; do
    round=$((round + 1))
    [ "$small" ] && [ "$round" -eq $((rounds / 2 + 1)) ] && filler &
    sleep "$(moment "$round")"
    # A client may have started the next one by itself; on a full disk there may be none.
    pid=$(daemon_pid 2>/dev/null)
    [ "$pid" ] && kill -9 "$pid" 2>/dev/null
    [ "$pid" ] && await "berthd to die" is_gone "$pid"
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
sed -n 's/.*"id":\([0-9]*\),.*"name":"t\([0-9]*\)".*"state":"\([a-z]*\)".*"reason":\("[^"]*"\|null\).*"exit":\([0-9a-z]*\),.*/\1 \2 \3 \5 \4/p' all.json | sort -n >ended
expect "rows twice" '' "$(cut -d' ' -f1 ended | uniq -d)"
expect "numbers twice" '' "$(cut -d' ' -f2 ended | sort | uniq -d)"

# check_job ID N: it ran once and ended as it did, full disk or not.
check_job() {
    row=$(grep "^$1 " ended)
    starts=$(cat "marks/$2" 2>/dev/null | wc -l)
    expect "starts of job $1 ($row)" 1 "$starts"
    case $(($2 % 3)) in
    0) expect "job $1" "$1 $2 done 0 null" "$row" ;;
    *) expect "job $1" "$1 $2 failed $(($2 % 3)) null" "$row" ;;
    esac
}
while read -r id n; do
    check_job "$id" "$n"
    [ "$failures" -gt 10 ] && break
done <acknowledged
# Those in doubt ran once or never.
for n in $(cat unknown); do
    [ ! -e "marks/$n" ] || [ "$(wc -l <"marks/$n")" -le 1 ] || fail "a job in doubt ran more than once"
done
# Those that were refused are not there.
for n in $(cat refused); do
    [ ! -e "marks/$n" ] || fail "job $n was refused and ran"
    ! grep -q "^[0-9]* $n " ended || fail "job $n was refused and is there"
done
[ ! -e unclear ] || fail "refused in more than a line: $(cat unclear)"
echo "$rounds kills, $(wc -l <acknowledged) jobs acknowledged, $(wc -l <unknown) in doubt"
[ "$small" ] && echo "the disk was full $(cat fills) times: $(wc -l <refused) jobs refused"
finish
