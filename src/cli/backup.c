#include "config.h"

#include "src/cli/commands.h"

#include "rebalance/state/state.h"
#include "src/app/app.h"
#include "src/app/service.h"
#include "src/base/arena.h"
#include "src/base/clock.h"
#include "src/base/human.h"
#include "src/base/mem.h"
#include "src/cli/session.h"
#include "src/cli/settings.h"
#include "src/config/configuration.h"
#include "src/config/setting.h"
#include "src/config/store_address.h"
#include "src/file/draft_file.h"
#include "src/format/json.h"
#include "src/store/sqlite_copy.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* One run of the command. */
struct backup {
    const struct invocation *inv;
    const char *file; /* as on the command line */
    const struct configuration *c;
    struct buf store;
    struct sqlite_copy copy;
    uint64_t bytes;
    int64_t began_ms, took_ms;
};

/* ---- whether it may be ---- */

/* A store in MySQL is copied by its own server's tools. */
static bool is_in_sqlite(const struct backup *b, struct err *err)
{
    const char *store = configuration_settings(b->c)->store;
    struct store_address a;
    struct buf fix = {0};

    if (strcmp(store, "sqlite") == 0)
        return true;
    if (!store_address_parse(&a, store, err))
        return false;
    buf_append(&fix, STR("mysqldump --single-transaction --no-tablespaces --hex-blob -h "));
    buf_append_word(&fix, str_from(a.host));
    buf_printf(&fix, " -P %u -u ", (unsigned)a.port);
    buf_append_word(&fix, str_from(a.user));
    buf_append(&fix, STR(" -p "));
    buf_append_word(&fix, str_from(a.database));
    buf_append(&fix, STR(" > "));
    buf_append_word(&fix, str_from(b->file));
    store_address_free(&a);
    err_set(err, ERR_REJECT, "the store is in MySQL, and backup copies one in SQLite; fix: %s",
            fix.ptr);
    buf_free(&fix);
    return false;
}

/* Whoever names a file of the daemon's by mistake would lose it, by --force. */
static bool is_outside_data(const struct backup *b, struct err *err)
{
    const char *data = configuration_settings(b->c)->data;
    char *copy = mem_copy(b->file);
    struct stat folder, ours;
    const bool is_inside = stat(dirname(copy), &folder) == 0 && stat(data, &ours) == 0 &&
                           folder.st_dev == ours.st_dev && folder.st_ino == ours.st_ino;

    free(copy);
    return !is_inside || err_set(err, ERR_REJECT,
                                 "%s is in the data folder, which goes with the store when it "
                                 "is lost; fix: name another folder",
                                 b->file);
}

static bool exists(const struct backup *b, struct err *err)
{
    return err_set(err, ERR_REJECT,
                   "%s exists already; fix: name another file, or replace it with --force",
                   b->file);
}

static bool may_be_written(const struct backup *b, struct err *err)
{
    struct stat st;

    if (!is_outside_data(b, err))
        return false;
    if (lstat(b->file, &st) != 0)
        return true; /* or the draft fails, and says why */
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_REJECT, "%s is not a file that could be replaced", b->file);
    return invocation_has(b->inv, "force") || exists(b, err);
}

/* ---- copying ---- */

static bool is_interrupted(void *ctx)
{
    (void)ctx;
    return service_stops_within(0);
}

static bool copy(struct backup *b, struct draft_file *d, struct err *err)
{
    struct stat st;

    b->copy.from = b->store.ptr;
    b->copy.to = d->draft.ptr;
    b->copy.to_fd = d->fd;
    b->copy.is_interrupted = is_interrupted;
    if (!sqlite_copy_make(&b->copy, err))
        return false;
    if (fstat(d->fd, &st) != 0)
        return err_set_code(err, ERR_REJECT, "errno", errno, "%s: %s", b->file,
                            strerror(errno));
    b->bytes = (uint64_t)st.st_size;
    return true;
}

static bool make(struct backup *b, struct err *err)
{
    const int64_t from_ms = clock_mono_ms();
    struct draft_file d;

    if (!is_in_sqlite(b, err) || !may_be_written(b, err))
        return false;
    app_store_path(&b->store, b->c);
    service_block_signals();
    b->began_ms = clock_wall_ms();
    if (!draft_file_open(&d, b->file, 0600, err))
        return false;
    if (!copy(b, &d, err)) {
        draft_file_drop(&d);
        return false;
    }
    if (!draft_file_keep(&d, invocation_has(b->inv, "force"), err))
        return err->code == EEXIST ? exists(b, err) : false;
    b->took_ms = clock_mono_ms() - from_ms;
    return true;
}

/* ---- the answer ---- */

