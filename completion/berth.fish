# Completion of berth for fish. Verbs are those that --help lists, options and what they take those of 'berth help --options'.

function __berth_verbs
    berth --help | awk -F '   *' '/^Verbs:/ { on = 1; next } /^$/ { on = 0 } on { for (i = 2; i < NF; i += 2) print $i "\t" $(i + 1) }'
end

# Options of the verb that has been typed
function __berth_options
    set -l words (commandline -opc)
    berth help --options $words[2] 2>/dev/null | awk -F '\t' '$1 != "" { print "-" $1 } $2 != "" { print "--" $2 }'
end

# What may stand behind the option before, or where no option does: the words and kinds of the table.
function __berth_kinds
    set -l words (commandline -opc)
    set -l option ''
    string match -q -- '-*' $words[-1]; and set option $words[-1]
    berth help --options $words[2] 2>/dev/null |
        awk -F '\t' -v option="$option" '$2 == "" { words = $4 } option != "" && (option == "--" $2 || option == "-" $1) { value = $4 } END { print value != "" ? value : words }'
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

function __berth_wants_option
    string match -q -- '-*' (commandline -ct)
end

function __berth_words
    for kind in (string split -n ' ' -- (__berth_kinds))
        switch $kind
            case @file
                __fish_complete_path (commandline -ct)
            case @folder
                __fish_complete_directories (commandline -ct)
            case @command
                __fish_complete_command
            case @user
                __fish_complete_users
            case @queue
                __berth_queues
            case @block
                __berth_blocks
            case @job
                __berth_jobs
            case '@job:*'
                __berth_jobs -s (string replace @job: '' -- $kind)
            case '*'
                echo $kind
        end
    end
end

complete -c berth -f
complete -c berth -n __fish_use_subcommand -a "(__berth_verbs)"
complete -c berth -n __fish_use_subcommand -a "help\t'explain a verb'"
complete -c berth -n "__fish_use_subcommand; and __berth_wants_option" -a "--help --version -h -V"
complete -c berth -n "not __fish_use_subcommand; and __berth_wants_option" -a "(__berth_options)"
complete -c berth -n "__fish_seen_subcommand_from help" -a "(__berth_verbs)"
complete -c berth -n "not __fish_use_subcommand; and not __berth_wants_option" -a "(__berth_words)"
