# Completion of berth for fish. Verbs and options are those that --help lists.

function __berth_verbs
    berth --help | awk -F '   *' '/^Verbs:/ { on = 1; next } /^$/ { on = 0 } on { for (i = 2; i < NF; i += 2) print $i "\t" $(i + 1) }'
end

# Options of the verb that has been typed: run and alloc have those of submit but those of many jobs
function __berth_options
    set -l words (commandline -opc)
    begin
        berth $words[2] --help
        contains -- $words[2] run alloc; and berth submit --help | grep -v -e --file -e --each
    end 2>/dev/null | awk '{
        n = split($0, word, /[^A-Za-z0-9-]+/)
        for (i = 1; i <= n; i++)
            if (word[i] ~ /^(-[A-Za-z]|--[a-z][a-z-]+)$/)
                print word[i]
    }'
end

function __berth_jobs
    berth jobs --no-header $argv 2>/dev/null | awk '{ print $1 "\t" $2 }'
end

function __berth_queues
    berth queues --json 2>/dev/null | sed -n 's/^{"name":"\([^"]*\)".*/\1/p'
end

function __berth_blocks
    berth block list --json 2>/dev/null | sed -n 's/^    "name": "\([^"]*\)".*/\1/p'
end

function __berth_verb_is
    set -l words (commandline -opc)
    test (count $words) -gt 1; and contains -- $words[2] $argv
end

# The word before is one of these options: what is typed now is its value.
function __berth_takes
    set -l words (commandline -opc)
    contains -- $words[-1] $argv
end

function __berth_wants_option
    string match -q -- '-*' (commandline -ct)
end

complete -c berth -f
complete -c berth -n __fish_use_subcommand -a "(__berth_verbs)"
complete -c berth -n __fish_use_subcommand -a "help\t'explain a verb'"
complete -c berth -n "__fish_use_subcommand; and __berth_wants_option" -a "--help --version -h -V"
complete -c berth -n "not __fish_use_subcommand; and __berth_wants_option" -a "(__berth_options)"
complete -c berth -n "__berth_verb_is help" -a "(__berth_verbs)"
complete -c berth -n "__berth_verb_is cancel explain jobs log resubmit show update wait" -a "(__berth_jobs)"
complete -c berth -n "__berth_verb_is hold" -a "(__berth_jobs -s pending)"
complete -c berth -n "__berth_verb_is release" -a "(__berth_jobs -s held)"
complete -c berth -n "__berth_verb_is signal requeue" -a "(__berth_jobs -s running)"
complete -c berth -n "__berth_verb_is queues" -a "(__berth_queues)"
complete -c berth -n "__berth_verb_is server" -a "start stop status reload"
complete -c berth -n "__berth_verb_is block" -a "add list remove (__berth_blocks)"
complete -c berth -n "__berth_verb_is pilot" -a "add list show drain remove watch slurm"
complete -c berth -n "__berth_verb_is classes" -a "show set reset (__berth_queues)"
complete -c berth -n "__berth_verb_is config jobspec" -a check
complete -c berth -n "__berth_verb_is alloc run submit sim query config jobspec" -F
complete -c berth -n "not __berth_verb_is sim query; and __berth_takes -q --queue" -a "(__berth_queues)"
complete -c berth -n "__berth_takes -u --user" -a "(__fish_complete_users)"
complete -c berth -n "__berth_takes --chdir" -a "(__fish_complete_directories)"
complete -c berth -n "__berth_verb_is signal; and __berth_takes -s --signal" -a "TERM INT HUP KILL USR1 USR2 STOP CONT"
complete -c berth -n "__berth_verb_is cancel hold release requeue; and __berth_takes -s --state" -a "pending held running"
complete -c berth -n "__berth_verb_is signal; and __berth_takes --state" -a "pending held running"
complete -c berth -n "__berth_verb_is jobs; and __berth_takes -s --state" -a "pending held running done failed cancelled timeout"
complete -c berth -n "__berth_verb_is history; and __berth_takes -s --state" -a "done failed cancelled timeout"
complete -c berth -n "__berth_verb_is report; and __berth_takes --by" -a "user account queue day week month"
complete -c berth -n "__berth_verb_is shares; and __berth_takes -r --resource" -a "core gpu memory node"
complete -c berth -n "__berth_takes --plot --config" -F
