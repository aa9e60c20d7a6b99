#!/bin/sh
# Fail if a source calls a function that cannot be used safely, and say what to use.
set -eu
cd "${top_srcdir:-.}"

find src sync rebalance shingle intake web tests -name '*.[ch]' 2>/dev/null | sort | xargs awk '
    BEGIN {
        split("strcpy strcat sprintf vsprintf gets strtok atoi atol alloca", names, " ")
        split("buf_append buf_append buf_printf buf_vprintf fgets memchr strtol strtol mem_alloc",
              better, " ")
    }
    {
        line = $0
        sub(/\/\/.*/, "", line)
        gsub(/"([^"\\]|\\.)*"/, "", line)
        for (i in names)
            if (line ~ ("(^|[^A-Za-z0-9_])" names[i] "[ \t]*\\(")) {
                print FILENAME ":" FNR ": " names[i] "() is banned, use " better[i] "()"
                bad = 1
            }
    }
    END { exit bad }
'
