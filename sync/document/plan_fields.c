#include "config.h"

#include "src/base/arena.h"
#include "src/base/buf.h"
#include "sync/document/plan_compiler.h"
#include "sync/value/schema.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

bool plan_refuse(struct plan_compiler *co, struct place at, const char *fmt, ...)
{
    char text[ERR_MSG_MAX];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    if (at.file == NULL || at.line == 0)
        return err_set(co->err, ERR_REJECT, "%s%s%s", at.file != NULL ? at.file : "",
                       at.file != NULL ? ": " : "", text);
    return err_set(co->err, ERR_REJECT, "%s:%u:%u: %s", at.file, at.line, at.column, text);
}

const struct column *plan_find_column(struct plan_compiler *co, const struct schema *s,
                                      struct str name, struct place at)
{
    size_t i = schema_find(s, name);

    if (i != SIZE_MAX)
        return &s->columns[i];
    plan_refuse(
        co, at,
        "table %" STR_FMT ".%" STR_FMT " has no column `%" STR_FMT
        "`, which the definition names "
        "(was it renamed or dropped?); fix: correct the definition, then millrace apply",
        STR_ARG(s->database), STR_ARG(s->table), STR_ARG(name));
    return NULL;
}

size_t plan_read_column(struct plan_node *b, const struct column *c)
{
    for (size_t i = 0; i < b->n_read; i++)
        if (b->read[i] == c)
            return i;
    b->read[b->n_read] = c;
    return b->n_read++;
}

/* A member name occurs at most once among the schema's columns; relations come after them. */
bool plan_has_member(const struct plan_node *b, struct str member)
{
    for (size_t i = 0; i < b->n_fields; i++)
        if (str_equal(b->fields[i].field.member, member))
            return true;
    for (size_t i = 0; i < b->n_children; i++)
        if (str_equal(b->children[i]->member, member))
            return true;
    return false;
}

struct str plan_member_of(struct plan_compiler *co, struct str name)
{
    struct buf text = {0};

    buf_append_json(&text, name);
    buf_append_char(&text, ':');
    struct str member = arena_copy(co->plan->arena, buf_str(&text));

    buf_free(&text);
    return member;
}

/* Make a field that shows a column's value under this member name. */
static struct plan_field make_field(struct plan_compiler *co, struct plan_node *b,
                                    const struct column *c, struct str member, struct str type)
{
    const struct database_definition *database = definitions_database(co->defs, b->database);
    const struct topic_definition *topic = definitions_topic(co->defs, database->topic);
    struct field f = field_make(c, member, type, topic);

    f.zone = arena_copy(co->plan->arena, f.zone);
    return (struct plan_field){.field = f, .at = plan_read_column(b, c)};
}

static bool take_member(struct plan_compiler *co, struct plan_node *b, struct str name,
                        struct place at, struct str *member)
{
    *member = plan_member_of(co, name);
    return !plan_has_member(b, *member) ||
           plan_refuse(co, at, "the name `%" STR_FMT "` is given twice", STR_ARG(name));
}

static bool add_field(struct plan_compiler *co, struct plan_node *b, const struct column *c,
                      const struct column_definition *d, struct place at)
{
    struct plan_field f;
    struct str member;

    if (!take_member(co, b, d != NULL ? column_as(d) : c->name, at, &member))
        return false;
    f = make_field(co, b, c, member, d != NULL ? d->type : STR(""));
    if (d != NULL)
        f.field.if_null = arena_copy(co->plan->arena, d->default_json);
    b->fields[b->n_fields++] = f;
    return true;
}

/* Add a value computed from the column, or from those that the first step joins. */
static bool add_transformed(struct plan_compiler *co, struct plan_node *b,
                            const struct column_definition *d)
{
    struct plan_field f = {0}, *parts;
    struct transforms steps;
    struct str member;

    if (!transforms_parse(co->plan->arena, d->transform_json, &steps, co->err))
        return plan_refuse(co, d->place, "%s", co->err->msg);
    if (!take_member(co, b, column_as(d), d->place, &member))
        return false;
    if (transforms_read_column(&steps)) {
        const struct column *c = plan_find_column(co, b->schema, d->name, d->place);

        if (c == NULL)
            return false;
        f = make_field(co, b, c, member, STR(""));
    }
    parts = arena_alloc(co->plan->arena, steps.steps[0].n_columns, sizeof(*parts));
    for (size_t i = 0; i < steps.steps[0].n_columns; i++) {
        const struct column *c =
            plan_find_column(co, b->schema, steps.steps[0].columns[i], d->place);

        if (c == NULL)
            return false;
        parts[f.n_parts++] = make_field(co, b, c, member, STR(""));
    }
    f.parts = parts;
    f.name = arena_copy(co->plan->arena, d->name);
    f.transforms = steps;
    f.field.member = member;
    f.field.if_null = arena_copy(co->plan->arena, d->default_json);
    b->fields[b->n_fields++] = f;
    return true;
}

static bool add_constant(struct plan_compiler *co, struct plan_node *b,
                         const struct column_definition *d)
{
    struct field f = {0};

    if (!take_member(co, b, column_as(d), d->place, &f.member))
        return false;
    b->fields[b->n_fields++] =
        (struct plan_field){.field = f, .constant = arena_copy(co->plan->arena, d->value_json)};
    return true;
}

/* Add every visible column not listed. */
static bool add_rest(struct plan_compiler *co, struct plan_node *b,
                     const struct plan_source *src, struct place at)
{
    for (size_t i = 0; i < b->schema->n_columns; i++) {
        const struct column *c = &b->schema->columns[i];

        if (!c->invisible && !columns_mention(src->columns, src->n_columns, c->name) &&
            !add_field(co, b, c, NULL, at))
            return false;
    }
    return true;
}

bool plan_add_fields(struct plan_compiler *co, struct plan_node *b,
                     const struct plan_source *src)
{
    const size_t max = b->schema->n_columns + src->n_columns;

    b->fields = arena_alloc(co->plan->arena, max, sizeof(*b->fields));
    if (src->all_columns)
        return add_rest(co, b, src, src->place);
    for (size_t i = 0; i < src->n_columns; i++) {
        const struct column_definition *d = &src->columns[i];
        const struct column *c;

        if (column_is_rest(d)) {
            if (!add_rest(co, b, src, d->place))
                return false;
            continue;
        }
        if (d->has_value || (d->transform_json.len > 0 && !d->skip)) {
            if (d->has_value ? !add_constant(co, b, d) : !add_transformed(co, b, d))
                return false;
            continue;
        }
        c = plan_find_column(co, b->schema, d->name, d->place);
        if (c == NULL || (!d->skip && !add_field(co, b, c, d, d->place)))
            return false;
    }
    return true;
}
