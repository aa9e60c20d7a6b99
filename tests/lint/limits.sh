#!/bin/sh
# No function is longer than 60 lines, its braces included, no source file longer than 600, no folder
# has more than 25 .c files (docs/STYLE.md, rules 2, 3 and 5), and no header of the coordinator's parts
# is longer than 100 lines, but for those that only the files of one folder include.  clang-format puts
# the braces of a function, and nothing else, into the first column.
set -eu
cd "${top_srcdir:-.}"

rooms=$(ls -d src sync rebalance intake shingle web 2> /dev/null) || : # a release has no empty rooms
# shellcheck disable=SC2086 # words, here and below
find $rooms -name '*.c' | sed 's#/[^/]*$##' | sort | uniq -c | awk '
    $1 > 25 { print $2 ": " $1 " .c files, more than 25: make a folder of what belongs together"; bad = 1 }
    END { exit bad }'
find rebalance -name '*.h' | sort | xargs grep -LiE 'files of rebalance/[a-z_]* include this' | xargs awk '
    FNR == 101 { print FILENAME ": more than 100 lines: divide the part, each with its header"; bad = 1 }
    END { exit bad }'

find $rooms -name '*.[ch]' | sort | xargs awk '
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
