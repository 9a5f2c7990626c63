#!/bin/sh
# Makes the manual page of a verb, whose options have their heads from the program's table of them.
#
# usage: options.sh BERTH PAGE OUTPUT
set -e
verb=$(basename "$2" .1)
"$1" help --options "${verb#berth-}" >"$3.options"
awk -f "$(dirname "$0")/options.awk" "$3.options" "$2" >"$3.new" || { rm -f "$3.options" "$3.new"; exit 1; }
rm "$3.options"
mv "$3.new" "$3"
