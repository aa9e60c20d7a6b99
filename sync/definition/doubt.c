#include "config.h"

#include "sync/definition/doubt.h"

#include "sync/definition/expression.h"

struct doubting {
    const struct definitions *d;
    struct problems *problems;
};

static void check_text(struct doubting *x, const char *field, struct str text,
                       struct place place)
{
    struct expression_doubt doubt;

    if (text.len == 0 || !expression_find_doubt(text, &doubt))
        return;
    problems_add(x->problems, SEVERITY_ERROR, definitions_place(x->d, text, place),
                 "`%" STR_FMT "` in `%s` %s", STR_ARG(doubt.what), field, doubt.why);
    problems_fix(x->problems, "%s", doubt.fix);
}

static void check_relations(struct doubting *x, const struct relation_definition *relations,
                            size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct relation_definition *r = &relations[i];

        check_text(x, "where", r->where, r->place);
        check_text(x, "order_by", r->order_by, r->place);
        check_relations(x, r->relations, r->n_relations);
    }
}

void definition_check_doubt(const struct definitions *d, const struct table_definition *t,
                            struct problems *problems)
{
    struct doubting x = {d, problems};

    check_text(&x, "filter", t->filter, t->place);
    check_relations(&x, t->relations, t->n_relations);
}
