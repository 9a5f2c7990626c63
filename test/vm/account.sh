#!/bin/sh
# After the power cuts: is each job accounted for once?
# usage: account.sh LOG JOBS   (the notes of load.sh and job.sh; `berth jobs -a --json`)
log=$1
grep '"id":' "$2" |
    sed 's/.*"id":\([0-9]*\),.*"name":"\([^"]*\)".*"state":"\([a-z]*\)".*"reason":\(null\|"[^"]*"\).*"start":\([0-9.]*\|null\).*"exit":\([0-9]*\|null\).*"attempts":\([0-9]*\).*/\1|\2|\3|\4|\5|\6|\7/' >"$log/jobs"
cat "$log"/tried/* >"$log/tried.list"
cat "$log"/acknowledged/* >"$log/acknowledged.list"
ls "$log/ran" >"$log/ran.list"
awk -F'|' -v log_folder="$log" '
    function bad(text) { print "FAIL: " text; failures++ }
    BEGIN {
        while ((getline line < (log_folder "/tried.list")) > 0) tried[line] = 1
        while ((getline line < (log_folder "/ran.list")) > 0) {
            split(line, part, ".")
            runs[part[1]]++
            all_runs++
        }
    }
    NF != 7 { bad("a row that is not understood: " $0); next }
    {
        id = $1; name = $2; state = $3; reason = $4; start = $5; exit_status = $6; attempts = $7
        split(name, token, "-")
        again = token[3] % 4 == 0
        wanted = token[3] % 3
        if (id in by_id) bad("id " id " twice")
        if (name in by_name) bad("job " name " twice: " by_name[name] " and " id)
        if (!(name in tried)) bad("job " id " was never submitted: " name)
        by_id[id] = name
        by_name[name] = id
        jobs++
        lost = reason ~ /lost/
        ran = runs[name] + 0
        if (state == "done" || (state == "failed" && !lost)) {
            ended++
            if (exit_status != wanted) bad("job " id " ended with " exit_status " instead of " wanted ": " $0)
            if (ran < 1) bad("job " id " ended and never ran")
        } else if (state == "failed" && lost) {
            n_lost++
            if (again) bad("job " id " asked for --requeue and is lost")
        } else
            bad("job " id " is " state)
        if (!again && ran > 1) bad("job " id " ran " ran " times")
        if (!again && attempts > 1) bad("job " id " was started " attempts " times")
        if (again && ran > attempts) bad("job " id " ran " ran " times in " attempts " attempts")
        if (again && attempts > 1) n_again++
        if (!again && start ~ /[0-9]/) order[id] = start
    }
    END {
        while ((getline line < (log_folder "/acknowledged.list")) > 0) {
            split(line, part, " ")
            id = part[1]
            name = part[2]
            acknowledged++
            if (!(id in by_id)) bad("job " id " (" name ") was acknowledged and is gone")
            else if (by_id[id] != name) bad("job " id " is " by_id[id] " instead of " name)
        }
        for (name in runs) if (!(name in by_name)) bad("job " name " ran and is not there")
        latest = 0
        for (id = 1; id <= 1000000 && seen < jobs; id++) {
            if (!(id in by_id)) continue
            seen++
            if (!(id in order)) continue
            # Two run at once, and when one started is told by a machine that is slow.
            if (order[id] < latest - 3) bad("job " id " started " latest - order[id] " s before one that came earlier")
            if (order[id] > latest) latest = order[id]
        }
        printf "%d jobs, %d acknowledged: %d ended, %d lost, %d came again; %d starts\n", jobs, acknowledged, ended, n_lost, n_again, all_runs
        if (!acknowledged || !jobs) bad("nothing happened")
        exit failures > 0
    }' "$log/jobs"
