#!/bin/sh
# Fail if a struct tag stands for two things: whoever searches for it finds one.  Tests may use a
# name again.  Listed are the tags that stand for one thing in two builds, each with its files.
set -eu
cd "${top_srcdir:-.}"

twice='wire: sync/source/transport/libmariadb.c sync/source/transport/libmysqlclient.c'

find src sync rebalance intake shingle web sql -name '*.[ch]' | sort | xargs awk -v twice="$twice" '
    /^struct [a-z0-9_]+ \{/ { n[$2]++; files[$2] = files[$2] " " FILENAME }
    END {
        for (tag in n)
            if (n[tag] > 1 && tag ":" files[tag] != twice) {
                print "struct " tag " stands for two things:" files[tag] "; rename one of them"
                bad = 1
            }
        exit bad
    }
'
