#!/bin/sh
# No function is longer than 60 lines, its braces included, and no source file longer than 600
# (docs/STYLE.md, rules 2 and 5), and no folder has more than 25 .c files.  clang-format puts the braces of a function, and nothing else,
# into the first column.
set -eu
cd "${top_srcdir:-.}"

crowded=$(find src sync rebalance web -name '*.c' | sed 's#/[^/]*$##' | sort | uniq -c | awk '$1 > 25 { print $2 ": " $1 " .c files, more than 25: make a folder of what belongs together" }')
[ -z "$crowded" ] || { echo "$crowded"; exit 1; }

find src sync rebalance web -name '*.[ch]' | sort | xargs awk '
    function end_of_file() {
        if (lines > 600) {
            print file ": " lines " lines, more than 600: divide it along its ideas"
            bad = 1
        }
    }
    FNR == 1 { end_of_file(); file = FILENAME; begun = 0; heading = "" }
    { lines = FNR }
    /^[A-Za-z_].*\(/ { heading = $0 }
    /^\{$/ { begun = FNR }
    /^\}$/ && begun {
        if (FNR - begun + 1 > 60) {
            print FILENAME ":" begun ": " FNR - begun + 1 " lines, more than 60: " heading
            bad = 1
        }
        begun = 0
    }
    END { end_of_file(); exit bad }
'
