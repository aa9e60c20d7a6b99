#include "config.h"

#include "sync/load/load_run.h"

#include "src/base/arena.h"
#include "src/base/failpoint.h"
#include "src/mysql/mysql.h"
#include "sync/checkpoint/read_position.h"
#include "sync/document/loader.h"
#include "sync/position/position.h"
#include "sync/read/access_denied.h"
#include "sync/read/links.h"
#include "sync/related/cascade/cascades.h"
#include "sync/routing/routing.h"
#include "sync/server/known_server.h"
#include "sync/server/server_info.h"

#include <stdlib.h>

/*
 * A document that cannot be built becomes a dead letter at its own place and leaves any other.
 */
static void fill_item(struct load_item *item, const struct loaded *from, uint64_t stamp)
{
    item->left = from->left;
    item->stamp = stamp;
    item->elsewhere = from->placed && !str_equal(from->routing, item->routing);
    item->other = from->routing;
    item->found = from->body.ptr != NULL && !item->elsewhere;
    item->body = item->found ? from->body : (struct str){0};
    if (from->err != NULL && !item->elsewhere) {
        item->failed = true;
        item->err = *from->err;
    }
}

/* Of a document read in every shard, count only the first. */
static bool is_counted(const struct target *t, const struct load_item *item)
{
    for (size_t i = 1; i < t->n_shards; i++)
        if (str_equal(t->shards[i], item->routing))
            return false;
    return true;
}

static bool log_end_at(const struct load_run_options *opt, struct mysql_conn *conn,
                       uint64_t *version, struct err *err)
{
    const uint64_t epoch = read_position_version(opt->reader) >> 53;
    struct log_end end;

    if (!server_log_end(conn, &end, err))
        return false;
    free(end.gtids);
    return position_version((struct position){str_from(end.file), end.offset}, epoch, version,
                            err);
}

/* The end of the followed log after a read: a replica cannot show anything beyond it. */
static bool log_end_after(const struct load_run_options *opt, const struct read_link *l,
                          uint64_t *version, struct err *err)
{
    struct mysql_options at = opt->server->options;
    struct mysql_conn *conn = NULL;

    at.group = l->opt.group;
    if (!l->replica && l->conn != NULL)
        return log_end_at(opt, l->conn, version, err);

    const bool ok =
        known_server_open(opt->known, &at, &conn, err) && log_end_at(opt, conn, version, err);

    mysql_conn_close(conn);
    return ok;
}

/* The log may omit other rows deleted along with a row (sync/related/cascade/cascades.h). */
static bool keep_gone(const struct load_run_options *opt, struct read_links *l,
                      struct load_batch *b, struct err *err)
{
    bool any = false;

    if (b->area > 0 || !cascades_lead_on(opt->cascades, b->target))
        return true;
    for (size_t i = 0; i < b->n_items; i++) {
        struct load_item *item = &b->items[i];

        item->stays = !item->found && !item->elsewhere && !item->failed && !item->left;
        any = any || item->stays;
    }
    return !any || log_end_after(opt, &l->own, &b->log_end, err);
}

/* The items to read now. */
struct load_part {
    struct load_item **items;
    struct str *keys; /* their keys */
    size_t n;
    uint64_t at_least; /* the position that the read must include for all of them */
};

static bool load_keys(struct mysql_conn *const *of, struct load_batch *b,
                      const struct load_part *part, struct loaded *out, struct err *err)
{
    struct loader_keys keys = {
        .keys = part->keys, .n = part->n, .area = b->area, .bytes_max = LOAD_BYTES};

    if (!loader_load(of, ((struct reading *)b->target->plan)->plan, &keys, b->arena, out, err))
        return false;
    b->bytes += keys.bytes;
    return true;
}

size_t load_run_put_off(struct load_batch *b, uint64_t read)
{
    size_t n = 0;

    for (size_t i = 0; i < b->n_items; i++) {
        struct load_item *item = &b->items[i];

        if (item->at_least <= read + READ_POSITION_GAP)
            continue;
        item->ahead = item->failed = true;
        err_set(&item->err, ERR_RETRY,
                "the stream has not reached the position that the read must include");
        n++;
    }
    return n;
}

