#!/bin/sh
# The lines that the README has for a first job, an array, a GPU job, jobs that wait for each other and a script of Slurm's: each
# does what it says, with nothing set up. A library stands in for that of a GPU.
. "$BERTH_SOURCE/test/daemon.sh"
cd "$scratch" || exit 1
LD_LIBRARY_PATH=$GPU_LIBRARY${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
STAND_IN_GPUS='GPU-aaaa=NVIDIA A100-SXM4-40GB'
export LD_LIBRARY_PATH STAND_IN_GPUS
unset CUDA_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES
[ "$(nproc)" -ge 2 ] || skip 'the README asks for two cores'

# What the lines name.
for name in work report part; do
    printf '#!/bin/sh\necho %s $BERTH_ARRAY_INDEX $BERTH_CORES >>%s.ran\n' $name $name >$name.sh
    chmod +x $name.sh
done
printf 'all:\n\ttouch made\n' >Makefile
echo 'import os; open("trained", "w").write(os.environ["CUDA_VISIBLE_DEVICES"])' >train.py
cat >jobs.yaml <<'END'
jobs:
  fetch: {command: "echo 6 >numbers"}
  add: {after: fetch, command: "cat numbers >sum"}
END
cat >job.sbatch <<'END'
#!/bin/sh
#SBATCH --ntasks=1 --time=10 --job-name=of-slurm
echo $SLURM_JOB_NAME >slurm.ran
END
mkdir build
ln -s "$BERTH" build/berth
sed -n '/^Then run jobs of your own:/,/^The first command/p' "$BERTH_SOURCE/README.md" | sed -n 's/^    //p' >lines.sh
expect 'lines of the README' 9 "$(grep -c '^[^#]*build/berth' lines.sh)"
sh -e lines.sh >said 2>&1 || fail "a line fails: $(cat said)"
expect_status 0 timeout 120 "$BERTH" wait 1-8
expect 'the first job' 'work 2' "$(cat work.ran)"
[ -e made ] || fail 'make has not run'
expect 'after it' 'report 1' "$(cat report.ran)"
expect 'the array' 100 "$(sort -u part.ran | wc -l)"
expect 'the GPU' GPU-aaaa "$(cat trained)"
expect 'jobs that wait for each other' 6 "$(cat sum)"
expect "Slurm's script" of-slurm "$(cat slurm.ran)"
expect 'jobs that did not succeed' '[]' "$("$BERTH" history --state failed,cancelled,timeout --json)"
finish
