/*
 * Indexes that are held because somebody has moved their write alias: they go on when it leads to
 * them again.
 */
#include "config.h"

#include "rebalance/node.h"

#include "src/base/clock.h"
#include "src/base/log.h"
#include "src/base/mem.h"
#include "src/json.h"
#include "sync/delivery/delivery.h"

#include <stdlib.h>
#include <string.h>

#define LOOK_MS 1000

/* {"orders_v2":{"aliases":{...}}}: this index, and no other. */
static bool names_only(struct str answer, struct str index)
{
    struct json_reader r;
    struct str key;
    struct err ignored;
    size_t n = 0, n_others = 0;

    json_reader_init(&r, answer);
    if (json_enter_object(&r))
        while (json_next_member(&r, &key)) {
            n++;
            n_others += !json_string_equal(key, index);
        }
    return json_reader_finish(&r, &ignored) && n == 1 && n_others == 0;
}

static bool leads_to(struct coordinator *co, struct str index)
{
    struct buf path = {0}, answer = {0};
    struct err ignored;
    int status;

    buf_append(&path, STR("/_alias/"));
    search_append_path(&path, index);
    buf_append(&path, STR("_write"));

    const bool it_does = search_request(co->opt.search, "GET", buf_str(&path), STR(""), &status,
                                        &answer, &ignored) &&
                         status == 200 && names_only(buf_str(&answer), index);

    buf_free(&path);
    buf_free(&answer);
    return it_does;
}

/* One that is held for its alias; the caller frees it.  NULL: none is. */
static char *find_led_astray(struct coordinator *co)
{
    char *index = NULL;

    pthread_mutex_lock(&co->lock);
    for (const struct held_index *h = co->held; h != NULL && index == NULL; h = h->next)
        if (h->why.origin != NULL && strcmp(h->why.origin, DELIVERY_ASTRAY) == 0)
            index = mem_copy(h->index);
    pthread_mutex_unlock(&co->lock);
    return index;
}

void node_look_at_aliases(struct coordinator *co)
{
    char *index;

    if (clock_mono_ms() - co->aliases_ms < LOOK_MS || (index = find_led_astray(co)) == NULL)
        return;
    co->aliases_ms = clock_mono_ms();
    if (leads_to(co, str_from(index))) {
        log_info("the write alias leads to its index again", KV("index", index));
        delivery_probe(co->delivery);
    }
    free(index);
}
