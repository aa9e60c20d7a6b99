# Turns the migrations NNNN_NAME.sql, given in order, into the C array of src/store/migrate.h.
# Comments and empty lines are left out.

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
    print "        .number = " n ","
    print "        .name = \"" name "\","
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
