#include "config.h"

#include "rebalance/delivery_values.h"

#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/json.h"
#include "src/setting.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define SECTION "delivery."
#define CHOSEN  "set at run time"

/* Where a setting of the table goes. */
struct field {
    const char *name; /* without the section */
    size_t offset;
    enum { TO_UNSIGNED = 0, TO_SIZE, TO_BOOL, TO_PURGE } type;
};

#define FIELD(name, member, type) {name, offsetof(struct delivery_settings, member), type}

static const struct field fields[] = {
    FIELD("workers", workers, TO_UNSIGNED),
    FIELD("helpers", helpers, TO_UNSIGNED),
    FIELD("batch_min", batch_min, TO_UNSIGNED),
    FIELD("batch_max", batch_max, TO_UNSIGNED),
    FIELD("batch_bytes", batch_bytes, TO_SIZE),
    FIELD("flush_interval", flush_ms, TO_UNSIGNED),
    FIELD("request_timeout", request_timeout_ms, TO_UNSIGNED),
    FIELD("bytes", bytes_max, TO_SIZE),
    FIELD("load_batch", load_batch_max, TO_SIZE),
    FIELD("loads", loads_max, TO_UNSIGNED),
    FIELD("read_window", read_window_ms, TO_UNSIGNED),
    FIELD("high_water_mark", high_water_mark, TO_SIZE),
    FIELD("failures", failures, TO_UNSIGNED),
    FIELD("failure_window", failure_window_ms, TO_UNSIGNED),
    FIELD("reset_after", reset_after_ms, TO_UNSIGNED),
    FIELD("purge", purge, TO_PURGE),
    FIELD("drain", drain, TO_BOOL),
    FIELD("drain_timeout", drain_timeout_ms, TO_UNSIGNED),
    FIELD("drain_cancel_timeout", drain_cancel_timeout_ms, TO_UNSIGNED),
    FIELD("connections", connections, TO_UNSIGNED),
};
#define N_FIELDS ARRAY_LEN(fields)

struct value {
    char *configured, *origin;
    char *chosen; /* NULL: nothing was set at run time */
};

struct delivery_values {
    struct value values[N_FIELDS];
};

static const struct setting *setting_of(size_t i)
{
    const size_t section = strlen(SECTION);

    for (size_t at = 0; at < n_settings; at++)
        if (strncmp(settings[at].name, SECTION, section) == 0 &&
            strcmp(settings[at].name + section, fields[i].name) == 0)
            return &settings[at];
    abort();
}

static void set_text(char **at, const char *text)
{
    char *copy = mem_copy_any(text);

    free(*at);
    *at = copy;
}

struct delivery_values *delivery_values_new(void)
{
    struct delivery_values *v = mem_alloc(1, sizeof(*v));

    for (size_t i = 0; i < N_FIELDS; i++) {
        set_text(&v->values[i].configured, setting_of(i)->preset);
        set_text(&v->values[i].origin, "default");
    }
    return v;
}

struct delivery_values *delivery_values_copy(const struct delivery_values *v)
{
    struct delivery_values *copy = mem_alloc(1, sizeof(*copy));

    delivery_values_configure_as(copy, v);
    for (size_t i = 0; i < N_FIELDS; i++)
        set_text(&copy->values[i].chosen, v->values[i].chosen);
    return copy;
}

void delivery_values_free(struct delivery_values *v)
{
    if (v == NULL)
        return;
    for (size_t i = 0; i < N_FIELDS; i++) {
        free(v->values[i].configured);
        free(v->values[i].origin);
        free(v->values[i].chosen);
    }
    free(v);
}

/* N_FIELDS: there is none. */
static size_t find(struct str name)
{
    const struct str section = STR(SECTION);
    size_t i = 0;

    if (name.len > section.len && memcmp(name.ptr, section.ptr, section.len) == 0)
        name = (struct str){name.ptr + section.len, name.len - section.len};
    while (i < N_FIELDS && !str_equal(name, str_from(fields[i].name)))
        i++;
    return i;
}

void delivery_values_configure(struct delivery_values *v, const char *name, const char *text,
                               const char *origin)
{
    const size_t i = find(str_from(name));

    assert(i < N_FIELDS);
    set_text(&v->values[i].configured, text);
    set_text(&v->values[i].origin, origin);
}

void delivery_values_configure_as(struct delivery_values *v, const struct delivery_values *from)
{
    for (size_t i = 0; i < N_FIELDS; i++) {
        set_text(&v->values[i].configured, from->values[i].configured);
        set_text(&v->values[i].origin, from->values[i].origin);
    }
}

