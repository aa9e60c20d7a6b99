#include "config.h"

#include "rebalance/shared/wish_send.h"

#include "src/base/clock.h"
#include "src/base/thread.h"
#include "src/store/wish.h"

#define POLL_MS     50  /* before the first look for an answer; then twice as long, ... */
#define POLL_MAX_MS 500 /* ... up to this */
#define TRIES       3   /* for what must reach the store */
#define TRY_MS      500

/* A wish is one, however often it is put. */
static bool put(struct store *s, struct stop *stop, struct stored_wish *w, struct err *err)
{
    for (int i = 1; !store_put_wish(s, w, err); i++) {
        if (err->kind != ERR_RETRY || i == TRIES || stop_wait(stop, TRY_MS))
            return false;
        *err = (struct err){0};
    }
    return true;
}

/* The wish was not answered in time. */
static bool give_up(struct store *s, struct arena *a, struct stored_wish *w, enum wish_end *end,
                    struct err *err)
{
    const struct wish_name name = {w->id, w->node};
    bool goes_on = false, found = false;

    if (!store_cancel_wish(s, &name, &goes_on, err))
        return false;
    *end = goes_on ? WISH_LATE : WISH_NOBODY;
    if (!goes_on)
        return true;
    if (!store_load_wish(s, a, &name, w, &found, err))
        return false;
    if (found && str_equal(w->state, STR(WISH_DONE)))
        *end = WISH_ANSWERED;
    return true;
}

/* Returns false while it waits, and then knows whether somebody has taken it. */
static bool is_over(struct store *s, struct arena *a, struct stored_wish *w, bool *taken,
                    struct err *err)
{
    struct stored_wish now = {0};
    bool found = false;

    *err = (struct err){0};
    if (!store_load_wish(s, a, &(struct wish_name){w->id, w->node}, &now, &found, err))
        return err->kind != ERR_RETRY;
    if (!found) {
        err_set(err, ERR_RETRY,
                "the store has no answer to the command any more; fix: look whether it took "
                "effect, and send it again if it did not");
        return true;
    }
    *taken = !str_equal(now.state, STR(WISH_NEW));
    if (!str_equal(now.state, STR(WISH_DONE)))
        return false;
    *w = now;
    return true;
}

bool wish_send(struct store *s, struct stop *stop, struct arena *a, struct stored_wish *w,
               const struct wish_limits *limits, enum wish_end *end, struct err *err)
{
    int64_t until_ms = clock_mono_ms() + limits->take_ms, pause_ms = POLL_MS;
    bool was_taken = false;

    *end = WISH_ANSWERED;
    if (!put(s, stop, w, err))
        return false;
    while (!stop_wait(stop, pause_ms) && clock_mono_ms() < until_ms) {
        bool taken = was_taken;

        if (is_over(s, a, w, &taken, err))
            return err->kind == ERR_NONE;
        if (taken && !was_taken)
            until_ms = clock_mono_ms() + limits->end_ms;
        was_taken = taken;
        pause_ms = pause_ms * 2 < POLL_MAX_MS ? pause_ms * 2 : POLL_MAX_MS;
    }
    *err = (struct err){0};
    return give_up(s, a, w, end, err);
}
