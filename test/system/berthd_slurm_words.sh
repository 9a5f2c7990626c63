#!/bin/sh
# Slurm's own squeue, sinfo and scontrol beside ours, of the same jobs: heads, columns and words are the same.
. "$BERTH_SOURCE/test/slurm.sh"
slurm_up 1 4
machine 4
sed -i 's/cores: 4/cores: 4, memory: 4/' "$BERTH_DIR/berth.yaml"
mkdir ours
for name in scancel scontrol sbatch sinfo squeue; do
    ln -s "$BERTH" "ours/$name"
done
theirs=$(dirname "$(command -v squeue)")

# The same jobs in both, with the ids 1 to 6: two run, one after the other's queue, one held, an array, one that has to wait.
submit_all() { # FOLDER OF COMMANDS
    for options in '-J alpha -n 1' '-J beta -n 2 -t 10' '-J gamma -n 4 -t 1:00:00' '-H -J delta --mem=1536' '-J epsilon -d afterok:1' \
        '-J zeta -n 4 --array=1-3%2'; do
        # shellcheck disable=SC2086  # words
        "$1/sbatch" $options -o /dev/null --wrap 'sleep 1000' || fail "$1/sbatch $options"
    done
}
submit_all "$theirs" >theirs.said 2>&1
submit_all "$scratch/ours" >ours.said 2>&1
cmp -s theirs.said ours.said || fail "what sbatch says: $(diff theirs.said ours.said)"
runs() { # FOLDER
    [ "$("$1/squeue" -h -t running -o %j | sort | tr '\n' ' ')" = 'alpha beta ' ]
}
await "Slurm's jobs to run" runs "$theirs"
await 'our jobs to run' runs "$scratch/ours"
reasons_told() { # Slurm says why one waits some time after it was submitted
    "$theirs/squeue" -h -t pd -o %r >told
    ! grep -qx None told
}
await "Slurm's reasons" reasons_told

# same WHAT COMMAND ARGUMENT...: both print the same. Of a job that waits for room Slurm says at some times that others are
# before it.
same() {
    what=$1
    command=$2
    shift 2
    "$theirs/$command" "$@" >theirs.out 2>&1
    "$scratch/ours/$command" "$@" >ours.out 2>&1
    sed -i 's/ Priority$/ Resources/' theirs.out
    cmp -s theirs.out ours.out || fail "$what: $(diff theirs.out ours.out)"
}
same 'a list with columns of a width' squeue -S i -o '%.18i %.9P %.8j %.8u %.2t %.6D %.4C'
same 'a list with words' squeue -h -S i -o '%i|%F|%K|%j|%T|%t|%u|%D|%C'
same 'why they wait' squeue -h -S i -j 1,3,4,5 -o '%i %r'
same 'ids, hosts and GPUs' squeue -h -S i -j 2,3,4,6 -o '%i %A %F %K %b %D'
same 'of one that is held' squeue -h -j 4 -o '%i %m %N %Z %e %S %B %E %L'
same 'time limits' squeue -h -S i -j 2,3,4 -o '%i %l'
same 'the head of a list' squeue -t suspended
same 'jobs of a state' squeue -h -t pd -S i -o '%i %T'
same 'a list in the usual order' squeue -h -o '%i %t'
same 'an array, spelled out' squeue -h -r -S i -j 6 -o '%i %T'
same 'a list by names' squeue -S i -O JobID,jobarrayid:10,Name:.8,UserName:6,State:8:!,numnodes,NumCPUs:.5
same 'of a user by number' squeue -h -S i -u "$(id -u)" -o %i
same 'names without a width' squeue -h -S i -j 2,3,4,6 -O 'arrayjobid:|,arraytaskid:|,statecompact:|,tres-per-node:,username:3'
same 'names of which nothing is known here' squeue -S i -j 4 -O hetjobid,tres-bind:10,mem-per-tres
same 'of one that is held, by names' squeue -h -j 4 -O minmemory,nodelist,workdir,endtime,starttime,dependency,timeleft,reasonlist,licenses:30
same 'an order by two columns' squeue -h -S 't,-C,-i' -j 2,3,4,6 -o '%i %t'
same 'an order by names and times' squeue -h -S '-j,l' -o '%i'
same 'the server answers' scontrol ping
same 'no such job' squeue -h -j 99 -o %i
same 'partitions' sinfo -h -p batch -o '%a %D %t'
same 'the head of partitions' sinfo -h -p batch -o '%P'

# What scontrol says of a job, key by key; times and places are each one's own.
keys() { # FOLDER JOB
    "$1/scontrol" show job "$2" | tr ' ' '\n' | grep -E '^(JobId|JobName|JobState|Reason|NumNodes|NumCPUs|TimeLimit|Partition|UserId|Account|ArrayJobId|ArrayTaskId|ArrayTaskThrottle)=' | sort
}
for job in 2 3 4 6; do # 1 has the limit that the lab's Slurm gives it
    keys "$theirs" $job | sed 's/=Priority$/=Resources/' >theirs.out
    keys "$scratch/ours" $job >ours.out
    cmp -s theirs.out ours.out || fail "scontrol show job $job: $(diff theirs.out ours.out)"
done
finish
