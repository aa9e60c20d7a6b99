#include "config.h"

#include "rebalance/cluster/cluster_state.h"

#include "rebalance/cluster/shared_text.h"
#include "src/format/json.h"

static void read_session(struct json_reader *r, void *s)
{
    shared_text_read_number(r, &((struct cluster_state *)s)->session);
}

static void read_running(struct json_reader *r, void *s)
{
    (void)json_read_bool(r, &((struct cluster_state *)s)->is_running);
}

static void read_leader(struct json_reader *r, void *s)
{
    shared_text_read_name(r, &((struct cluster_state *)s)->leader);
}

static void read_revision(struct json_reader *r, void *s)
{
    shared_text_read_number(r, &((struct cluster_state *)s)->revision);
}

static void read_asked(struct json_reader *r, void *s)
{
    shared_text_read_number(r, &((struct cluster_state *)s)->asked);
}

static void read_planned(struct json_reader *r, void *s)
{
    shared_text_read_number(r, &((struct cluster_state *)s)->planned);
}

static void read_members(struct json_reader *r, void *s)
{
    shared_text_read_names(r, &((struct cluster_state *)s)->members);
}

static void read_left_out(struct json_reader *r, void *s)
{
    shared_text_read_names(r, &((struct cluster_state *)s)->left_out);
}

static void read_evacuated(struct json_reader *r, void *s)
{
    shared_text_read_names(r, &((struct cluster_state *)s)->evacuated);
}

static void read_moves(struct json_reader *r, void *s)
{
    struct buf thing = {0}, node = {0};
    struct str key;

    name_set_clear(&((struct cluster_state *)s)->moves);
    if (json_enter_object(r)) {
        while (json_next_member(r, &key)) {
            buf_clear(&thing);
            json_unescape(&thing, key);
            shared_text_read_name(r, &node);
            if (json_reader_ok(r) && thing.len <= SHARED_NAME_MAX)
                cluster_state_set_wish(s, buf_str(&thing), buf_str(&node));
        }
    }
    buf_free(&thing);
    buf_free(&node);
}

static const struct shared_member members[] = {
    {STR("session"), read_session},     {STR("running"), read_running},
    {STR("leader"), read_leader},       {STR("revision"), read_revision},
    {STR("asked"), read_asked},         {STR("planned"), read_planned},
    {STR("members"), read_members},     {STR("left_out"), read_left_out},
    {STR("evacuated"), read_evacuated}, {STR("moves"), read_moves},
};

/* Ids of nodes have no space, so the last one divides. */
static size_t space_of(struct str move)
{
    size_t at = move.len;

    while (at > 0 && move.ptr[at - 1] != ' ')
        at--;
    return at == 0 ? 0 : at - 1;
}

static void put_moves(struct json_writer *w, const struct name_set *moves)
{
    json_write_key(w, STR("moves"));
    json_open_object(w);
    for (size_t i = 0; i < moves->n; i++) {
        const struct str move = moves->list[i];
        const size_t at = space_of(move);

        json_put_string(w, (struct str){move.ptr, at},
                        (struct str){move.ptr + at + 1, move.len - at - 1});
    }
    json_close_object(w);
}

void cluster_state_format(struct buf *out, const struct cluster_state *s)
{
    struct json_writer w = {.out = out};

    json_open_object(&w);
    json_put_u64(&w, STR("session"), s->session);
    json_put_bool(&w, STR("running"), s->is_running);
    json_put_string(&w, STR("leader"), buf_str(&s->leader));
    json_put_u64(&w, STR("revision"), s->revision);
    json_put_u64(&w, STR("asked"), s->asked);
    json_put_u64(&w, STR("planned"), s->planned);
    shared_text_put_names(&w, STR("members"), &s->members);
    shared_text_put_names(&w, STR("left_out"), &s->left_out);
    shared_text_put_names(&w, STR("evacuated"), &s->evacuated);
    put_moves(&w, &s->moves);
    shared_text_write_unknown(&w, &s->unknown);
    json_close_object(&w);
}

bool cluster_state_parse(struct cluster_state *s, struct str text, struct err *err)
{
    cluster_state_free(s);
    if (text.len == 0)
        return true;
    if (!shared_text_parse(text, members, ARRAY_LEN(members), s, &s->unknown, err)) {
        cluster_state_free(s);
        return err_wrap(err, "the cluster's state");
    }
    return true;
}

void cluster_state_copy(struct cluster_state *to, const struct cluster_state *from)
{
    to->session = from->session;
    to->is_running = from->is_running;
    buf_clear(&to->leader);
    buf_append(&to->leader, buf_str(&from->leader));
    to->revision = from->revision;
    to->asked = from->asked;
    to->planned = from->planned;
    name_set_copy(&to->members, &from->members);
    name_set_copy(&to->left_out, &from->left_out);
    name_set_copy(&to->evacuated, &from->evacuated);
    name_set_copy(&to->moves, &from->moves);
    buf_clear(&to->unknown);
    buf_append(&to->unknown, buf_str(&from->unknown));
}

void cluster_state_free(struct cluster_state *s)
{
    buf_free(&s->leader);
    name_set_free(&s->members);
    name_set_free(&s->left_out);
    name_set_free(&s->evacuated);
    name_set_free(&s->moves);
    buf_free(&s->unknown);
    *s = (struct cluster_state){0};
}

struct str cluster_state_wish(const struct cluster_state *s, struct str thing)
{
    for (size_t i = 0; i < s->moves.n; i++) {
        const struct str move = s->moves.list[i];
        const size_t at = space_of(move);

        if (str_equal((struct str){move.ptr, at}, thing))
            return (struct str){move.ptr + at + 1, move.len - at - 1};
    }
    return (struct str){NULL, 0};
}

struct str cluster_state_wished(const struct cluster_state *s, struct str node, size_t i)
{
    for (size_t k = 0; k < s->moves.n; k++) {
        const struct str move = s->moves.list[k];
        const size_t at = space_of(move);

        if (str_equal((struct str){move.ptr + at + 1, move.len - at - 1}, node) && i-- == 0)
            return (struct str){move.ptr, at};
    }
    return (struct str){NULL, 0};
}

void cluster_state_set_wish(struct cluster_state *s, struct str thing, struct str node)
{
    const struct str before = cluster_state_wish(s, thing);
    struct buf move = {0};

    if (before.len > 0) {
        buf_printf(&move, "%" STR_FMT " %" STR_FMT, STR_ARG(thing), STR_ARG(before));
        (void)name_set_remove(&s->moves, buf_str(&move));
        buf_clear(&move);
    }
    if (node.len > 0 && memchr(node.ptr, ' ', node.len) == NULL) {
        buf_printf(&move, "%" STR_FMT " %" STR_FMT, STR_ARG(thing), STR_ARG(node));
        (void)name_set_add(&s->moves, buf_str(&move));
    }
    buf_free(&move);
}
