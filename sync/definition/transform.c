#include "config.h"

#include "sync/definition/transform.h"

#include "src/base/arena.h"
#include "src/base/nearest.h"
#include "src/format/problem.h"
#include "src/format/yaml_read.h"

#define BY      1u
#define FORMAT  2u
#define SALT    4u
#define COLUMNS 8u

static const struct kind {
    const char *name;
    unsigned needs, takes;
    bool ends; /* the result is no text, so no step may follow */
    enum column_type type;
    const char *field_type; /* if it is not the type of the result's column */
} kinds[N_TRANSFORM_KINDS] = {
    [TRANSFORM_TEXT] = {"text", 0, 0, false, COLUMN_VARCHAR, NULL},
    [TRANSFORM_TRIM] = {"trim", 0, 0, false, COLUMN_VARCHAR, NULL},
    [TRANSFORM_SPLIT] = {"split", BY, BY, false, COLUMN_VARCHAR, NULL},
    [TRANSFORM_JOIN] = {"join", COLUMNS, COLUMNS | BY, false, COLUMN_VARCHAR, NULL},
    [TRANSFORM_DATE] = {"date", FORMAT, FORMAT, false, COLUMN_DATETIME, NULL},
    [TRANSFORM_BOOLEAN] = {"boolean", 0, 0, true, COLUMN_TINYINT, "boolean"},
    [TRANSFORM_NUMBER] = {"number", 0, 0, true, COLUMN_DOUBLE, NULL},
    [TRANSFORM_JSON] = {"json", 0, 0, true, COLUMN_JSON, NULL},
    [TRANSFORM_MASK] = {"mask", SALT, SALT, false, COLUMN_VARCHAR, NULL},
};

static const struct {
    const char *name;
    unsigned bit;
} fields[] = {{"by", BY}, {"format", FORMAT}, {"salt", SALT}, {"columns", COLUMNS}};

static bool find_kind(struct str name, struct transform *out, struct err *err)
{
    struct nearest near = nearest_to(name);

    for (size_t i = 0; i < N_TRANSFORM_KINDS; i++) {
        if (str_equal(name, str_from(kinds[i].name))) {
            out->kind = (enum transform_kind)i;
            return true;
        }
        nearest_offer(&near, str_from(kinds[i].name));
    }
    return err_set(err, ERR_REJECT,
                   "there is no transform `%" STR_FMT "`%s%" STR_FMT
                   "%s; they are text, trim, split, join, date, boolean, number, json, mask",
                   STR_ARG(name), near.best.len > 0 ? "; did you mean `" : "",
                   STR_ARG(near.best), near.best.len > 0 ? "`?" : "");
}

static bool read_columns(struct arena *a, const struct yaml_node *node, struct transform *out)
{
    if (node->kind != YAML_LIST || node->n == 0)
        return false;
    out->columns = arena_alloc(a, node->n, sizeof(*out->columns));
    for (size_t i = 0; i < node->n; i++) {
        if (node->items[i]->kind != YAML_SCALAR)
            return false;
        out->columns[out->n_columns++] = node->items[i]->text;
    }
    return true;
}

static bool read_text(struct arena *a, const struct yaml_node *node, bool may_be_empty,
                      struct str *out)
{
    if (node->kind != YAML_SCALAR || yaml_scalar_kind(node) == YAML_NULL ||
        (node->text.len == 0 && !may_be_empty))
        return false;
    *out = arena_copy(a, node->text);
    return true;
}

static bool read_field(struct arena *a, const char *name, unsigned bit,
                       const struct yaml_node *node, struct transform *out, struct err *err)
{
    bool fine = false;

    switch (bit) {
    case BY: fine = read_text(a, node, out->kind == TRANSFORM_JOIN, &out->by); break;
    case FORMAT: fine = read_text(a, node, false, &out->format); break;
    case SALT: fine = read_text(a, node, false, &out->salt); break;
    case COLUMNS: fine = read_columns(a, node, out); break;
    }
    return fine ||
           err_set(err, ERR_REJECT, "`%s` of a transform must be %s", name,
                   bit == COLUMNS                             ? "a list of columns"
                   : bit == BY && out->kind == TRANSFORM_JOIN ? "a text"
                                                              : "a text that is not empty");
}

