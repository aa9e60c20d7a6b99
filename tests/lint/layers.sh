#!/bin/sh
# Fail if a folder uses one that stands below it in docs/layers.txt, by an include or by a symbol
# that the linker resolves, or if files use one another in a ring that is not listed there.  In a
# checkout every other folder, two levels deep, has its line, too.
set -eu
builddir=$(cd "${top_builddir:-.}" && pwd)
cd "${top_srcdir:-.}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

find src sync rebalance shingle intake web -name '*.[ch]' 2> /dev/null | sort > "$work/files"
sed -n 's/\.c$/.o/p' "$work/files" | while read -r object; do
    [ ! -e "$builddir/$object" ] || echo "$object"
done > "$work/objects"
(cd "$builddir" && xargs nm -A -P -g < "$work/objects") > "$work/symbols"

# Each use of one file by another: USER USED WHAT
{
    xargs grep -HE '^[ \t]*#[ \t]*include[ \t]+"' < "$work/files" |
        awk -F'[:"]' '$3 != "config.h" { print $1, $3, "its header" }'
    awk '{ sub(/\.o:$/, ".c", $1) }
        $3 == "U" || $3 == "w" { user[++n] = $1; wants[n] = $2; next }
        { home[$2] = $1 }
        END { for (i = 1; i <= n; i++) if (wants[i] in home) print user[i], home[wants[i]], wants[i] }' \
        "$work/symbols"
} > "$work/uses"

awk -v order=docs/layers.txt -v rings="$work/rings" -v edges="$work/edges" '
    function folder(path) { sub(/\/[^\/]*$/, "", path); return path }
    function node(path) { return (path in ring) ? "ring" ring[path] : path }
    function bad(text) { print text; failed = 1 }
    BEGIN {
        while ((getline line < order) > 0) {
            n_words = split(line, word, " ")
            if (n_words == 0 || word[1] ~ /^#/)
                continue
            if (word[1] == "ring") {
                sub(/:.*/, "", line)
                n_words = split(line, word, " ")
                n_rings++
                for (i = 2; i <= n_words; i++) ring[word[i]] = n_rings
            } else if (word[1] != "beside")
                rank[word[1]] = ++n
        }
    }
    FILENAME ~ /\/files$/ {
        here[folder($1)] = 1
        if (!(folder($1) in rank) && !(folder($1) in asked))
            bad(folder($1) "/ is not in docs/layers.txt: put it behind all that it uses")
        asked[folder($1)] = 1
        next
    }
    {
        a = folder($1); b = folder($2)
        if ($2 ~ /\.h$/ && !(b in rank))
            bad($1 ": include by path from the top: " $2)
        else if (a in rank && b in rank && rank[b] > rank[a])
            bad($1 " uses " $2 " (" substr($0, length($1 $2) + 3) "), but " a " stands before " b \
                " in docs/layers.txt: move what is used down, or hand it in as a callback")
        if ($2 ~ /\.c$/ && $1 != $2) {
            print node($1), node($2) > edges
            if (($1 in ring) && node($1) == node($2)) print ring[$1], $1, $2 > rings
        }
    }
    END {
        for (d in rank) if (!(d in here)) bad("docs/layers.txt: there is no " d "/")
        exit failed
    }
' "$work/files" "$work/uses" || failed=1

if ! awk '$1 != $2' "$work/edges" | sort -u | tsort > /dev/null 2> "$work/loop"; then
    echo "These files use one another in a ring: move what they share below them, or list them in"
    echo "docs/layers.txt as 'ring FILE...: why'."
    sed -n 's/^tsort: \(.*\..\)$/    \1/p' "$work/loop"
    failed=1
fi
for ring in $(cut -d' ' -f1 "$work/rings" 2> /dev/null | sort -u); do
    if sed -n "s/^$ring //p" "$work/rings" | sort -u | tsort > /dev/null 2>&1; then
        echo "docs/layers.txt: these are no ring any more, take the line out:"
        sed -n "s/^$ring /    /p" "$work/rings"
        failed=1
    fi
done

# A release has not all folders.
if [ -e .git ]; then
    sed -n 's/^beside \([^ ]*\) .*/\1/p' docs/layers.txt | sort > "$work/listed"
    git ls-files sql intake shingle docs tests tools packaging m4 |
        sed 's#/[^/]*$##' | cut -d/ -f1,2 | sort -u > "$work/present"
    cut -d/ -f1 "$work/present" | sort -u - "$work/present" > "$work/folders"
    diff "$work/listed" "$work/folders" > "$work/difference" || {
        sed -n 's#^< \(.*\)#docs/layers.txt: there is no \1/, take its line out#p
            s#^> \(.*\)#\1/ has no line in docs/layers.txt: add "beside \1 WHAT"#p' "$work/difference"
        failed=1
    }
fi
exit ${failed:-0}
