# Puts the heads of options into the manual page of a verb.
#
# usage: berth help --options VERB | awk -f options.awk - berth-VERB.1
#
# In OPTIONS, ".It --name" stands for the head of an option, with its letter and argument; ".It --one --two" for two
# that a paragraph is about. Fails where the page lacks an option of the verb, or has one that the verb has not.

BEGIN { FS = "\t" }

# The rows: letter, name, argument, what completes it, and of which other verb it is.
FNR == NR {
    if ($2 != "") {
        known[$2] = 1
        letter[$2] = $1
        argument[$2] = $3
        other[$2] = $5
    }
    next
}

/^\.Sh / { inside = $0 ~ /^\.Sh OPTIONS/ }

inside && /^\.It --/ {
    n = split(substr($0, 5), names, " ")
    line = ".It"
    for (i = 1; i <= n; i++) {
        name = substr(names[i], 3)
        if (!(name in known) || other[name] != "")
            refuse("--" name " is no option of this verb")
        if (name in seen)
            refuse("--" name " comes again")
        seen[name] = 1
        line = line (i > 1 ? " ," : "") head(name)
    }
    print line
    next
}

{ print }

END {
    for (name in known)
        if (!failed && other[name] == "" && !(name in seen))
            refuse("OPTIONS lacks --" name)
    exit failed
}

function refuse(what) {
    print FILENAME ": " what >"/dev/stderr"
    failed = 1
    exit 1
}

function head(name) {
    return (letter[name] != "" ? " Fl " letter[name] " ," : "") " Fl -" name arguments(argument[name])
}

# "FILE[:FORMAT]" becomes " Ar file Ns Oo : Ns Ar format Oc"; words in small letters are meant as they are.
function arguments(text,    out, kind, last, token, glue) {
    glue = ""
    while (text != "") {
        if (match(text, /^[A-Z]+(\.[a-z]+)*/))
            kind = "Ar"
        else if (match(text, /^[a-z.][a-z.-]*/))
            kind = "Cm"
        else {
            match(text, /^./)
            kind = ""
        }
        token = substr(text, 1, RLENGTH)
        text = substr(text, RLENGTH + 1)
        if (token == "|") {
            out = out " |"
            glue = ""
            continue
        }
        if (token == "]") {
            out = out " Oc"
            glue = " Ns"
            continue
        }
        if (token != ":") # mdoc puts no blank before that
            out = out glue
        if (token == "[") {
            out = out " Oo"
            glue = ""
            continue
        }
        if (kind == "Ar")
            token = tolower(token)
        out = out (kind != "" && kind != last || glue != "" && kind != "" ? " " kind : "") " " token
        last = kind
        glue = " Ns"
    }
    return out
}
