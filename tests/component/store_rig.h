/*
 * What tests of the store stand on: one that is empty at the start of each test, in SQLite or
 * in MySQL, as the program was called (sqlite or mysql).
 */
#ifndef TESTS_COMPONENT_STORE_RIG_H
#define TESTS_COMPONENT_STORE_RIG_H

#include "tests/component/server.h"

#include "src/base/arena.h"
#include "src/base/err.h"
#include "src/store/store.h"

#include <stdbool.h>
#include <stddef.h>

/* Of the test that runs. */
struct store_rig {
    struct store *s;
    struct arena *a;
    struct err err;
};
extern struct store_rig f;
extern bool on_mysql;
extern char store_path[64]; /* of SQLite's file */

/* Runs those of the kind that the program was called with; the exit status. */
int store_rig_run(int argc, char **argv, const struct CMUnitTest *sqlite, size_t n_sqlite,
                  const struct CMUnitTest *mysql, size_t n_mysql);
#define STORE_TEST(name) \
    cmocka_unit_test_setup_teardown(name, store_rig_set_up, store_rig_tear_down)
int store_rig_set_up(void **state);
int store_rig_tear_down(void **state);

/* Another one beside f.s. */
bool open_store(struct store **s, struct err *err);
void close_store(void); /* f.s */
void reopen(void);
/* The store is closed; whatever it held is gone. */
void remove_store(void);
/* Run SQL beside the store, which is closed where it is SQLite's. */
void sql_beside(const char *sql);

void ok(bool done);
void refused(bool done, enum err_kind kind);
void same(struct str a, struct str b);

/* Bytes that a careless layer would lose: quotes, NUL, bad UTF-8, spaces at the end. */
#define ODD STR("it's \\ \"odd\" \0 \xff \xf0\x9f\x90\xac  ")

struct stored_checkpoint some_checkpoint(uint64_t offset);
struct stored_dead_letter some_letter(const char *id);
struct tombstone_filter all_of(struct str index);
size_t count_tombstones(void);

#endif
