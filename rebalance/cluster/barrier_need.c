#include "config.h"

#include "rebalance/cluster/barrier_parts.h"

/* A rebalance whose leader lives and does not end it is begun anew after so many limits. */
#define STUCK_LIMITS 2

/* We came, or came back, and no rebalance has counted on us since. */
static bool is_ready(const struct barrier *b)
{
    return b->mine.data.status == NODE_CLEAN_OK && !b->mine.is_writing &&
           !barrier_work_is_any(b);
}

/* The last rebalance counted on us, ended, and told us nothing: our data was written anew. */
static bool is_passed_over(const struct barrier *b)
{
    return b->mine.data.session < b->state.session && !b->mine.is_writing &&
           barrier_is_member(b, buf_str(&b->id));
}

static bool is_any_refused(const struct barrier *b)
{
    for (size_t i = 0; i < b->n_things; i++) {
        const struct str thing = buf_str(&b->things[i].name);

        if (name_set_has(&b->refused, thing) && !name_set_has(&b->mine.data.jobs, thing))
            return true;
    }
    return false;
}

static bool is_listed(const struct barrier *b, struct str id)
{
    size_t at;

    return barrier_lists(b, id, &at);
}

static bool is_member_gone(const struct barrier *b)
{
    for (size_t i = 0; i < b->state.members.n; i++)
        if (!is_listed(b, b->state.members.list[i]))
            return true;
    return false;
}

static bool is_any_new(const struct barrier *b)
{
    for (size_t i = 0; i < b->n_nodes; i++) {
        const struct str id = buf_str(&b->nodes[i].id);

        if (!barrier_is_member(b, id) && !name_set_has(&b->state.left_out, id))
            return true;
    }
    return false;
}

/* The longest that a rebalance takes. */
static int64_t limit_ms(const struct barrier *b)
{
    return b->options.stop_limit_ms + b->options.start_limit_ms;
}

int64_t barrier_behind_end(const struct barrier *b)
{
    return b->current_ms + limit_ms(b);
}

/* The store is one database, so nobody is behind it for long: then it has lost what the state
 * was planned for. */
bool barrier_is_behind(const struct barrier *b)
{
    return b->revision < b->state.revision && b->now_ms < barrier_behind_end(b);
}

static enum barrier_need needs_while_running(const struct barrier *b)
{
    if (str_equal(buf_str(&b->state.leader), buf_str(&b->id)) && b->lock != LOCK_HELD)
        return NEED_CUT;
    if (is_member_gone(b) || !is_listed(b, buf_str(&b->state.leader)))
        return NEED_GONE;
    return b->now_ms - b->state_ms >= STUCK_LIMITS * limit_ms(b) ? NEED_STUCK : NEED_NOTHING;
}

/* Whoever does not know the newest list of things leaves it to others. */
enum barrier_need barrier_needs(const struct barrier *b)
{
    if (b->link != LINK_CONNECTED || !b->mine.is_known || !b->has_nodes || !b->has_state ||
        !b->has_things || barrier_is_behind(b) || !is_listed(b, buf_str(&b->id)))
        return NEED_NOTHING;
    if (b->state.is_running)
        return needs_while_running(b);
    if (b->state.asked != b->state.planned)
        return NEED_ASKED;
    if (b->revision > b->state.revision)
        return NEED_THINGS;
    if (is_ready(b) || is_passed_over(b))
        return NEED_SELF;
    if (is_any_refused(b))
        return NEED_REFUSED;
    if (is_member_gone(b))
        return NEED_GONE;
    return is_any_new(b) ? NEED_JOINED : NEED_NOTHING;
}

/* The first node looks at once, the next one only if the first has not put it right. */
int64_t barrier_need_at(const struct barrier *b)
{
    int64_t rank = 0;

    for (size_t i = 0; i < b->n_nodes; i++)
        rank += str_order(buf_str(&b->nodes[i].id), buf_str(&b->id)) < 0;
    return b->need_ms + rank * b->options.stagger_ms;
}

/* Whoever waits for the lock asks again after a while: its place may be gone. */
static int64_t enter_at(const struct barrier *b)
{
    return b->lock == LOCK_NONE ? barrier_need_at(b) : b->lock_ms + limit_ms(b);
}

void barrier_need_advance(struct barrier *b)
{
    enum barrier_need need;

    if (b->link != LINK_CONNECTED || !b->has_state || b->revision >= b->state.revision)
        b->current_ms = b->now_ms;
    need = barrier_needs(b);
    if (need != b->need) {
        b->need = need;
        b->need_ms = b->now_ms;
    }
    if (b->link != LINK_CONNECTED || b->lock == LOCK_HELD)
        return;
    if (b->lock == LOCK_QUEUED && need == NEED_NOTHING && b->mine.is_known && b->has_state) {
        b->lock = LOCK_NONE;
        (void)barrier_add(b, BARRIER_LEAVE);
    } else if (need != NEED_NOTHING && b->now_ms >= enter_at(b)) {
        b->lock = LOCK_QUEUED;
        b->lock_ms = b->now_ms;
        (void)barrier_add(b, BARRIER_ENTER);
    }
}
