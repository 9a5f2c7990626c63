#!/bin/sh
# Turn one of the pyss scheduler's hand-made scenarios into a trace in the Standard Workload Format.
#
# usage: pyss_to_swf.sh SCENARIO ENDS >TRACE
#
# A line of a scenario is: arrival, id, estimate, processors, run, two numbers of no use here, user; a line that
# begins with '#' is a comment. An id is the second in which the job should end, made unique by decimals
# ("500.1"), so it can't name a job in SWF: jobs are numbered from 1 in the order of the file, and ENDS gets a
# line NUMBER,END for each. Lines may be out of order of arrival, and stay so.
set -eu

scenario=$1
: >"$2"
echo '; MaxProcs: 100'
awk -v ends="$2" '
    /^[ \t\r]*(#|$)/ { next }
    {
        n++
        end = $2
        sub(/\..*/, "", end)
        print n "," end >ends
        print n, $1, -1, $5, $4, -1, -1, $4, $3, -1, 1, -1, -1, -1, -1, -1, -1, -1
    }' "$scenario"