/* Check that strptime(3) parses dates with it, independent of the daemon's time zone. */
static bool check_format(struct str format, struct err *err)
{
    static const char known[] = "aAbBcCdDeFgGhHIjklmMnpPrRStTuUVwWxXyYz%";
    size_t n = 0;

    if (format.len == 0 || str_equal(format, STR("epoch_second")) ||
        str_equal(format, STR("epoch_millis")))
        return true;
    for (size_t i = 0; i < format.len; i++) {
        if (format.ptr[i] != '%')
            continue;
        i += i + 1 < format.len && strchr("EO", format.ptr[i + 1]) != NULL ? 2 : 1;
        n++;
        if (i < format.len && (format.ptr[i] == 's' || format.ptr[i] == 'Z'))
            return err_set(err, ERR_REJECT, "`%%%c` cannot be read: use %s", format.ptr[i],
                           format.ptr[i] == 's' ? "`epoch_second`" : "`%z`, an offset");
        if (i >= format.len || memchr(known, format.ptr[i], sizeof(known) - 1) == NULL)
            return err_set(err, ERR_REJECT,
                           "`%" STR_FMT "` is not a format of strptime(3): `%%%.*s`",
                           STR_ARG(format), i < format.len, format.ptr + i);
    }
    return n > 0 || err_set(err, ERR_REJECT,
                            "`%" STR_FMT "` is not a format of strptime(3), such as "
                            "`%%d.%%m.%%Y`",
                            STR_ARG(format));
}

static bool read_fields(struct arena *a, const struct yaml_node *node, struct transform *out,
                        struct err *err)
{
    const struct kind *k = &kinds[out->kind];
    unsigned given = 0;

    for (size_t i = 0; i < node->n; i++) {
        const struct str name = node->names[i]->text;
        unsigned bit = 0;

        if (str_equal(name, STR("kind")))
            continue;
        for (size_t f = 0; f < ARRAY_LEN(fields); f++)
            if (str_equal(name, str_from(fields[f].name)))
                bit = fields[f].bit;
        if ((bit & k->takes) == 0)
            return err_set(err, ERR_REJECT, "a transform `%s` has no field `%" STR_FMT "`",
                           k->name, STR_ARG(name));
        given |= bit;
        if (!read_field(a, name.ptr, bit, node->items[i], out, err))
            return false;
    }
    for (size_t f = 0; f < ARRAY_LEN(fields); f++)
        if ((k->needs & ~given & fields[f].bit) != 0)
            return err_set(err, ERR_REJECT, "a transform `%s` needs `%s`", k->name,
                           fields[f].name);
    return true;
}

static bool read_step(struct arena *a, const struct yaml_node *node, struct transform *out,
                      struct err *err)
{
    const struct yaml_node *kind = node->kind == YAML_MAP ? yaml_find(node, STR("kind")) : NULL;

    if (kind == NULL || kind->kind != YAML_SCALAR)
        return err_set(err, ERR_REJECT, "a transform needs `kind`");
    return find_kind(kind->text, out, err) && read_fields(a, node, out, err) &&
           check_format(out->format, err);
}

static bool check_order(const struct transform *steps, size_t n, struct err *err)
{
    for (size_t i = 0; i + 1 < n; i++)
        if (kinds[steps[i].kind].ends)
            return err_set(err, ERR_REJECT,
                           "nothing can follow `%s`: it does not produce "
                           "text",
                           kinds[steps[i].kind].name);
    for (size_t i = 1; i < n; i++)
        if (steps[i].kind == TRANSFORM_JOIN)
            return err_set(err, ERR_REJECT, "`join` must come first: it reads columns");
    return true;
}

bool transforms_parse(struct arena *a, struct str json, struct transforms *out, struct err *err)
{
    struct problems *problems = problems_new();
    const struct yaml_node *list =
        json.len == 0 ? NULL : yaml_read(a, "transform", json, problems);
    struct transform *steps = NULL;
    bool fine = true;

    *out = (struct transforms){NULL, 0};
    problems_free(problems);
    if (list == NULL || list->kind != YAML_LIST)
        return true;
    if (list->n == 0)
        return err_set(err, ERR_REJECT, "`transform` has no step: leave it out");
    steps = arena_alloc(a, list->n + 1, sizeof(*steps));
    for (size_t i = 0; fine && i < list->n; i++)
        fine = read_step(a, list->items[i], &steps[i], err);
    *out = (struct transforms){steps, list->n};
    return fine && check_order(steps, list->n, err);
}

bool transforms_read_column(const struct transforms *t)
{
    return t->n == 0 || t->steps[0].kind != TRANSFORM_JOIN;
}

struct column transforms_column(const struct transforms *t, struct str name)
{
    const struct kind *last = &kinds[t->steps[t->n - 1].kind];

    return (struct column){.name = name,
                           .type_text = str_from(last->name),
                           .type = last->type,
                           .charset = STR("utf8mb4"),
                           .length = 8192};
}

const char *transforms_type(const struct transforms *t)
{
    return kinds[t->steps[t->n - 1].kind].field_type;
}