static void write_topics(const struct backup *b, struct json_writer *w)
{
    json_write_key(w, STR("topics"));
    json_open_array(w);
    for (size_t i = 0; i < b->copy.n_topics; i++) {
        const struct copied_topic *t = &b->copy.topics[i];

        json_open_object(w);
        json_put_string(w, STR("name"), t->name);
        json_put_string(w, STR("file"), t->file);
        json_put_u64(w, STR("position"), t->offset);
        json_put_string(w, STR("gtid"), t->gtid);
        json_close_object(w);
    }
    json_close_array(w);
}

static void write_path(struct json_writer *w, const char *path)
{
    char *whole = realpath(path, NULL);

    json_write_string(w, str_from(whole != NULL ? whole : path));
    free(whole);
}

/* What a store is worth nothing without, or less. */
static void write_not_in_it(const struct backup *b, struct json_writer *w)
{
    static const char *const ours[] = {"data", "socket", "secret_file"};
    const char *file = configuration_file(b->c);
    struct buf key = {0};

    app_key_path(&key, b->c);
    json_write_key(w, STR("not_in_it"));
    json_open_array(w);
    if (file != NULL)
        write_path(w, file);
    write_path(w, key.ptr);
    for (size_t i = 0; i < n_settings; i++) {
        const char *path = settings[i].kind == SETTING_PATH
                               ? configuration_text(b->c, settings[i].name)
                               : NULL;

        for (size_t k = 0; k < ARRAY_LEN(ours); k++)
            if (strcmp(settings[i].name, ours[k]) == 0)
                path = NULL;
        if (path != NULL)
            write_path(w, path);
    }
    json_close_array(w);
    buf_free(&key);
}

static void write_answer(const struct backup *b, struct buf *json)
{
    struct json_writer w = {.out = json};

    json_open_object(&w);
    json_put_cstr(&w, STR("schema"), "millrace/backup/1");
    json_write_key(&w, STR("file"));
    write_path(&w, b->file);
    json_write_key(&w, STR("store"));
    write_path(&w, b->store.ptr);
    json_put_u64(&w, STR("bytes"), b->bytes);
    json_put_u64(&w, STR("store_version"), b->copy.version);
    coordinator_put_time(&w, STR("began"), b->began_ms);
    json_put_i64(&w, STR("took_ms"), b->took_ms);
    write_topics(b, &w);
    write_not_in_it(b, &w);
    json_close_object(&w);
}

static void view_topic(struct buf *out, struct str topic)
{
    const struct render_style plain = {0};

    buf_append(out, STR("topic "));
    render_value(out, plain, topic, "/name", RENDER_TEXT);
    buf_append(out, STR(" goes on from "));
    render_value(out, plain, topic, "/file", RENDER_TEXT);
    buf_append_char(out, ':');
    render_value(out, plain, topic, "/position", RENDER_TEXT);
    buf_append_char(out, '\n');
}

static void view_path(struct buf *out, struct str path)
{
    buf_append(out, STR("  "));
    render_value(out, (struct render_style){0}, path, "", RENDER_TEXT);
    buf_append_char(out, '\n');
}

static void view_each(struct buf *out, struct str json, const char *pointer,
                      void (*view)(struct buf *out, struct str item))
{
    struct json_reader r;
    struct str list, item;

    if (!json_find(json, pointer, &list))
        return;
    json_reader_init(&r, list);
    if (json_enter_array(&r))
        while (json_next_element(&r) && json_read_raw(&r, &item))
            view(out, item);
}

static void view_backup(struct buf *out, struct render_style style, struct str json)
{
    uint64_t took_ms = 0;

    (void)!json_find_u64(json, "/took_ms", &took_ms);
    buf_append(out, STR("wrote "));
    render_value(out, style, json, "/file", RENDER_TEXT);
    buf_append(out, STR(": "));
    render_value(out, style, json, "/bytes", RENDER_BYTES);
    buf_append(out, STR(", the store's version "));
    render_value(out, style, json, "/store_version", RENDER_TEXT);
    buf_append(out, STR(", checked, in "));
    human_seconds(out, (double)took_ms / 1000);
    buf_append_char(out, '\n');
    view_each(out, json, "/topics", view_topic);
    buf_append(out, STR("not in it, and worth keeping elsewhere:\n"));
    view_each(out, json, "/not_in_it", view_path);
    buf_append(out, STR("  the files that definitions name, and the documents\n"));
}

/* ---- the whole ---- */

static int print(const struct backup *b)
{
    struct buf json = {0};

    write_answer(b, &json);

    const int code = session_print(b->inv, buf_str(&json), view_backup);

    buf_free(&json);
    return code;
}

int command_backup(const struct invocation *inv)
{
    struct err err = {0};
    struct configuration *c = command_settings(inv, SETTINGS_FOR_PEOPLE, &err);

    if (c == NULL)
        return command_fail(&err);

    struct backup b = {
        .inv = inv, .file = inv->args[0], .c = c, .copy = {.arena = arena_new()}};
    const int code = make(&b, &err) ? print(&b) : command_fail(&err);

    buf_free(&b.store);
    arena_free(b.copy.arena);
    configuration_free(c);
    return code;
}
