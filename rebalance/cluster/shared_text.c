#include "config.h"

#include "rebalance/cluster/shared_text.h"

#include "rebalance/cluster/name_set.h"

static const struct shared_member *member_of(const struct shared_member *members, size_t n,
                                             struct str raw_key)
{
    for (size_t i = 0; i < n; i++)
        if (json_string_equal(raw_key, members[i].name))
            return &members[i];
    return NULL;
}

/* Keeps a member that no table has. */
static void keep(struct json_reader *r, struct str raw_key, struct buf *unknown)
{
    struct str raw;

    if (!json_read_raw(r, &raw))
        return;
    if (unknown->len > 0)
        buf_append_char(unknown, ',');
    buf_append_char(unknown, '"');
    buf_append(unknown, raw_key);
    buf_append(unknown, STR("\":"));
    if (!json_compact(unknown, raw))
        json_reader_fail(r, "not a value");
}

bool shared_text_parse(struct str text, const struct shared_member *members, size_t n,
                       void *object, struct buf *unknown, struct err *err)
{
    struct json_reader r;
    struct str key;

    if (text.len > SHARED_TEXT_MAX)
        return err_set(err, ERR_REJECT, "%zu bytes are more than %zu", text.len,
                       SHARED_TEXT_MAX);
    json_reader_init(&r, text);
    if (json_enter_object(&r)) {
        while (json_next_member(&r, &key)) {
            const struct shared_member *m = member_of(members, n, key);

            if (m == NULL)
                keep(&r, key, unknown);
            else
                m->read(&r, object);
        }
    }
    return json_reader_finish(&r, err);
}

void shared_text_write_unknown(struct json_writer *w, const struct buf *unknown)
{
    if (unknown->len == 0)
        return;
    if (w->comma)
        buf_append_char(w->out, ',');
    buf_append(w->out, buf_str(unknown));
    w->comma = true;
}

void shared_text_read_name(struct json_reader *r, struct buf *name)
{
    buf_clear(name);
    if (json_read_text(r, name) && name->len > SHARED_NAME_MAX)
        json_reader_fail(r, "a name that is too long");
}

void shared_text_read_number(struct json_reader *r, uint64_t *number)
{
    if (json_read_u64(r, number) && *number > SHARED_NUMBER_MAX)
        json_reader_fail(r, "a number that is too large");
}

void shared_text_read_names(struct json_reader *r, struct name_set *names)
{
    struct buf name = {0};

    name_set_clear(names);
    if (json_enter_array(r)) {
        while (json_next_element(r)) {
            shared_text_read_name(r, &name);
            if (json_reader_ok(r))
                (void)name_set_add(names, buf_str(&name));
        }
    }
    buf_free(&name);
}

void shared_text_put_names(struct json_writer *w, struct str key, const struct name_set *names)
{
    json_write_key(w, key);
    json_open_array(w);
    for (size_t i = 0; i < names->n; i++)
        json_write_string(w, names->list[i]);
    json_close_array(w);
}
