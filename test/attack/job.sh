#!/bin/sh
# A job of the attacks: notes its start, lasts a while, notes its end, and ends with a status of its own.
#
# usage: job.sh FILE SECONDS STATUS
#
# A note is one write at the end of a file: what, member, attempt, task, pid, uptime, and the job's id or its status.
note() { # WHAT VALUE
    read -r now _ </proc/uptime
    echo "$1 ${BERTH_ARRAY_INDEX:-0} $BERTH_ATTEMPT $BERTH_TASK_INDEX $$ $now $2" >>"$file"
}

file=$1
note start "$BERTH_JOB_ID"
sleep "$2"
note end "$3"
exit "$3"
