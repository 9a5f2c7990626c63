#!/bin/sh
# `flux berth`: its help, its page and its completion have the same verbs and options, and it knows these and no others. No
# instance is needed.
. "$BERTH_SOURCE/test/flux.sh"
cd "$scratch" || exit 1

ask() { flux berth "$@" </dev/null; }
ask --help >help || fail "--help: status $?"
[ "$(wc -l <help)" -le 24 ] || fail "the help has more than 24 lines"
[ "$(awk '{ print length }' help | sort -n | tail -n 1)" -le 80 ] || fail "the help is wider than 80"
grep -q '^Example: ' help || fail "the help has no example"

# verbs of the usage, of the help, and of the page; options of each
sed -n 's/^\(usage:\)\{0,1\} *flux berth \([a-z-]*\) .*/\2/p' help | LC_ALL=C sort >usage.verbs
sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p' help | LC_ALL=C sort >help.verbs
sed -n 's/^\.It Cm //p' "$BERTH_SOURCE/man/flux-berth.1" | LC_ALL=C sort >page.verbs
sed -n 's/^\.Nm flux Cm berth //p' "$BERTH_SOURCE/man/flux-berth.1" | LC_ALL=C sort >synopsis.verbs
[ -s usage.verbs ] || fail "no verbs in the help"
for words in help page synopsis; do
    cmp -s usage.verbs $words.verbs || fail "verbs: usage has $(tr '\n' ' ' <usage.verbs), $words has $(tr '\n' ' ' <$words.verbs)"
done
grep -v '^Example' help | grep -oE -- '--[a-z-]+' | LC_ALL=C sort -u >help.options
sed -n '/^\.Sh OPTIONS/,/^\.Sh [^O]/s/^\.It //p' "$BERTH_SOURCE/man/flux-berth.1" |
    grep -oE 'Fl -[a-z-]+' | sed 's/Fl /-/' | LC_ALL=C sort -u >page.options
cmp -s help.options page.options || fail "options: help has $(tr '\n' ' ' <help.options), the page has $(tr '\n' ' ' <page.options)"

# What the command knows, it is not wrong to say. Without an instance it can't answer; what is wrong it says before that.
unset FLUX_URI
status() {
    ask "$@" >out 2>err
    echo $?
}
[ "$(status)" = 2 ] || fail "no verb: status $(status)"
[ "$(status else)" = 2 ] || fail "verb 'else': status $(status else)"
grep -q "'flux berth --help'" err || fail "a wrong verb: $(cat err)"
for verb in $(cat usage.verbs); do
    for option in $(cat help.options); do
        [ "$(status "$verb" "$option" --help)" != 2 ] || ! grep -q 'unknown option' err || fail "$verb $option: $(cat err)"
    done
    [ "$(status "$verb" --other)" = 2 ] || fail "$verb --other: status $(status "$verb" --other)"
    [ "$(status "$verb" one two)" = 2 ] || fail "$verb one two: status $(status "$verb" one two)"
done
[ "$(status queues -r)" = 2 ] || fail "queues -r: status $(status queues -r)"
[ "$(status explain)" = 2 ] || fail "explain: status $(status explain)"
[ "$(status explain --resource gpu f1)" = 2 ] || fail "explain --resource: status $(status explain --resource gpu f1)"
[ "$(status queues)" = 1 ] || fail "queues without an instance: status $(status queues)"
[ "$(wc -l <err)" -eq 1 ] || fail "queues without an instance: $(cat err)"

# bash: what a line's last word may become, with flux's own completion read before, as in a login shell, or without one
complete_line() { # LINE
    # shellcheck disable=SC2016 # words of bash
    bash --norc -c '[ -z "$2" ] || . "$2"
        . "$1/completion/flux-berth"
        . "$1/completion/flux-berth" # read twice, it is the same
        line=$3
        read -r -a COMP_WORDS <<<"$line"
        [[ $line == *" " ]] && COMP_WORDS+=("")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        COMP_LINE=$line COMP_POINT=${#line}
        set -- flux "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        $(complete -p flux | sed "s/.* -F \([^ ]*\).*/\1/") "$@"
        printf "%s\n" "${COMPREPLY[@]}"' bash "$BERTH_SOURCE" "$others" "$1" 2>err | sed 's/ *$//' | LC_ALL=C sort -u | tr '\n' ' ' |
        sed 's/^ *//; s/ *$//'
    [ ! -s err ] || fail "$1: $(cat err)"
}
expect_words() { # LINE WORDS
    got=$(complete_line "$1")
    [ "$got" = "$2" ] || fail "'$1' is completed to '$got', expected '$2'"
}
touch notes.json
installed=$FLUX/share/bash-completion/completions/flux
for others in '' "$installed"; do
    [ -z "$others" ] || [ -f "$others" ] || continue
    complete_line 'flux bert' | grep -qw berth || fail "'flux bert' is completed to '$(complete_line 'flux bert')'"
    expect_words 'flux berth ' "--help -h $(tr '\n' ' ' <usage.verbs | sed 's/ $//')"
    expect_words 'flux berth expl' explain
    expect_words 'flux berth explain -' '--help --json -h'
    expect_words 'flux berth queues --' '--help --json --resource'
    expect_words 'flux berth shares -r g' gpu
    expect_words 'flux berth shares ' ''
    expect_words 'flux berth what-if note' notes.json
    expect_words 'flux berth what-if --json note' notes.json
done
[ ! -f "$installed" ] || expect_words 'flux surv' ''
[ ! -f "$installed" ] || complete_line 'flux jo' | grep -qw jobs || fail "flux's own words: $(complete_line 'flux jo')"
finish
