#!/bin/sh
# The program is built so that a fault in memory is hard to use: its copies are checked, its
# addresses are fixed before it begins, no stack can be executed.
set -eu
program=${top_builddir:-.}/millrace
bad=0

command -v readelf > /dev/null || exit 77
has() { # WHAT OPTION PATTERN
    readelf -W "$2" "$program" | grep -q "$3" || { echo "the program has no $1"; bad=1; }
}
has 'address of its own choice (PIE)' -h 'DYN'
has 'read-only relocations' -l 'GNU_RELRO'
has 'binding at its start (-z now)' -d 'NOW'
has 'stack without execution' -l 'GNU_STACK .* RW '
readelf -W -s "$program" | grep -q '__asan_init\|__tsan_init' && exit $bad # they check copies themselves
case " $CFLAGS " in
    *" -O0 "*) ;;
    *) has 'checked copies (_FORTIFY_SOURCE)' -s '__[a-z]*_chk@' ;;
esac
# What the processor checks takes the start files of the C library, too: of ours all have it.
case $(uname -m) in
    x86_64)
        program=${top_builddir:-.}/src/main.o
        has 'checked jumps and returns (CET)' -n 'IBT, SHSTK'
        ;;
esac
exit $bad