/* Items that the stream has not reached wait, without delaying the others. */
static struct load_part part_to_read(const struct load_run_options *opt, struct load_batch *b)
{
    struct load_part part = {.items = arena_alloc(b->arena, b->n_items, sizeof(*part.items)),
                             .keys = arena_alloc(b->arena, b->n_items, sizeof(*part.keys))};

    (void)load_run_put_off(b, read_position_version(opt->reader));
    for (size_t i = 0; i < b->n_items; i++) {
        struct load_item *item = &b->items[i];

        if (item->ahead)
            continue;
        part.keys[part.n] = item->key;
        part.items[part.n++] = item;
        if (item->at_least > part.at_least)
            part.at_least = item->at_least;
    }
    return part;
}

/* Load all from one read. */
static bool load_at_once(const struct load_run_options *opt, struct read_links *l,
                         struct load_batch *b, const struct load_part *part, struct err *err)
{
    struct loaded *out = arena_alloc(b->arena, part->n, sizeof(*out));
    struct err ignored = {0};
    uint64_t stamp;

    if (!read_links_open(l, b->target->plan, part->at_least, &stamp, err))
        return false;

    const bool read = load_keys(l->conns, b, part, out, err);

    /* A missing right concerns a table, not one of its documents: all of them wait for it. */
    if (!read && mysql_err_is_denial(err)) {
        access_denied_explain(((struct reading *)b->target->plan)->plan, l->conns, err);
        err->kind = ERR_RETRY;
    }
    if (!read_links_end(l, read ? err : &ignored)) {
        read_links_close(l);
        return false;
    }
    for (size_t i = 0; read && i < part->n; i++) {
        fill_item(part->items[i], &out[i], stamp);
        if (out[i].rootless && is_counted(b->target, part->items[i]))
            __atomic_add_fetch(opt->rootless, 1, __ATOMIC_RELAXED);
    }
    return read;
}

static struct load_part cut(const struct load_part *part, size_t from, size_t n)
{
    return (struct load_part){part->items + from, part->keys + from, n, part->at_least};
}

static void leave(const struct load_part *part)
{
    for (size_t i = 0; i < part->n; i++)
        part->items[i]->left = true;
}

/*
 * The server may refuse a read because of a single row (a condition or a size limit): spare the
 * others.  Or they did not fit into memory: then the first half may take all there is.
 */
static bool load_apart(const struct load_run_options *opt, struct read_links *l,
                       struct load_batch *b, const struct load_part *part, struct err *err)
{
    if (load_at_once(opt, l, b, part, err))
        return true;
    if (err->kind != ERR_REJECT)
        return false;
    if (part->n > 1) {
        const struct load_part first = cut(part, 0, part->n / 2),
                               second = cut(part, first.n, part->n - first.n);

        if (!load_apart(opt, l, b, &first, err))
            return false;
        if (b->bytes <= LOAD_BYTES / 2)
            return load_apart(opt, l, b, &second, err);
        leave(&second);
        return true;
    }
    part->items[0]->failed = true;
    part->items[0]->err = *err;
    return true;
}

bool load_run(const struct load_run_options *opt, struct read_links *l, struct load_batch *b,
              struct err *err)
{
    const struct load_part part = part_to_read(opt, b);

    if (part.n == 0)
        return true;
    if (!load_apart(opt, l, b, &part, err))
        return false;
    FAILPOINT(keys_loaded);
    if (keep_gone(opt, l, b, err))
        return true;
    if (err->kind == ERR_REJECT) /* the error says nothing about the documents */
        err->kind = ERR_RETRY;
    return false;
}

size_t load_run_count(const struct load_batch *b)
{
    size_t n = 0;

    for (size_t i = 0; i < b->n_items; i++)
        n += !b->items[i].left;
    return n;
}

void load_run_fail(struct load_batch *b, const struct err *why)
{
    for (size_t i = 0; i < b->n_items; i++) {
        b->items[i].left = false;
        b->items[i].failed = true;
        b->items[i].err = *why;
    }
}
