#!/bin/sh
# A Slurm of four nodes on this host, two pilots in it, and jobs of all kinds on the nodes that they lend. All of it is gone
# afterwards.
#
# usage: demo_cluster.sh BUILD PICTURE
set -eu

berth=$(cd "$1" && pwd)/berth
picture=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
# shellcheck source=scripts/slurm_cluster.sh
. "$(dirname "$0")/slurm_cluster.sh"
scratch=$(mktemp -d)
BERTH_DIR=$scratch/berth
TMPDIR=$scratch
export BERTH_DIR TMPDIR
unset BERTH_SOCKET
clean_up() {
    "$berth" cancel --all >/dev/null 2>&1 || true
    for pilot in $("$berth" pilot list --json 2>/dev/null | sed -n 's/^    "pilot": \([0-9]*\),*$/\1/p'); do
        "$berth" pilot remove "$pilot" >/dev/null 2>&1 || true
    done
    patience=100
    while [ "$patience" -gt 0 ] && [ -n "$(squeue -h 2>/dev/null)" ]; do
        patience=$((patience - 1))
        sleep 0.2
    done
    "$berth" server stop >/dev/null 2>&1 || true
    cluster_stop
    rm -rf "$scratch" 2>/dev/null || { sleep 1; rm -rf "$scratch"; }
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

say() { # COMMAND...: show it, and what it says
    echo "\$ berth $*"
    case $1 in
    explain) "$berth" "$@" | fold -s -w 78 ;;
    *) "$berth" "$@" | cut -c 1-78 ;;
    esac
    echo
}

echo 'A Slurm of four nodes with four cores each comes up.'
cluster_start "$scratch/slurm" 4 4 || exit 1
mkdir -m 700 "$BERTH_DIR"
cat >"$BERTH_DIR/berth.yaml" <<END
resources: {nodes: 1, cores: 1}
queues:
  batch: {policy: easy}
default-queue: batch
END
"$berth" server start
"$berth" drain node0 # its own host: all runs on nodes that are lent
say pilot add slurm --nodes 2 --time 10m
say pilot add slurm --nodes 2 --time 10m
until [ "$("$berth" nodes | grep -c ' up ')" = 4 ]; do sleep 0.2; done
say pilot list

cd /
array=$("$berth" submit --name array -t 10s --array 40 -o /dev/null sleep 1)
gangs=
for i in 1 2 3; do
    # shellcheck disable=SC2016 # for the job's shell
    gangs="$gangs $("$berth" submit --name gang -t 20s --gang 2 -c 4 -o "$scratch/gang$i.%a" sh -c \
        'echo "member $BERTH_MEMBER_RANK of $BERTH_MEMBER_COUNT on $BERTH_NODE, all meet at $MASTER_ADDR:$MASTER_PORT"; sleep 2')"
done
# shellcheck disable=SC2016
wide=$("$berth" submit --name wide -t 10s -N 4 -n 4 -o "$scratch/wide" sh -c 'echo "task $BERTH_TASK_INDEX on $BERTH_NODE"; sleep 1')
late=$("$berth" submit --name late -t 2h -c 4 true)
echo '$ berth submit --name huge -N 9 -n 9 true'
"$berth" submit --name huge -N 9 -n 9 true 2>&1 | cut -c 1-160 || true
echo
say nodes
say jobs
# shellcheck disable=SC2086
"$berth" wait "$array" $gangs "$wide"
say explain "$late"
"$berth" cancel "$late"
echo "The tasks of job $wide, and the members of a gang:"
sort "$scratch/wide"
cat "$scratch"/gang1.*
echo
"$berth" history -n 0 --plot "$picture"
say history
echo "The picture, jobs on the nodes by name: $2, for a web browser."
