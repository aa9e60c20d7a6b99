#include "config.h"

#include "rebalance/verify/result.h"

#include "src/format/json.h"

/* passes: a later look may tell, so that the verdict is open until then. */
static const struct {
    const char *word;
    bool passes;
} reasons[N_VERIFY_REASONS] = {
    [VERIFY_CHANGING] = {"changing", true},
    [VERIFY_NOT_DELIVERED] = {"not_delivered", true},
    [VERIFY_HELD] = {"held", true},
    [VERIFY_BY_TIME] = {"read_by_time", true},
    [VERIFY_FAN_OUT] = {"fan_out", true},
    [VERIFY_CASCADE] = {"cascade", true},
    [VERIFY_PURGED] = {"purged", true},
    [VERIFY_DEAD_LETTER] = {"dead_letter", false},
    [VERIFY_NOT_FOLLOWED] = {"not_followed", false},
    [VERIFY_DROPPED] = {"dropped", false},
    [VERIFY_DELAYED] = {"delayed", false},
};

void verify_result_free(struct verify_result *r)
{
    buf_free(&r->differences);
    buf_free(&r->aparts);
    buf_free(&r->ids);
}

const char *verify_result_verdict(const struct verify_result *r)
{
    if (r->differing > 0)
        return "different";
    for (size_t i = 0; i < N_VERIFY_REASONS; i++)
        if (reasons[i].passes && r->apart[i] > 0)
            return "unknown";
    return "equal";
}

/* ---- the lists ---- */

/* n: elements of this kind, or reason, that are listed. Counts one more if there is room. */
static bool takes_one(struct verify_result *r, uint64_t *n)
{
    const bool has_room =
        *n < VERIFY_LISTED_MAX && r->differences.len + r->aparts.len < VERIFY_LISTED_BYTES;

    *n += has_room;
    r->is_cut = r->is_cut || !has_room;
    return has_room;
}

static struct json_writer element_of(struct buf *list)
{
    return (struct json_writer){.out = list, .comma = list->len > 0};
}

static void put_value(struct json_writer *w, struct str key, struct str value)
{
    if (value.ptr != NULL)
        json_put_raw(w, key, value);
}

static void put_paths(struct json_writer *w, const struct verify_finding *f, bool values)
{
    json_put_u64(w, STR("n_paths"), f->n_paths_all);
    json_write_key(w, STR("paths"));
    json_open_array(w);
    for (size_t i = 0; i < f->n_paths; i++) {
        const struct json_difference *d = &f->paths[i];

        json_open_object(w);
        json_put_string(w, STR("path"), d->path);
        json_put_cstr(w, STR("kind"), json_difference_word(d->kind));
        if (values) {
            put_value(w, STR("wanted"), d->wanted);
            put_value(w, STR("found"), d->found);
        }
        json_close_object(w);
    }
    json_close_array(w);
}

static void list_finding(struct verify_result *r, const struct verify_key *k,
                         const struct verify_finding *f, bool values)
{
    struct json_writer w = element_of(&r->differences);

    if (!takes_one(r, &r->n_listed[f->kind]))
        return;
    json_open_object(&w);
    json_put_string(&w, STR("id"), k->id);
    json_put_string(&w, STR("routing"), f->routing);
    json_put_cstr(&w, STR("kind"), verify_kind_word(f->kind));
    json_put_u64_text(&w, STR("version"), f->version);
    json_put_bool(&w, STR("repaired"), k->is_repaired);
    put_paths(&w, f, values);
    json_close_object(&w);
}

static void list_apart(struct verify_result *r, const struct verify_key *k)
{
    struct json_writer w = element_of(&r->aparts);

    if (!takes_one(r, &r->n_aparts_listed[k->reason]))
        return;
    json_open_object(&w);
    json_put_string(&w, STR("id"), k->id);
    json_put_cstr(&w, STR("reason"), reasons[k->reason].word);
    json_close_object(&w);
}

void verify_result_list_id(struct verify_result *r, struct str id)
{
    struct json_writer w = element_of(&r->ids);

    if (++r->n_ids > VERIFY_CHANGED_MAX)
        buf_clear(&r->ids);
    else
        json_write_string(&w, id);
}

/* ---- adding ---- */

static void add_findings(struct verify_result *r, const struct verify_key *k, bool values)
{
    for (size_t i = 0; i < k->n_told; i++) {
        r->counts[k->told[i].kind]++;
        r->repaired_counts[k->told[i].kind] += k->is_repaired;
        list_finding(r, k, &k->told[i], values);
    }
}

void verify_result_add(struct verify_result *r, const struct verify_key *k, bool values)
{
    r->documents++;
    r->equal += k->state == VERIFY_EQUAL;
    r->repaired += k->is_repaired;
    if (k->state == VERIFY_APART) {
        r->apart[k->reason]++;
        list_apart(r, k);
    }
    r->differing += k->state == VERIFY_DIFFERS;
    if (k->state == VERIFY_DIFFERS || k->is_repaired)
        add_findings(r, k, values);
}

