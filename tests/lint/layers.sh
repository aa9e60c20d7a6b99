#!/bin/sh
# Fail if any source includes a project header that docs/layers.txt places
# below it, or is missing from docs/layers.txt.
set -eu
cd "${top_srcdir:-.}"

find src sync rebalance shingle intake web -name '*.[ch]' 2>/dev/null | sort | xargs awk '
    function stem(p) { sub(/\.([ch]|def)$/, "", p); return p }
    BEGIN {
        while ((getline line < "docs/layers.txt") > 0)
            if (line !~ /^[ \t]*(#|$)/)
                rank[line] = ++n
    }
    FNR == 1 {
        self = stem(FILENAME)
        if (!(self in rank)) { print FILENAME ": not listed in docs/layers.txt"; bad = 1 }
    }
    /^[ \t]*#[ \t]*include[ \t]+"/ {
        split($0, part, "\"")
        if (part[2] == "config.h") next
        used = stem(part[2])
        if (!(used in rank)) {
            print FILENAME ":" FNR ": include by path from the top: " part[2]; bad = 1
        } else if (used != self && rank[used] >= rank[self]) {
            print FILENAME ":" FNR ": " self " may not include " used; bad = 1
        }
    }
    END { exit bad }
'
