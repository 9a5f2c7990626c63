#!/bin/sh
# Steps: `berth run` in a script starts tasks on the cores of the script's job.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
machine 8
TMPDIR=$scratch
PATH=$BERTH_BUILD:$PATH
export TMPDIR PATH
unset XDG_RUNTIME_DIR

# script NAME OPTION...: submit what is on standard input, and wait for it
script() {
    name=$1
    shift
    { echo '#!/bin/sh' && cat; } >"$name"
    "$BERTH" submit -o "$name.out" "$@" "$name" >id || fail "$name is refused"
    "$BERTH" wait "$(cat id)"
}

# Each of the job's tasks has its part of the cores; a step may say otherwise.
script tasks -n 2 -c 4 <<'END'
berth run sh -c 'echo $BERTH_TASK_INDEX of $BERTH_TASKS has $BERTH_CORES'
berth run -n 3 -c 2 sh -c 'echo $BERTH_TASK_INDEX of $BERTH_TASKS has $BERTH_CORES'
END
expect "tasks" "0 of 2 has 4
0 of 3 has 2
1 of 2 has 4
1 of 3 has 2
2 of 3 has 2" "$(LC_ALL=C sort tasks.out)"

# Steps run side by side where there is room: these two wait for each other.
mkfifo left right
script beside -n 2 <<'END'
berth run -n 1 sh -c 'echo $BERTH_STEP_ID >left; cat right >right.got' &
berth run -n 1 sh -c 'cat left >left.got; echo $BERTH_STEP_ID >right' &
wait
END
expect "numbers of two steps" '0 1' "$(cat left.got right.got | sort | tr '\n' ' ' | sed 's/ $//')"

# One that has no room waits for it.
script behind -n 2 <<'END'
berth run -n 1 sh -c 'touch begun; while [ ! -e go ]; do sleep 0.02; done; echo first' &
while [ ! -e begun ]; do sleep 0.02; done
berth run -n 2 sh -c 'echo second' &
touch go
wait
END
expect "a step behind another" 'first second second' "$(tr '\n' ' ' <behind.out | sed 's/ $//')"
[ -z "$(find "$scratch/berth-steps-$(id -u)" -type f)" ] || fail "files of steps are left"

# Exit statuses, input, files, a script as a command, a step of a step.
printf '#!/bin/sh\n#BERTH -n 9\necho a script, $1\n' >inner
chmod +x inner
script ends -n 2 <<'END'
berth run -n 1 sh -c 'exit 3'; echo $?
berth run sh -c 'exit $BERTH_TASK_INDEX'; echo $?
berth run -n 1 sh -c 'kill -TERM $$'; echo $?
berth run nothere 2>/dev/null; echo $?
echo data | berth run -n 1 cat
berth run -n 2 -o step.%j echo to a file
berth run -n 1 inner once
berth run -n 1 berth run echo within
END
expect "ends" '3 1 143 127 data a script, once within ' "$(tr '\n' ' ' <ends.out)"
expect "output of a step in a file" 2 "$(grep -c 'to a file' step.*)"

# What a step cannot have.
script wrong -n 2 <<'END'
berth run -n 3 true; echo $?
berth run -q other true; echo $?
BERTH_DIR=/dev/null/none berth run echo a job for another server 2>/dev/null; echo $?
END
expect "what is wrong" "berth run: the step needs more cores than the 2 of job $(cat id)
1
berth run: --queue is for a job, and in a script this is a step of job $(cat id)
2
1" "$(cat wrong.out)"

# A command is no script: what it runs are jobs.
expect_status 0 "$BERTH" run sh -c 'berth run sh -c "echo \$BERTH_JOB_ID of \$BERTH_STEP_ID"'
expect_line out "$(($(cat id) + 2)) of"

# A script that is run, not submitted, has steps too, unless each of several tasks is the script.
cat >outer <<'END'
#!/bin/sh
berth run -n 2 -c 4 sh -c 'echo $BERTH_JOB_ID.$BERTH_STEP_ID has $BERTH_CORES'
END
chmod +x outer
expect_status 0 timeout 60 "$BERTH" run -c 8 ./outer
expect "steps of a script that is run" '.0 has 4 .0 has 4 ' "$(sed 's/^[0-9]*//' out | tr '\n' ' ')"

# Slurm's variables are those of the step.
script slurm <<'END'
#SBATCH -n 2
berth run sh -c 'echo $SLURM_PROCID of $SLURM_NTASKS in $SLURM_STEP_ID'
END
expect "a step of Slurm" '0 of 2 in 0 1 of 2 in 0 ' "$(sort slurm.out | tr '\n' ' ')"
finish
