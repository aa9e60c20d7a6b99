#!/bin/sh
# The manual page is that of the command table, each command has its help, and the tests that
# docs/binlog.md and docs/reliability.md name exist, as does each file that any page links to or
# names.  Prose is wrapped at 100 columns.
set -eu
program=${top_builddir:-.}/millrace
bad=0

stale() {
    echo "$1 is stale: make update-docs"
    bad=1
}
"$program" manual | cmp -s - "${top_srcdir:-.}/docs/man/millrace.1" || stale docs/man/millrace.1

# The commands as --help lists them: indented by two, up to the first argument or gap.
commands=$("$program" --help | sed -n 's/^  \([a-z][a-z-]*\( [a-z][a-z-]*\)*\)\( [A-Z[].*\|  .*\)$/\1/p')
manual=$("$program" manual | sed 's/\\-/-/g')
count=0
IFS='
'
for command in $commands; do
    IFS=' '
    # The words of the command.
    # shellcheck disable=SC2086
    help=$("$program" $command --help) || { echo "$command --help fails"; bad=1; }
    case $help in
        "usage: millrace $command"*) ;;
        *) echo "$command --help says: $help"; bad=1 ;;
    esac
    case $manual in
        *".SS \"millrace $command\""* | *".SS \"millrace $command "*) ;;
        *) echo "$command is not in the manual page"; bad=1 ;;
    esac
    count=$((count + 1))
    IFS='
'
done
# The tests that these pages name.
IFS=' '
pages="${top_srcdir:-.}/docs/binlog.md ${top_srcdir:-.}/docs/reliability.md"
# shellcheck disable=SC2086 # words
named=$(grep -oh '`[a-z_]*: [a-z0-9_]*`' $pages | tr -d '` ' | sort -u)
IFS='
'
for test in $named; do
    cat "${top_srcdir:-.}"/tests/*/test_"${test%%:*}".c "${top_srcdir:-.}"/tests/*/"${test%%:*}".c 2>/dev/null |
        grep -qE "^(static void )?${test#*:}\(void" || { echo "a page names $test, which is no test"; bad=1; }
done
# And those of the integration tests.
# shellcheck disable=SC2086 # words
IFS=' '
live=$(grep -oh '`[a-z_]*\.[A-Za-z0-9]*_[A-Za-z0-9_]*`' $pages | tr -d '`' | sort -u)
IFS='
'
[ -f "${top_srcdir:-.}/tests/integration/run.py" ] || live= # a release does not have them
for test in $live; do
    grep -q "^def test_${test#*.}(w)" "${top_srcdir:-.}/tests/integration/test_${test%%.*}.py" ||
        { echo "a page names $test, which is no test"; bad=1; }
done
# What pages link to, but for other sites and places in the same page.  A release has not all pages.
linking() {
    cd "${top_srcdir:-.}"
    [ ! -f docs/STYLE.md ] || ls README.md CONTRIBUTING.md docs/*.md docs/adr/*.md
}
for page in $(linking); do
    page=${top_srcdir:-.}/$page
    for link in $(grep -o ']([^)#]*[)#]' "$page" | sed 's/^](//; s/[)#]$//' | grep -v '^http' | sort -u); do
        [ -e "$(dirname "$page")/$link" ] || { echo "$page: no $link"; bad=1; }
    done
done
# Bytes, not columns, so that a few other letters have room; no tables, code, forms.
for page in $(linking); do
    awk -v page="$page" '/^```/ { code = !code } code || /^(\||    |`\{|!\[)/ { next }
        length($0) > 104 { print page ":" FNR ": longer than 100 columns: wrap it"; bad = 1 }
        END { exit bad }' "${top_srcdir:-.}/$page" || bad=1
done
# The paths that pages name in backticks, but for folders of runs and patterns such as test_FILE.c.
for path in $(cd "${top_srcdir:-.}" && IFS=' ' && [ -f docs/STYLE.md ] &&
    grep -ohE '`(src|sync|rebalance|web|sql|tests|tools|packaging|intake|shingle|docs)/[a-z0-9_./-]*`' \
        README.md CONTRIBUTING.md SECURITY.md docs/*.md docs/adr/*.md | tr -d '`' |
    grep -v '^tests/run/' | sort -u); do
    [ -e "${top_srcdir:-.}/$path" ] || { echo "a page names $path, which does not exist"; bad=1; }
done
[ -n "$named" ] || { echo "docs/binlog.md names no test"; bad=1; }
[ "$count" -ge 30 ] || { echo "only $count commands found"; bad=1; }
exit $bad
