#include "config.h"

#include "src/store/followed.h"

#include <assert.h>
#include <string.h>

/* What is written often, or concerns only a topic's owner, must not make every node load. */
static const struct {
    const char *name;
    bool is_followed;
} tables[] = {
    {"audit", false},
    {"build_log", false},
    {"change_count", false},
    {"checkpoint", false},
    {"dead_letter", false},
    {"definition", true},
    {"dropped_version", false},
    {"fan_out", false},
    {"gone", false},
    {"index_counter", false},
    {"index_version", true},
    {"job", false},
    {"kept_search", false},
    {"purged", false},
    {"rebuild", true},
    {"midnight", false},
    {"snapshot", false},
    {"snapshot_lead", false},
    {"snapshot_run", false},
    {"sync_log", false},
    {"table_stop", true},
    {"term", false},
    {"told_node", false},
    {"told_topic", false},
    {"tombstone", false},
    {"version_shape", false},
    {"version_wait", true},
    {"wish", false},
    {"word", false},
    {"word_list", false},
    {"setting", false} /* but those below */,
};

/* Small values begin with one of these. */
static const char *const names[] = {
    "access/",      /* users and tokens */
    "definitions/", /* revision */
    "delivery/",    /* settings at run time */
    "pause/",       /* of topics and tables */
    "pending/",     /* definitions that no index follows yet */
};

static struct str table_of(const char *sql)
{
    static const char *const verbs[] = {"INSERT INTO ", "UPDATE ", "DELETE FROM "};

    for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
        const size_t len = strlen(verbs[i]);

        if (strncmp(sql, verbs[i], len) == 0)
            return (struct str){sql + len, strcspn(sql + len, " ")};
    }
    return (struct str){NULL, 0};
}

static bool is_followed_value(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const size_t len = strlen(names[i]);

        if (name.len >= len && memcmp(name.ptr, names[i], len) == 0)
            return true;
    }
    return false;
}

bool followed_is_written(const char *sql, struct binds binds)
{
    const struct str table = table_of(sql);
    size_t i = 0;

    while (i < ARRAY_LEN(tables) && !str_equal(table, str_from(tables[i].name)))
        i++;
    assert(i < ARRAY_LEN(tables));
    if (str_equal(table, STR("setting")))
        return binds.n > 0 && is_followed_value(binds.items[0].text);
    return tables[i].is_followed;
}
