#!/bin/sh
# bench/agents.sh [AGENTS [SECONDS]]: what a server with many agents takes at rest: memory, and processor time over SECONDS (30),
# of berthd, its gate and the watch. The agents are simulated, in one process, each with a pilot and an end of its own; Slurm is
# a script that knows all of them. It takes `ninja -C build berthd berth-gate test/system/many_agents`.
set -eu
agents=${1:-512}
seconds=${2:-30}
build=$(cd "${BERTH_BUILD:-build}" && pwd)
scratch=$(mktemp -d)
BERTH_DIR=$scratch/berth
export BERTH_DIR
mkdir -m 700 "$BERTH_DIR" "$scratch/bin"
printf '%s\n' 'resources: {nodes: 1, cores: 1}' 'queues: {batch: {policy: easy}}' >"$BERTH_DIR/berth.yaml"
down() {
    kill "$simulated" 2>/dev/null || true
    "$build/berth" server stop >/dev/null 2>&1 || true
    rm -rf "$scratch"
}
simulated=
trap down EXIT
trap 'exit 1' INT TERM

# Each is known by its comment, and runs.
cat >"$scratch/bin/squeue" <<END
#!/bin/sh
cat "$scratch/queue"
END
chmod +x "$scratch/bin/squeue"
PATH=$scratch/bin:$PATH
export PATH
: >"$scratch/queue"
"$build/berth" server start >/dev/null
i=0
while [ $i -lt "$agents" ]; do
    i=$((i + 1))
    echo "$i|RUNNING|N/A|N/A|a$i|berth:0123456789abcdef:$i|None"
done >"$scratch/queue"
# shellcheck disable=SC2046
curl -sS --unix-socket "$BERTH_DIR/berth.sock" -d '{"kind": "slurm", "tag": "0123456789abcdef"}' \
    $(seq "$agents" | sed 's/.*/http:\/\/berth\/v1\/pilots/') >/dev/null
"$build/test/system/many_agents" "$BERTH_DIR/pilots" 1 "$agents" $(($(date +%s) + 36000)) 60 &
simulated=$!
begun=$(date +%s)
while [ "$("$build/berth" pilot list --json | grep -c '"state": "up"')" -lt "$agents" ]; do
    [ $(($(date +%s) - begun)) -lt 300 ] || { echo 'the agents do not come' >&2; exit 1; }
    sleep 0.2
done
echo "$agents agents are up after $(($(date +%s) - begun)) s"
sleep 5

name_of() { # PID: by its command line, as the name that the system has is that of a descriptor for some
    name=$(cat "/proc/$1/cmdline" 2>/dev/null | tr '\0' '\n' | head -n 1)
    echo "${name##*/}"
}
ours() { # the processes of the server, but for the simulated agents
    {
        grep -lzxF "BERTH_DIR=$BERTH_DIR" /proc/[0-9]*/environ || true # some end meanwhile
        grep -lzF "$BERTH_DIR" /proc/[0-9]*/cmdline || true
    } 2>/dev/null | cut -d/ -f3 | sort -un | while read -r pid; do
        case $(name_of "$pid") in
        berthd | berth-gate | berth | berth-keeper) echo "$pid" ;;
        esac
    done
}
ticks() { # of all of them, and of those they have waited for
    for pid in $(ours); do
        sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null
    done | awk '{ sum += $12 + $13 + $14 + $15 } END { print sum + 0 }'
}
before=$(ticks)
sleep "$seconds"
after=$(ticks)
for pid in $(ours); do
    awk -v name="$(name_of "$pid")" '/^VmRSS/ { printf "%-12s %6.1f MB\n", name, $2 / 1024 }' "/proc/$pid/status"
done
for pid in $(ours); do
    cat "/proc/$pid/smaps_rollup" 2>/dev/null
done | awk '/^Pss:/ { sum += $2 } END { printf "together     %6.1f MB, what they share counted once\n", sum / 1024 }'
awk -v ticks=$((after - before)) -v seconds="$seconds" -v hertz="$(getconf CLK_TCK)" \
    'BEGIN { printf "processor    %6.1f %% of a core\n", 100 * ticks / hertz / seconds }'
