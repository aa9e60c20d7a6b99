#!/bin/sh
# Building the admin page twice, in different folders, gives the same bytes; and the build refuses
# what would break in a browser: a language without a text, an index that loads from elsewhere or has
# a script in itself, a first load that is too large, and a file that a release would not have.
set -eu
builddir=$(cd "${top_builddir:-.}" && pwd)
cd "${top_srcdir:-.}"
[ -d "$builddir/web/ui/made/node_modules" ] || exit 0 # a release has the page made, and npm makes none here
work=$(mktemp -d "$builddir/page.XXXXXX")
trap 'rm -rf "$work"' EXIT
bad=0

# What local.mk names is what web/ui has here, so that only `expect` breaks something.
mkdir -p "$work/made" "$work/other/made"
cp -r "$builddir/web/ui/made/node_modules" "$work/made/"
cp -r "$work/made/node_modules" "$work/other/made/"
fresh() {
    rm -rf "$work/ui"
    mkdir "$work/ui"
    cp -r web/ui/build.mjs web/ui/src web/ui/texts "$work/ui/"
    chmod -R u+w "$work/ui"
    named=$(find "$work/ui/src" "$work/ui/texts" -type f)
}
build() { # MADE
    # shellcheck disable=SC2086 # words
    node "$work/ui/build.mjs" "$work/ui" "$1" $named 2>&1
}
refuses() { # WORDS WHAT
    if said=$(build "$work/made"); then
        echo "the build takes $2"
        bad=1
    elif ! printf '%s' "$said" | grep -qF -- "$1"; then
        echo "the build refuses $2, and does not say \"$1\": $said"
        bad=1
    fi
    fresh
}
edit() { # FILE SED-PROGRAM
    sed "$2" "$work/ui/$1" > "$work/edited" && mv "$work/edited" "$work/ui/$1"
}

fresh
build "$work/made" > /dev/null && cp "$work/made/assets.c" "$work/first.c"
build "$work/other/made" > /dev/null
cmp "$work/first.c" "$work/other/made/assets.c" || bad=1
cmp "$work/first.c" "$builddir/web/ui/made/assets.c" || bad=1

edit texts/common.json '1s/{/{"not_yet": {"en": "x", "ru": "x"},/'
refuses "texts/common.json: not_yet lacks zh" "a text that one language has not"
edit texts/common.json '1s/{/{"table.add": {"en": "x", "zh": "x", "ru": "x"},/'
refuses "table.add, which another file has" "a text that two files have"
edit src/main.js '$s/$/\nt("no.such.text");/'
refuses "asks for the text no.such.text" "a text that no file has"
edit src/index.html 's#</head>#<script>let x</script></head>#'
refuses "has a script" "a script in the index"
edit src/index.html 's#</head>#<link rel=icon href=//example.net/x></head>#'
refuses "another host" "an address of another host"
edit src/index.html 's#main\.js#app.js#'
refuses "refer to main.js exactly once" "an index that does not load the program"
head -c 120000 /dev/urandom | od -An -tx1 | tr -d ' \n' | sed 's/.*/globalThis.large = "&";/' > "$work/large"
cat "$work/large" >> "$work/ui/src/main.js"
refuses "the first load has" "a first load of 120 KB"
: > "$work/ui/src/new.js"
refuses "local.mk does not name src/new.js" "a file that local.mk does not name"
exit $bad
