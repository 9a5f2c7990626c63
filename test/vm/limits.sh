# A user's limits, by the system's own PAM.
. /share/vm/guest.sh
sleep 61 # as long as limits are remembered
cat >/etc/security/limits.d/trial.conf <<'END'
bob hard nproc 77
bob soft nofile 333
@team hard stack 4096
@team - memlock 65
END
expect "bob's" '77 333' "$(as bob berth run bash -c 'echo $(ulimit -Hu) $(ulimit -Sn)')"
expect "the team's" '4096 65' "$(as ann berth run bash -c 'echo $(ulimit -Hs) $(ulimit -Hl)')"
useradd -m -e 2001-01-01 old
berth_says=$(as old berth run true 2>&1) && fail "an account that has expired runs a job"
expect "lines" 1 "$(echo "$berth_says" | wc -l)"
echo "$berth_says" | grep -q 'limits of the user: the account old may not be used' || fail "no word: $berth_says"
cat >/etc/pam.d/berth <<'END'
account required pam_permit.so
session required pam_limits.so
END
expect "by /etc/pam.d/berth" 0 "$(as old berth run true >/dev/null 2>&1; echo $?)"
rm -f /etc/security/limits.d/trial.conf /etc/pam.d/berth
finish
