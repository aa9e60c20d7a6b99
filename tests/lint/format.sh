#!/bin/sh
# Every C file is laid out as .clang-format says, and no line is longer than 96 columns, a URL or a
# name apart.  Versions of clang-format differ, so that only the one of Debian 12 is asked.
set -eu
cd "${top_srcdir:-.}"
[ -f .clang-format ] || exit 0 # a release does not have it
clang-format --version 2>/dev/null | grep -q 'version 14\.' || {
    echo "clang-format 14 is not installed"
    exit 77
}
export LC_ALL=C.UTF-8 # columns, not bytes

find src sync rebalance web tests -name '*.[ch]' | sort > "${TMPDIR:-/tmp}/format.$$"
trap 'rm -f "${TMPDIR:-/tmp}/format.$$"' EXIT
bad=0
xargs clang-format --dry-run -Werror --ferror-limit=1 < "${TMPDIR:-/tmp}/format.$$" || {
    echo "way out: make format"
    bad=1
}
long=$(xargs grep -nE '^.{97,}$' < "${TMPDIR:-/tmp}/format.$$" | grep -vE '^[^:]*:[0-9]*: +[a-z0-9_]+\)?[,;]$') || true
[ -z "$long" ] || {
    printf '%s\n' "$long" "lines longer than 96 columns: divide the text or the statement"
    bad=1
}
exit $bad
