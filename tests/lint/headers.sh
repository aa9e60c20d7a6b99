#!/bin/sh
# Fail if a header does not compile by itself: it includes what it needs.  LINT_CC is the compiler
# with its include paths.
set -eu
[ -n "${LINT_CC:-}" ] || { echo "LINT_CC is not set: run this by make check"; exit 1; }
builddir=$(cd "${top_builddir:-.}" && pwd)
cd "${top_srcdir:-.}"

headers=$(find src sync rebalance shingle intake web tests -name '*.h' 2>/dev/null | sort)
# shellcheck disable=SC2086 # words, both
$LINT_CC -include "$builddir/config.h" -I. -x c -fsyntax-only -Wall -Wextra -Werror \
    -Wno-unused-function $headers
