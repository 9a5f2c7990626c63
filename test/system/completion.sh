#!/bin/sh
# What the shells complete: every verb, and every option that a verb has, and none that it has not.
#
# Which those are is told by the manual pages and by the verbs themselves, not by the text from which completion has them.
. "$BERTH_SOURCE/test/lib.sh"
cd "$scratch" || exit 1
mkdir bin
ln -s "$BERTH" bin/berth
PATH=$scratch/bin:$PATH
BERTH_DIR=/dev/null/none # where no server can be started
export PATH BERTH_DIR

# Long options of a verb's manual page: submit's are those of run too
documented() { # VERB
    pages=berth-$1.1
    [ "$1" = run ] && pages="berth-submit.1 berth-run.1"
    for page in $pages; do
        sed -n '/^\.Sh OPTIONS/,/^\.Sh/s/^\.It //p' "$BERTH_BUILD/man/$page"
    done | awk -v verb="$1" '{ for (i = 1; i < NF; i++) if ($i == "Fl" && $(i + 1) ~ /^-[a-z]/) print "-" $(i + 1) }' |
        if [ "$1" = run ]; then grep -vx -e --bulk -e --cc -e --each -e --file -e --json -e --test-only; else cat; fi | sort -u
}

# An option that a verb does not know is answered so; with one that it knows, something else is wrong, or its help comes.
is_known() { # VERB OPTION
    grep -qx -e "$1 $2" known && return 0 # another shell asked
    "$BERTH" "$1" "$2" --help </dev/null 2>&1 | grep -q "unknown option '$2'" && return 1
    echo "$1 $2" >>known
}

[ "$(verbs | wc -l)" -ge 30 ] || fail "berth --help lists too few verbs"
check() { # SHELL: what is completed is in `complete_SHELL LINE`
    complete_it=complete_$1
    $complete_it 'berth ' | sort -u >offered
    for verb in $(verbs) help; do
        grep -qx "$verb" offered || fail "$1: 'berth ' is not completed to $verb"
    done
    for verb in $(verbs); do
        $complete_it "berth $verb -" | grep '^-' | sort -u >offered
        for option in $(cat offered); do
            is_known "$verb" "$option" || fail "$1: berth $verb is offered $option, which it does not know"
        done
        documented "$verb" >options
        [ -s options ] || echo --help >options
        for option in $(cat options) --help; do
            grep -qx -e "$option" offered || fail "$1: berth $verb is not offered $option"
        done
    done
    expect_words "$1" 'berth server st' 'start status stop'
    expect_words "$1" 'berth shares -r co' core
    expect_words "$1" 'berth submit --failure go' go-on
    expect_words "$1" 'berth log -e notes' ''
    expect_words "$1" 'berth block re' remove
    expect_words "$1" 'berth help expl' explain
    expect_words "$1" 'berth signal -s US' 'USR1 USR2'
    expect_words "$1" 'berth cancel --state pe' pending
    expect_words "$1" 'berth report --by w' week
    expect_words "$1" 'berth history -s f' failed
    expect_words "$1" 'berth submit -o notes' notes.txt
    expect_words "$1" 'berth submit --chdir fold' folder
}

expect_words() { # SHELL LINE WORDS
    got=$(complete_"$1" "$2" | sed 's,/$,,' | sort -u | tr '\n' ' ' | sed 's/ $//')
    [ "$got" = "$3" ] || fail "$1: '$2' is completed to '$got', expected '$3'"
}

# Each prints what the last word of a line may become, a line each.
complete_bash() {
    bash --norc -c '. "$1"; line=$2
        read -r -a COMP_WORDS <<<"$line"
        [[ $line == *" " ]] && COMP_WORDS+=("")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _berth
        printf "%s\n" "${COMPREPLY[@]}"' bash "$BERTH_SOURCE/completion/berth" "$1"
}

complete_fish() {
    HOME=$scratch fish --no-config -c 'source $argv[1]; complete -C $argv[2]' "$BERTH_SOURCE/completion/berth.fish" "$1" | cut -f1
}

# zsh completes in a terminal of its own only: what it would be told is printed in place of that.
complete_zsh() {
    # shellcheck disable=SC2016 # words of zsh
    zsh -f -c '
        show() { local word; for word; do [[ $word == ${words[CURRENT]}* ]] && print -r -- $word; done; return 0 }
        compadd() { shift; show "$@" }
        _describe() { show ${${(P)4}%%:*} }
        _files() { [[ $1 == -/ ]] && show *(N/) || show *(N) }
        _users() { show root }
        _command_names() { true }
        words=(${=1}); [[ $1 == *" " ]] && words+=("")
        CURRENT=$#words
        source $2' zsh "$1" "$BERTH_SOURCE/completion/_berth"
}

touch notes.txt known
mkdir folder
for shell in bash fish zsh; do
    if command -v $shell >/dev/null 2>&1; then
        check $shell
    else
        echo "no $shell: its completion is not tested"
    fi
done

# zsh finds the function by the first line of its file.
if command -v zsh >/dev/null 2>&1; then
    # shellcheck disable=SC2016 # words of zsh
    found=$(zsh -f -c 'fpath=($1 $fpath); autoload -U compinit; compinit -u -D; print -r -- $_comps[berth]' zsh "$BERTH_SOURCE/completion")
    [ "$found" = _berth ] || fail "zsh does not find the completion of berth: '$found'"
fi
finish
