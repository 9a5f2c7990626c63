#!/bin/sh
# Scripts of other tools, submitted as they are: options mean what they mean there.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
machine 8

# Slurm: two tasks of four CPUs for ten minutes, once; four members, two at a time; files by its patterns.
cat >fit.sh <<'END'
#!/bin/sh
#SBATCH -n 2 -c 4
#SBATCH --time=10 --deadline=noon
#SBATCH --array=1-4%2 --job-name=fit
#SBATCH --output=out.%A_%a.%x
echo "$1 $SLURM_JOB_ID $SLURM_ARRAY_JOB_ID $SLURM_ARRAY_TASK_ID of $SLURM_ARRAY_TASK_COUNT"
echo "$SLURM_JOB_NAME $SLURM_NTASKS x $SLURM_CPUS_PER_TASK on $SLURM_JOB_NODELIST $SLURM_SUBMIT_DIR"
echo "$BERTH_JOB_ID $BERTH_BATCH $BERTH_CORES"
END
expect_status 0 "$BERTH" submit fit.sh hello
expect_line out 1
expect_err 'fit.sh: line 3: --deadline is not supported here, and has no effect'
expect_status 0 "$BERTH" wait 1
expect "a member's output, once" "hello 1 1 3 of 4
fit 2 x 4 on node0 $(pwd)
1 2 8" "$(cat out.1_3.fit)"
expect "members" 4 "$(find . -name 'out.1_*.fit' | wc -l)"
expect "ten minutes" 600 "$(get 1 limit)"

# The command line takes precedence.
expect_status 0 "$BERTH" submit --array 1 -t 1h --hold fit.sh
expect "the limit of the command line" 3600 "$(get 2 limit)"
expect_status 0 "$BERTH" cancel 2

# Lines that are wrong are named, and nothing is submitted.
printf '#!/bin/sh\n#SBATCH --ntaks=2\n' >wrong.sh
expect_status 2 "$BERTH" submit wrong.sh
expect_err "berth submit: wrong.sh: line 2: sbatch has no option '--ntaks'; see 'berth submit --help'"
printf '#!/bin/sh\n\n#BERTH -n two\n' >wrong.sh
expect_status 2 "$BERTH" submit wrong.sh
expect_err "berth submit: wrong.sh: line 3: --ntasks is 'two', expected a whole number from 1 to 1000000000; see 'berth submit --help'"
printf '#!/bin/sh\n#BERTH -n 1\n#BERTH true\n' >wrong.sh
expect_status 2 "$BERTH" submit wrong.sh
expect_err "berth submit: wrong.sh: line 3: 'true' is not an option of a job; see 'berth submit --help'"

# Flux: 30 is minutes.
cat >flux.sh <<'END'
#!/bin/sh
#flux: -n 2 -c 2
#flux: -t 30 --output=flux-{{id}} --job-name=wave
echo $BERTH_JOB_NAME $BERTH_TASKS $BERTH_CORES ${SLURM_JOB_ID-none}
END
expect_status 0 "$BERTH" submit flux.sh
expect_status 0 "$BERTH" wait 3
expect "a script of Flux" 'wave 2 4 none' "$(cat flux-3)"
expect "half an hour" 1800 "$(get 3 limit)"

# A script runs once, a command once a task.
printf '#!/bin/sh\necho once\n' >once.sh
expect_status 0 "$BERTH" submit -n 3 -o once.out ./once.sh
expect_status 0 "$BERTH" wait 4
expect "a script of three tasks" 1 "$(wc -l <once.out)"
expect_status 0 "$BERTH" submit -n 3 -o each.out echo each
expect_status 0 "$BERTH" wait 5
expect "a command of three tasks" 3 "$(wc -l <each.out)"

# A line for the shell.
expect_status 0 "$BERTH" submit --wrap 'echo a; echo $BERTH_JOB_NAME' -o wrap.out
expect_status 0 "$BERTH" wait 6
expect "a wrapped line" 'a wrap' "$(tr '\n' ' ' <wrap.out | sed 's/ $//')"
expect_status 2 "$BERTH" submit --wrap true false
expect_err "berth submit: --wrap takes no command beside it; see 'berth submit --help'"

# What a job knows of itself.
expect_status 0 "$BERTH" run -c 2 -t 1h sh -c 'echo $BERTH_CORES $BERTH_GPUS $BERTH_SUBMIT_DIR $((BERTH_END_TIME > 0))'
expect_line out "2 0 $(pwd) 1"
expect_status 0 "$BERTH" run sh -c 'echo ${BERTH_END_TIME-none}'
expect_line out none

# No name of an option is shortened, and other tools' words are told from ours.
expect_status 2 "$BERTH" submit --nam x true
expect_err "berth submit: unknown option '--nam' (did you mean '--name'?); see 'berth submit --help'"
expect_status 2 "$BERTH" submit --nam=x true
expect_err "berth submit: unknown option '--nam=x' (did you mean '--name'?); see 'berth submit --help'"
expect_status 2 "$BERTH" jobs --stat
expect_err "berth jobs: unknown option '--stat'; see 'berth jobs --help'"
expect_status 2 "$BERTH" submit -p long true
expect_err "berth submit: unknown option '-p' (Slurm's -p is -q here); see 'berth submit --help'"
for wrong in =x '' -; do
    expect_status 2 "$BERTH" submit --env "$wrong" true
    expect_err "berth submit: --env is '$wrong', expected NAME=VALUE, NAME or -PATTERN; see 'berth submit --help'"
done
expect_status 2 "$BERTH" submit --time=10 true
expect_err "berth submit: unknown option '--time=10' (it is -t here, where 90 is seconds and 90m minutes); see 'berth submit --help'"
for option in -J -d -a --partition --job-name --gres --export --each-line --resource; do
    expect_status 2 "$BERTH" submit $option x true
    grep -q ' here' err || fail "no hint at $option: $(cat err)"
done

# What can only fail later is told at once, unless something before the job may make it.
expect_status 1 "$BERTH" submit ./nothere.sh
expect_err 'berth submit: ./nothere.sh: there is no such file'
expect_status 1 "$BERTH" submit 'echo a; echo b'
expect_err "berth submit: there is no program 'echo a; echo b'; a line for the shell is --wrap 'echo a; echo b'"
expect_status 1 "$BERTH" submit --chdir /nonexistent true
expect_err 'berth submit: /nonexistent: there is no such directory'
expect_status 0 "$BERTH" submit --begin +1h ./nothere.sh
expect_status 0 "$BERTH" cancel --all
expect_status 0 "$BERTH" cancel --all
expect_err 'berth cancel: there are no such jobs'
expect_status 2 "$BERTH" submit -t 0 true

# A pattern that is none is refused.
expect_status 1 "$BERTH" submit -o 'x%q' true
expect_err 'berth submit: key "output": expected of patterns %j, %a, %n, %u, and %% for a percent sign'
finish
