/*
 * Prints what json_compare() finds between pairs of texts: each line of the standard input is
 * WANTED, a tab, FOUND.  Each line of the output is a list of [KIND, PATH]; with `hashes`, true
 * if both have one hash, or false.
 *
 *     json_pairs [doubles | hashes]
 */
#include "config.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "src/format/json.h"
#include "src/format/json_difference.h"
#include "src/format/json_hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX 1000

static int compare(struct str wanted, struct str found, bool as_doubles,
                   struct json_difference *list)
{
    const struct str ours = STR("_millrace");
    struct json_comparison c = {.arena = arena_new(),
                                .ignored = &ours,
                                .n_ignored = 1,
                                .as_doubles = as_doubles,
                                .list = list,
                                .max = MAX};
    struct buf out = {0};
    struct json_writer w = {.out = &out};
    struct err err = {0};

    if (!json_compare(&c, wanted, found, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        return 1;
    }
    json_open_array(&w);
    for (size_t i = 0; i < c.n; i++) {
        json_open_array(&w);
        json_write_string(&w, str_from(json_difference_word(list[i].kind)));
        json_write_string(&w, list[i].path);
        json_close_array(&w);
    }
    json_close_array(&w);
    puts(out.ptr);
    buf_free(&out);
    arena_free(c.arena);
    return 0;
}

static int compare_hashes(struct str a, struct str b)
{
    const struct str ours = STR("_millrace");
    const struct json_hashing how = {.ignored = &ours, .n_ignored = 1};
    struct err err = {0};
    uint64_t of_a, of_b;

    if (!json_hash(&how, a, &of_a, &err) || !json_hash(&how, b, &of_b, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        return 1;
    }
    puts(of_a == of_b ? "true" : "false");
    return 0;
}

int main(int argc, char **argv)
{
    const bool as_doubles = argc > 1 && strcmp(argv[1], "doubles") == 0;
    const bool as_hashes = argc > 1 && strcmp(argv[1], "hashes") == 0;
    static struct json_difference list[MAX];
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    int rc = 0;

    while (rc == 0 && (n = getline(&line, &cap, stdin)) > 0) {
        const char *tab = memchr(line, '\t', (size_t)n);

        if (tab == NULL)
            return 2;

        const size_t at = (size_t)(tab - line);

        const struct str wanted = {line, at}, found = {tab + 1, (size_t)n - at - 1};

        rc = as_hashes ? compare_hashes(wanted, found)
                       : compare(wanted, found, as_doubles, list);
    }
    free(line);
    return rc;
}
