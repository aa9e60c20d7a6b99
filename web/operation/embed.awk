# Turns forms.json and docs/definition.schema.json, given in this order, into the C array of
# operation.h: the members of one JSON object, a string for each line.  What a definition file may
# have is called definition.NAME there, and its references lead to these names.

function put(line)
{
    gsub(/["\\]/, "\\\\&", line)
    print "    \"" line "\\n\","
    n++
}

BEGIN {
    print "/* Made from the schemas by web/operation/embed.awk. */"
    print "#include \"config.h\"\n"
    print "#include \"web/operation/operation.h\"\n"
    print "const char *const operation_forms[] = {"
}

# The first line of the forms opens the object, the last one closes it.
FNR == NR { if (FNR > 2) put(held); held = $0; next }

# The last line closes "$defs" and the whole, too.
FNR == 1 { held = "" }
/^"\$defs":\{$/ { inside = 1; put(","); next }
inside {
    if (held != "")
        put(held)
    gsub(/#\/\$defs\//, "#/components/schemas/definition.")
    gsub(/"additionalProperties":false,/, "")
    sub(/^"/, "\"definition.")
    held = $0
}

END {
    sub(/\}\}$/, "", held)
    put(held)
    print "};\n"
    print "const size_t n_operation_forms = " n ";"
}
