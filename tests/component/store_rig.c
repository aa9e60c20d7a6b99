#include "config.h"

#include "tests/component/store_rig.h"

#include "src/store/sqlite_sum.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct store_rig f;
bool on_mysql;
char store_path[64];

static struct mysql_options store_options(void)
{
    struct mysql_options opt = server_options();

    opt.database = "millrace";
    return opt;
}

bool open_store(struct store **s, struct err *err)
{
    struct mysql_options opt;

    if (!on_mysql)
        return store_open_sqlite(s, store_path, err);
    opt = store_options();
    return store_open_mysql(s, &opt, NULL, "test", err);
}

void sql_beside(const char *sql)
{
    if (on_mysql) {
        struct mysql_conn *c = server_connect();

        server_exec(c, "USE millrace");
        server_exec(c, sql);
        mysql_conn_close(c);
        return;
    }
    sqlite3 *db;

    assert_int_equal(sqlite3_open(store_path, &db), SQLITE_OK);
    assert_int_equal(sqlite_sum_register(db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_close(db);
}

void remove_store(void)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", ".lock"};
    char name[96];

    if (on_mysql) {
        struct mysql_conn *c = server_connect();

        server_exec(c, "DROP DATABASE IF EXISTS millrace");
        server_exec(c, "CREATE DATABASE millrace CHARACTER SET latin1");
        mysql_conn_close(c);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
        snprintf(name, sizeof(name), "%s%s", store_path, suffixes[i]);
        unlink(name);
    }
}

int store_rig_set_up(void **state)
{
    (void)state;
    remove_store();
    f = (struct store_rig){.a = arena_new()};
    if (!open_store(&f.s, &f.err))
        fail_msg("%s", f.err.msg);
    return 0;
}

int store_rig_tear_down(void **state)
{
    (void)state;
    store_close(f.s);
    arena_free(f.a);
    return 0;
}

void close_store(void)
{
    store_close(f.s);
    f.s = NULL;
}

void reopen(void)
{
    close_store();
    if (!open_store(&f.s, &f.err))
        fail_msg("%s", f.err.msg);
}

void ok(bool done)
{
    if (!done)
        fail_msg("%s: %s", err_kind_name(f.err.kind), f.err.msg);
}

void refused(bool done, enum err_kind kind)
{
    assert_false(done);
    if (f.err.kind != kind)
        fail_msg("%s, not %s: %s", err_kind_name(f.err.kind), err_kind_name(kind), f.err.msg);
}

void same(struct str a, struct str b)
{
    if (!str_equal(a, b))
        fail_msg("\"%.*s\" is not \"%.*s\"", STR_ARG(a), STR_ARG(b));
}

struct stored_checkpoint some_checkpoint(uint64_t offset)
{
    return (struct stored_checkpoint){
        .topic = STR("shop"),
        .file = STR("binlog.000007"),
        .offset = offset,
        .gtid = STR("0-1-100"),
        .epoch = 3,
        .fingerprint = ODD,
        .event_ms = 1700000000123,
        .state = STR("running"),
        .reason = STR(""),
        .final_version = UINT64_C(1) << 62,
    };
}

struct tombstone_filter all_of(struct str index)
{
    return (struct tombstone_filter){.index = index};
}

struct stored_dead_letter some_letter(const char *id)
{
    return (struct stored_dead_letter){.topic = STR("shop"),
                                       .table = STR("shop.orders"),
                                       .index = STR("orders"),
                                       .doc_id = str_from(id),
                                       .routing = STR(""),
                                       .key = STR("7"),
                                       .op = STR("index"),
                                       .reason = STR("mapper_parsing_exception: bad date"),
                                       .body = ODD,
                                       .version = 99,
                                       .gtid = STR("0-1-17"),
                                       .status = 400,
                                       .attempts = 2,
                                       .first_ms = 10,
                                       .last_ms = 20};
}

size_t count_tombstones(void)
{
    struct stored_tombstone *out;
    size_t n;

    ok(store_load_tombstones(f.s, f.a, all_of(STR("orders_v1")), 1000000, &out, &n, &f.err));
    return n;
}

int store_rig_run(int argc, char **argv, const struct CMUnitTest *sqlite, size_t n_sqlite,
                  const struct CMUnitTest *mysql, size_t n_mysql)
{
    char folder[] = "/tmp/millrace-store.XXXXXX";

    on_mysql = argc > 1 && strcmp(argv[1], "mysql") == 0;
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(store_path, sizeof(store_path), "%s/millrace.db", folder);

    const int failed =
        on_mysql ? _cmocka_run_group_tests("store_mysql", mysql, n_mysql, NULL, NULL)
                 : _cmocka_run_group_tests("store_sqlite", sqlite, n_sqlite, NULL, NULL);

    if (!on_mysql)
        remove_store();
    rmdir(folder);
    return failed;
}