void verify_result_add_orphan(struct verify_result *r, struct str id, struct str routing)
{
    const struct verify_key k = {.id = id};
    const struct verify_finding f = {.kind = VERIFY_ORPHAN, .routing = routing};

    r->counts[VERIFY_ORPHAN]++;
    list_finding(r, &k, &f, false);
}

static const char *kind_word(size_t i)
{
    return verify_kind_word((enum verify_kind)i);
}

static const char *reason_word(size_t i)
{
    return reasons[i].word;
}

/* How one of the two lists tells its elements apart. */
struct list_form {
    const char *pointer;
    const char *(*word)(size_t i);
    size_t n;
};
static const struct list_form by_kind = {"/kind", kind_word, N_VERIFY_KINDS},
                              by_reason = {"/reason", reason_word, N_VERIFY_REASONS};

static size_t find_word(const struct list_form *form, struct str element)
{
    struct buf word = {0};
    size_t i = 0;

    (void)json_find_text(element, form->pointer, &word);
    while (i < form->n && !str_equal(buf_str(&word), str_from(form->word(i))))
        i++;
    buf_free(&word);
    return i;
}

/* ---- the end of a repair ---- */

static const struct verify_key *find_repaired(const struct verify_key *keys, size_t n,
                                              struct str element)
{
    const struct verify_key *found = NULL;
    struct buf id = {0};

    (void)json_find_text(element, "/id", &id);
    for (size_t i = 0; i < n && found == NULL; i++)
        if (keys[i].state == VERIFY_EQUAL && str_equal(keys[i].id, buf_str(&id)))
            found = &keys[i];
    buf_free(&id);
    return found;
}

/* Of a key that was equal before, as after a kill, only the list knows the kind. */
static void count_listed(struct verify_result *r, const struct verify_key *k,
                         struct str element)
{
    const size_t kind = find_word(&by_kind, element);

    if (k->n_told == 0 && kind < N_VERIFY_KINDS)
        r->repaired_counts[kind]++;
}

/* Their "false" in the list becomes "true ". */
static void mark_repaired(struct verify_result *r, const struct verify_key *keys, size_t n)
{
    struct json_reader reader;
    struct str element, flag;
    struct buf list = {0};

    buf_printf(&list, "[%" STR_FMT "]", STR_ARG(buf_str(&r->differences)));
    json_reader_init(&reader, buf_str(&list));
    for (bool more = json_enter_array(&reader);
         more && json_next_element(&reader) && json_read_raw(&reader, &element);) {
        const struct verify_key *k = find_repaired(keys, n, element);

        if (k != NULL && find_word(&by_kind, element) != VERIFY_ORPHAN &&
            json_find(element, "/repaired", &flag) && str_equal(flag, STR("false"))) {
            memcpy(r->differences.ptr + (flag.ptr - list.ptr) - 1, "true ", 5);
            count_listed(r, k, element);
        }
    }
    buf_free(&list);
}

/* What the engine refuses becomes a dead letter, and stays different. */
static bool still_differs(const struct verify_key *k)
{
    return k->state == VERIFY_DIFFERS ||
           (k->state == VERIFY_APART && k->reason == VERIFY_DEAD_LETTER);
}

void verify_result_end_repair(struct verify_result *r, const struct verify_key *keys, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct verify_key *k = &keys[i];

        if (still_differs(k))
            continue;
        r->differing--;
        r->equal += k->state == VERIFY_EQUAL;
        r->repaired += k->state == VERIFY_EQUAL;
        for (size_t t = 0; t < k->n_told; t++)
            r->repaired_counts[k->told[t].kind] += k->state == VERIFY_EQUAL;
        if (k->state == VERIFY_APART) {
            r->apart[k->reason]++;
            list_apart(r, k);
        }
    }
    mark_repaired(r, keys, n);
}

/* ---- two results ---- */

/* Add the elements of another list, a JSON array, as far as they have room. */
static void append_list(struct verify_result *r, const struct list_form *form, struct str array,
                        struct buf *list, uint64_t *n_listed)
{
    struct json_reader reader;
    struct str element;

    json_reader_init(&reader, array);
    if (!json_enter_array(&reader))
        return;
    while (json_next_element(&reader) && json_read_raw(&reader, &element)) {
        const size_t i = find_word(form, element);
        struct json_writer w = element_of(list);

        if (i < form->n && takes_one(r, &n_listed[i]))
            json_write_raw(&w, element);
    }
}

static void append_elements(struct verify_result *r, const struct list_form *form,
                            const struct buf *elements, struct buf *list, uint64_t *n_listed)
{
    struct buf array = {0};

    buf_append_char(&array, '[');
    buf_append(&array, buf_str(elements));
    buf_append_char(&array, ']');
    append_list(r, form, buf_str(&array), list, n_listed);
    buf_free(&array);
}

