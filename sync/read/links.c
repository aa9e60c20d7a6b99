#include "config.h"

#include "sync/read/links.h"

#include "src/base/mem.h"
#include "src/mysql/mysql.h"
#include "sync/checkpoint/read_position.h"
#include "sync/document/plan.h"
#include "sync/read/source_registry.h"
#include "sync/read/view.h"
#include "sync/routing/routing.h"
#include "sync/server/server_access.h"

#include <stdlib.h>
#include <string.h>

struct foreign_link {
    char *topic;
    struct registered_source source; /* references, unless zero */
    struct read_link link;
};

static struct foreign_link *link_to(struct read_links *l, struct str topic)
{
    for (size_t i = 0; i < l->n_foreign; i++)
        if (str_equal(str_from(l->foreign[i].topic), topic))
            return &l->foreign[i];
    l->foreign = mem_resize(l->foreign, l->n_foreign + 1, sizeof(*l->foreign));

    struct foreign_link *f = &l->foreign[l->n_foreign++];

    *f = (struct foreign_link){.topic = strndup(topic.ptr, topic.len)};
    return f;
}

/* The topic may have restarted with another position or server. */
static bool take_peer(struct read_links *l, struct foreign_link *f, struct err *err)
{
    struct registered_source now;

    if (l->registry == NULL || !source_registry_find(l->registry, str_from(f->topic), &now))
        return err_set(err, ERR_RETRY,
                       "topic %s, which has tables of these documents, is not running",
                       f->topic);
    if (now.reader == f->source.reader) {
        registered_source_release(&now);
        return true;
    }
    read_link_fini(&f->link);
    registered_source_release(&f->source);
    f->source = now;
    f->link = (struct read_link){.opt = {.topic = f->topic,
                                         .primary = now.server,
                                         .known = now.known,
                                         .reader = now.reader,
                                         .stop = l->own.opt.stop,
                                         .timeout_ms = l->own.opt.timeout_ms,
                                         .watchdog = l->own.opt.watchdog,
                                         .group = l->own.opt.group,
                                         .statements = l->own.opt.statements}};
    return true;
}

static bool open_foreign(struct read_links *l, struct str topic, struct mysql_conn **out,
                         struct err *err)
{
    struct foreign_link *f = link_to(l, topic);
    uint64_t ignored;

    if (!take_peer(l, f, err))
        return false;
    if (!source_registry_may_try(l->registry, topic))
        return err_set(
            err, ERR_RETRY,
            "topic %s, which has tables of these documents: its server did not answer, and "
            "Millrace will retry in a while",
            f->topic);

    const bool there = read_link_open(&f->link, f->source.server,
                                      read_position_version(f->source.reader), &ignored, err);

    source_registry_tell(l->registry, topic, there);
    if (!there)
        return err_wrap(err, "topic %s, which has tables of the documents", f->topic);
    *out = f->link.conn;
    return true;
}

static bool open_all(struct read_links *l, const struct reading *from, uint64_t at_least,
                     uint64_t *stamp, struct err *err)
{
    l->n_conns = plan_n_topics(from->plan);
    l->conns = mem_resize(l->conns, l->n_conns, sizeof(struct mysql_conn *));
    if (!read_link_open(&l->own, from->server, at_least, stamp, err))
        return false;
    l->conns[0] = l->own.conn;
    for (size_t i = 1; i < l->n_conns; i++)
        if (!open_foreign(l, plan_topic(from->plan, i), &l->conns[i], err))
            return false;
    return true;
}

/* A changed password or a locked account may be right again soon. */
static bool not_now(struct err *err)
{
    if (err->kind == ERR_REJECT)
        err->kind = ERR_RETRY;
    return false;
}

bool read_links_open(struct read_links *l, const struct reading *from, uint64_t at_least,
                     uint64_t *stamp, struct err *err)
{
    return open_all(l, from, at_least, stamp, err) || not_now(err);
}

bool read_links_end(struct read_links *l, struct err *err)
{
    for (size_t i = 0; i < l->n_conns; i++)
        if (!read_view_close(l->conns[i], err))
            return not_now(err);
    return true;
}

void read_links_close(struct read_links *l)
{
    read_link_close(&l->own);
    for (size_t i = 0; i < l->n_foreign; i++)
        read_link_close(&l->foreign[i].link);
    l->n_conns = 0;
}

void read_links_fini(struct read_links *l)
{
    read_link_fini(&l->own);
    for (size_t i = 0; i < l->n_foreign; i++) {
        read_link_fini(&l->foreign[i].link);
        registered_source_release(&l->foreign[i].source);
        free(l->foreign[i].topic);
    }
    free(l->foreign);
    free(l->conns);
    l->foreign = NULL;
    l->conns = NULL;
    l->n_foreign = l->n_conns = 0;
}
