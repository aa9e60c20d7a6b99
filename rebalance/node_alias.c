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

/* *is_answered: the engine said so. */
static bool leads_to(struct coordinator *co, struct str index, bool *is_answered)
{
    struct buf path = {0}, answer = {0};
    struct err ignored;
    int status;

    buf_append(&path, STR("/_alias/"));
    search_append_path(&path, index);
    buf_append(&path, STR("_write"));

    *is_answered = search_request(co->opt.search, "GET", buf_str(&path), STR(""), &status,
                                  &answer, &ignored);

    const bool it_does = *is_answered && status == 200 && names_only(buf_str(&answer), index);

    buf_free(&path);
    buf_free(&answer);
    return it_does;
}

static bool is_led_astray(const struct held_index *h)
{
    return h->why.origin != NULL && strcmp(h->why.origin, DELIVERY_ASTRAY) == 0;
}

/* The n-th that is held for its alias, from 0; the caller frees it.  NULL: there are no more. */
static char *find_led_astray(struct coordinator *co, size_t n)
{
    char *index = NULL;

    pthread_mutex_lock(&co->lock);
    for (const struct held_index *h = co->held; h != NULL && index == NULL; h = h->next)
        if (is_led_astray(h) && n-- == 0)
            index = mem_copy(h->index);
    pthread_mutex_unlock(&co->lock);
    return index;
}

void node_look_at_aliases(struct coordinator *co)
{
    bool is_answered = true;
    char *index;

    if (clock_mono_ms() - co->aliases_ms < LOOK_MS)
        return;
    co->aliases_ms = clock_mono_ms();
    for (size_t n = 0; is_answered && (index = find_led_astray(co, n)) != NULL; n++) {
        if (leads_to(co, str_from(index), &is_answered)) {
            log_info("the write alias leads to its index again", KV("index", index));
            delivery_end_astray(co->delivery, str_from(index));
        }
        free(index);
    }
}
