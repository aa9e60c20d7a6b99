/*
 * Tables of cases in files (tests/golden/vectors), and bytes written as hexadecimal.
 */
#ifndef TESTS_UNIT_VECTORS_H
#define TESTS_UNIT_VECTORS_H

#include "tests/unit/unit.h"

#include "src/base/buf.h"
#include "src/base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* hex as bytes, in place of what was in out. */
static inline struct str unhex(struct buf *out, const char *hex)
{
    buf_clear(out);
    buf_append(out, STR(""));
    for (; hex[0] != '\0' && hex[1] != '\0'; hex += 2) {
        const char pair[] = {hex[0], hex[1], '\0'};

        buf_append_char(out, (char)strtoul(pair, NULL, 16));
    }
    return buf_str(out);
}

/* Calls check with the tab-separated fields of each line but the first; the number of lines. */
static inline size_t for_each_vector(const char *file, void (*check)(char **fields))
{
    const char *top = getenv("top_srcdir");
    char path[1024], line[4096];
    size_t n = 0;
    FILE *f;

    snprintf(path, sizeof(path), "%s/tests/golden/vectors/%s", top != NULL ? top : ".", file);
    f = fopen(path, "r");
    if (f == NULL)
        fail_msg("%s cannot be read", path);
    while (fgets(line, sizeof(line), f) != NULL) {
        char *fields[8] = {0}, *p = line;

        line[strcspn(line, "\n")] = '\0';
        for (size_t i = 0; i < 7 && p != NULL; i++)
            fields[i] = strsep(&p, "\t");
        if (n++ > 0)
            check(fields);
    }
    fclose(f);
    return n;
}

#endif
