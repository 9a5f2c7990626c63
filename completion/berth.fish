# Completion of berth for fish.
complete -c berth -f
complete -c berth -n __fish_use_subcommand -a "(berth --help | sed -n '/^Verbs:/,/^\$/s/^  \([a-z-]*\)  *\(.*\)/\1\t\2/p')"
for verb in cancel explain hold log release requeue show signal update wait
    complete -c berth -n "__fish_seen_subcommand_from $verb" -a "(berth jobs --no-header 2>/dev/null | awk '{ print \$1 \"\t\" \$2 }')"
end
complete -c berth -n "__fish_seen_subcommand_from server" -a "start stop status reload"
complete -c berth -n "__fish_seen_subcommand_from run submit" -F
