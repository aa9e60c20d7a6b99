/*
 * The doctor's list of checks: what was checked, the result, and how to repair what is not
 * well.
 *
 * Checks of any kind add to it; rebalance/doctor/mysql.h has those of MySQL. The list copies
 * everything into its arena. A check that is not ok says why that matters and how to repair it:
 * the statement to run or the setting to change, ready to be copied.
 *
 * @thread one at a time
 */
#ifndef REBALANCE_DOCTOR_DOCTOR_H
#define REBALANCE_DOCTOR_DOCTOR_H

#include "src/base/base.h"
#include "src/base/str.h"

#include <stddef.h>

struct arena;
struct json_writer;
struct problem;

enum doctor_status {
    DOCTOR_OK = 0,
    DOCTOR_WARN, /* works, with a drawback */
    DOCTOR_FAIL, /* does not work */
};

/* What it means for a user that one of these is away. */
#define DOCTOR_WHY_SEARCH "nothing can be indexed; changes wait and nothing is lost"
#define DOCTOR_WHY_RED    "documents of red shards cannot be written"
#define DOCTOR_WHY_STORE  "positions cannot be stored, so after a restart work is repeated"
#define DOCTOR_WHY_LETTERS                                                               \
    "the search engine refused these documents: searches find the previous version, or " \
    "nothing"
#define DOCTOR_WHY_LETTERS_FULL                                                            \
    "the store takes no more of them (dead_letters.max), so Millrace holds indexes whose " \
    "documents are refused"
#define DOCTOR_FIX_SEARCH                                                    \
    "start it, or correct search.url, search.user and search.password_file " \
    "in the configuration"
#define DOCTOR_FIX_SEARCH_HANGS \
    "find out why the cluster hangs, or correct search.url in the configuration"
#define DOCTOR_FIX_STORE "free disk space, or repair the store's server"
#define DOCTOR_FIX_STORE_HANGS \
    "find out why the store's server, or the disk of the data folder, hangs"
#define DOCTOR_FIX_RED "GET _cluster/allocation/explain says why a shard is missing"

/* A name or number of a finding, for programs that say it in another language. */
struct doctor_value {
    const char *name; /* NULL: none */
    struct str text;  /* its pointer is NULL: the number counts */
    double number;
};

#define DOCTOR_VALUES 4

struct doctor_check {
    struct str id;    /* the check's name for programs: "mysql.binlog_format" */
    struct str code;  /* the finding's: "topic.runs.paused"; empty: ID.ok if ok, else the id */
    struct str group; /* whom it concerns: "topic shop", "table shop.orders" */
    enum doctor_status status;
    struct str message; /* the finding */
    struct str why;     /* why that matters; empty when ok */
    struct str fix;     /* empty when ok */
    struct str since;   /* when that began, in RFC 3339; empty: not known, or ok */
    struct doctor_value values[DOCTOR_VALUES];
};

struct doctor_list {
    struct arena *arena; /* borrowed */
    struct doctor_check *checks;
    size_t n, cap;
};

void doctor_init(struct doctor_list *l, struct arena *a);

void doctor_add(struct doctor_list *l, const struct doctor_check *c);
/* Add what is wrong with the definition of a table. */
void doctor_add_problem(struct doctor_list *l, struct str table, const struct problem *p);

/* Returns the worst status of all checks; DOCTOR_OK for an empty list. */
enum doctor_status doctor_worst(const struct doctor_list *l);

/* "ok", "warn", "fail" */
const char *doctor_status_name(enum doctor_status status);

/*
 * Write an array of {"id","code","values","group","status","message"} and, if not ok, "why",
 * "fix", "since".
 */
void doctor_write(const struct doctor_list *l, struct json_writer *w);

#endif
