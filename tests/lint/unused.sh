#!/bin/sh
# Every public function and table is used by another file, or by a test.  Those of one file are
# static, those of none are removed.
set -eu
builddir=$(cd "${top_builddir:-.}" && pwd)
cd "${top_srcdir:-.}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

find src sync rebalance shingle intake web -name '*.c' 2> /dev/null | sed 's/\.c$/.o/' |
    while read -r object; do
        [ ! -e "$builddir/$object" ] || echo "$object"
    done > "$work/objects"
(cd "$builddir" && xargs nm -A -P -g < "$work/objects") > "$work/symbols"
[ -s "$work/symbols" ] || { echo "no objects in $builddir"; exit 1; }
find tests -name '*.[ch]' -exec cat {} + | tr -cs 'A-Za-z0-9_' '\n' | sort -u > "$work/tests"

# form_relation and form_column: tables that name one another, and so cannot be static.
awk '
    FILENAME ~ /\/tests$/ { used[$1] = 1; next }
    $3 == "U" || $3 == "w" { used[$2] = 1; next }
    $3 ~ /^[TDBR]$/ { sub(/\.o:$/, ".c", $1); home[$2] = $1 }
    END {
        for (name in home)
            if (!(name in used) && name !~ /^(__.*|main|form_relation|form_column)$/) {
                print home[name] ": " name " is public, and no other file uses it: make it static, or remove it"
                bad = 1
            }
        exit bad
    }' "$work/tests" "$work/symbols"
