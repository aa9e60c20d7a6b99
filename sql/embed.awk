# Turns the migrations NNNN_NAME.sql, given in order, into the C array of src/store/migrate.h.
# Comments and empty lines are left out, but the first line of each says whether programs that do
# not know the migration may use the store beside it, "-- shared: WHY", or not, "-- alone: WHY".
# Every program that asks knows the first 13, which say nothing.

BEGIN {
    print "/* Made from the migrations by sql/embed.awk. */"
    print "#include \"config.h\"\n"
    print "#include \"src/store/migrate.h\"\n"
    print "const struct migration migrations[] = {"
}

FNR == 1 {
    if (n > 0)
        print "    },"
    file = FILENAME
    sub(/.*\//, "", file)
    number = file
    sub(/_.*/, "", number)
    name = file
    sub(/^[0-9]+_/, "", name)
    sub(/\.sql$/, "", name)
    n++
    if (number + 0 != n) {
        print "sql: " file " should be number " n | "cat 1>&2"
        failed = 1
        exit 1
    }
    print "    {"
    if (n > 13 && !/^-- (shared|alone): ./) {
        print "sql: the first line of " file " must be \"-- shared: WHY\" or \"-- alone: WHY\"" | "cat 1>&2"
        failed = 1
        exit 1
    }
    print "        .number = " n ","
    print "        .name = \"" name "\","
    if (/^-- alone: /)
        print "        .alone = true,"
    print "        .sql ="
}

/^[ \t]*(--|$)/ { next }

{
    gsub(/\\/, "\\\\")
    gsub(/"/, "\\\"")
    print "            \"" $0 "\\n\""
}

END {
    if (failed)
        exit 1
    print "    },"
    print "};\n"
    print "const size_t n_migrations = " n ";"
}