void verify_result_merge(struct verify_result *r, const struct verify_result *more)
{
    r->documents += more->documents;
    r->equal += more->equal;
    r->repaired += more->repaired;
    r->rewritten += more->rewritten;
    r->differing += more->differing;
    for (size_t i = 0; i < N_VERIFY_KINDS; i++) {
        r->counts[i] += more->counts[i];
        r->repaired_counts[i] += more->repaired_counts[i];
    }
    for (size_t i = 0; i < N_VERIFY_REASONS; i++)
        r->apart[i] += more->apart[i];
    r->is_cut = r->is_cut || more->is_cut;
    append_elements(r, &by_kind, &more->differences, &r->differences, r->n_listed);
    append_elements(r, &by_reason, &more->aparts, &r->aparts, r->n_aparts_listed);
}

bool verify_result_is_little(const struct verify_result *r, uint64_t all, uint64_t n_entries)
{
    const uint64_t n_lists = (n_entries + VERIFY_CHANGED_MAX - 1) / VERIFY_CHANGED_MAX;
    const uint64_t n = r->differing * (n_lists > 1 ? n_lists : 1);

    return r->n_ids <= VERIFY_CHANGED_MAX && n <= VERIFY_CHANGED_MAX && n * 20 <= all;
}

/* ---- as JSON ---- */

static void put_list(struct json_writer *w, struct str key, const struct buf *elements)
{
    json_write_key(w, key);
    json_open_array(w);
    if (elements->len > 0)
        json_write_raw(w, buf_str(elements));
    json_close_array(w);
}

void verify_result_put_kinds(struct json_writer *w, struct str name,
                             const uint64_t counts[N_VERIFY_KINDS])
{
    json_write_key(w, name);
    json_open_object(w);
    for (size_t i = 0; i < N_VERIFY_KINDS; i++)
        json_put_u64(w, str_from(kind_word(i)), counts[i]);
    json_close_object(w);
}

void verify_result_put_counts(const struct verify_result *r, struct json_writer *w)
{
    json_put_u64(w, STR("documents"), r->documents);
    json_put_u64(w, STR("equal"), r->equal);
    json_put_u64(w, STR("differing"), r->differing);
    json_put_u64(w, STR("repaired"), r->repaired);
    verify_result_put_kinds(w, STR("counts"), r->counts);
    verify_result_put_kinds(w, STR("repaired_counts"), r->repaired_counts);
}

void verify_result_put(const struct verify_result *r, struct json_writer *w)
{
    verify_result_put_counts(r, w);
    json_put_u64(w, STR("rewritten"), r->rewritten);
    json_write_key(w, STR("apart_counts"));
    json_open_object(w);
    for (size_t i = 0; i < N_VERIFY_REASONS; i++)
        json_put_u64(w, str_from(reasons[i].word), r->apart[i]);
    json_close_object(w);
    json_put_bool(w, STR("cut"), r->is_cut);
    put_list(w, STR("apart"), &r->aparts);
    put_list(w, STR("differences"), &r->differences);
}

void verify_result_put_ids(const struct verify_result *r, struct json_writer *w)
{
    json_put_u64(w, STR("n_ids"), r->n_ids);
    put_list(w, STR("ids"), &r->ids);
}

static void read_counts(struct str json, const char *pointer, const char *word, uint64_t *n)
{
    struct buf path = {0};

    buf_printf(&path, "%s/%s", pointer, word);
    (void)json_find_u64(json, path.ptr, n);
    buf_free(&path);
}

void verify_result_read(struct verify_result *r, struct str json)
{
    struct str list;
    bool is_cut = false;

    (void)json_find_u64(json, "/documents", &r->documents);
    (void)json_find_u64(json, "/equal", &r->equal);
    (void)json_find_u64(json, "/differing", &r->differing);
    (void)json_find_u64(json, "/repaired", &r->repaired);
    (void)json_find_u64(json, "/rewritten", &r->rewritten);
    for (size_t i = 0; i < N_VERIFY_KINDS; i++) {
        read_counts(json, "/counts", kind_word(i), &r->counts[i]);
        read_counts(json, "/repaired_counts", kind_word(i), &r->repaired_counts[i]);
    }
    for (size_t i = 0; i < N_VERIFY_REASONS; i++)
        read_counts(json, "/apart_counts", reasons[i].word, &r->apart[i]);
    if (json_find(json, "/apart", &list))
        append_list(r, &by_reason, list, &r->aparts, r->n_aparts_listed);
    if (json_find(json, "/differences", &list))
        append_list(r, &by_kind, list, &r->differences, r->n_listed);
    if (json_find_bool(json, "/cut", &is_cut))
        r->is_cut = r->is_cut || is_cut;
    (void)json_find_u64(json, "/n_ids", &r->n_ids);
    if (json_find(json, "/ids", &list) && list.len > 2)
        buf_append(&r->ids, (struct str){list.ptr + 1, list.len - 2});
}
