#!/bin/sh
# A job script: `berth submit examples/sweep.sh`. Its #BERTH lines hold options as on the command line.
#BERTH --name sweep --array 1-8%4
#BERTH -c 1 -t 10m
#BERTH -o sweep.%j.%a.out
set -eu
echo "part $BERTH_ARRAY_INDEX of $BERTH_ARRAY_SIZE runs on cores $BERTH_CPUS"