static bool refuse_unknown(struct str name, struct err *err)
{
    struct buf full = {0};
    struct str near;

    if (memchr(name.ptr, '.', name.len) == NULL)
        buf_append(&full, STR(SECTION));
    buf_append(&full, name);
    near = setting_nearest(buf_str(&full));
    buf_free(&full);
    if (find(near) < N_FIELDS)
        return err_set(err, ERR_REJECT,
                       "unknown setting of delivery `%" STR_FMT "`; fix: did you mean "
                       "`%s`?",
                       STR_ARG(name), fields[find(near)].name);
    return err_set(err, ERR_REJECT,
                   "unknown setting of delivery `%" STR_FMT "`; fix: `millrace config delivery "
                   "get` lists them",
                   STR_ARG(name));
}

bool delivery_values_choose(struct delivery_values *v, struct str name, struct str text,
                            struct err *err)
{
    const size_t i = find(name);
    struct buf copy = {0};
    int64_t number;

    if (i == N_FIELDS)
        return refuse_unknown(name, err);
    if (text.ptr == NULL) {
        set_text(&v->values[i].chosen, NULL);
        return true;
    }
    if (!setting_check(setting_of(i), text, &number, err))
        return false;
    buf_append(&copy, text);
    set_text(&v->values[i].chosen, copy.ptr);
    buf_free(&copy);
    return true;
}

void delivery_values_reset(struct delivery_values *v)
{
    for (size_t i = 0; i < N_FIELDS; i++)
        set_text(&v->values[i].chosen, NULL);
}

static const char *text_of(const struct value *v)
{
    return v->chosen != NULL ? v->chosen : v->configured;
}

static const char *origin_of(const struct value *v)
{
    return v->chosen != NULL ? CHOSEN : v->origin;
}

static void put(const struct field *f, const char *text, int64_t number,
                struct delivery_settings *out)
{
    void *at = (char *)out + f->offset;

    switch (f->type) {
    case TO_UNSIGNED: *(unsigned *)at = (unsigned)number; return;
    case TO_SIZE: *(size_t *)at = (size_t)number; return;
    case TO_BOOL: *(bool *)at = number != 0; return;
    case TO_PURGE: *(enum purge_strategy *)at = delivery_settings_purge(text); return;
    }
}

bool delivery_values_settings(const struct delivery_values *v, struct delivery_settings *out,
                              struct err *err)
{
    for (size_t i = 0; i < N_FIELDS; i++) {
        const char *text = text_of(&v->values[i]);
        int64_t number = 0;

        if (!setting_check(setting_of(i), str_from(text), &number, err))
            return false;
        put(&fields[i], text, number, out);
    }
    return delivery_settings_check(out, err);
}

static bool is_same(const struct value *a, const struct value *b)
{
    return strcmp(text_of(a), text_of(b)) == 0 && (a->chosen == NULL) == (b->chosen == NULL);
}

void delivery_values_append_json(const struct delivery_values *v,
                                 const struct delivery_values *before, struct str name,
                                 struct buf *json)
{
    struct json_writer w = {.out = json};

    json_open_array(&w);
    for (size_t i = 0; i < N_FIELDS; i++) {
        const struct value *now = &v->values[i];
        const struct value *then = before == NULL ? NULL : &before->values[i];

        if ((name.len > 0 && find(name) != i) || (then != NULL && is_same(now, then)))
            continue;
        json_open_object(&w);
        json_put_cstr(&w, STR("name"), fields[i].name);
        if (then != NULL)
            json_put_cstr(&w, STR("previous"), text_of(then));
        json_put_cstr(&w, STR("value"), text_of(now));
        json_put_cstr(&w, STR("origin"), origin_of(now));
        json_put_cstr(&w, STR("configured"), now->configured);
        json_close_object(&w);
    }
    json_close_array(&w);
}

void delivery_values_append_chosen(const struct delivery_values *v, struct buf *json)
{
    struct json_writer w = {.out = json};

    json_open_object(&w);
    for (size_t i = 0; i < N_FIELDS; i++)
        if (v->values[i].chosen != NULL)
            json_put_cstr(&w, str_from(fields[i].name), v->values[i].chosen);
    json_close_object(&w);
}

bool delivery_values_load_chosen(struct delivery_values *v, struct str json, struct err *err)
{
    struct json_reader r;
    struct str name, text;
    bool ok = true;

    json_reader_init(&r, json);
    if (json_enter_object(&r))
        while (ok && json_next_member(&r, &name) && json_read_string(&r, &text))
            ok = delivery_values_choose(v, name, text, err);
    return ok && json_reader_finish(&r, err);
}
