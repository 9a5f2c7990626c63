# A job of the power cuts: leaves a mark for each of its starts on the host, lasts a moment, ends with its own status.
# usage: job.sh TOKEN STATUS
: >"/share/log/ran/$1.$BERTH_ATTEMPT.$(cat /proc/sys/kernel/random/uuid)"
sleep "0.$2"
exit "$2"
