#include "config.h"

#include "sync/model/subject.h"

#include "src/base/nearest.h"

struct place subject_place(const struct checker *c, struct str text, struct place otherwise)
{
    return definitions_place(c->d, text, otherwise);
}

static void offer(void *to, struct str name)
{
    nearest_offer(to, name);
}

static void report_missing(struct checker *c, const struct subject *s)
{
    struct nearest near = nearest_to(s->at.name);

    c->incomplete = true;
    if (!c->source->each_table(c->source->ctx, s->at.topic, s->at.schema, offer, &near)) {
        problems_add(c->problems, SEVERITY_ERROR, s->place,
                     "there is no schema `%" STR_FMT
                     "` on the server, or its tables may not be "
                     "seen",
                     STR_ARG(s->at.schema));
        problems_fix(c->problems, "GRANT SELECT ON `%" STR_FMT "`.* TO the user of the topic",
                     STR_ARG(s->at.schema));
        return;
    }
    problems_add(c->problems, SEVERITY_ERROR, s->place,
                 "there is no table `%" STR_FMT "` in `%" STR_FMT "`%s%" STR_FMT "%s",
                 STR_ARG(s->at.name), STR_ARG(s->at.schema),
                 near.best.len > 0 ? "; did you mean `" : "", STR_ARG(near.best),
                 near.best.len > 0 ? "`?" : "");
}

struct subject subject_find(struct checker *c, struct str table, struct place place)
{
    struct subject s = {.table = table, .place = subject_place(c, table, place)};

    if (!definitions_locate(c->d, table, &s.at))
        return s;
    s.facts = c->source->find(c->source->ctx, s.at.topic, s.at.schema, s.at.name);
    if (s.facts != NULL && s.facts->schema == NULL)
        s.facts = NULL;
    if (s.facts == NULL)
        report_missing(c, &s);
    return s;
}

const struct column *subject_column(struct checker *c, const struct subject *s, struct str name,
                                    struct place otherwise)
{
    const struct schema *schema = s->facts->schema;
    struct nearest near = nearest_to(name);
    size_t at = schema_find(schema, name);

    if (at != SIZE_MAX)
        return &schema->columns[at];
    for (size_t i = 0; i < schema->n_columns; i++)
        nearest_offer(&near, schema->columns[i].name);
    problems_add(c->problems, SEVERITY_ERROR, subject_place(c, name, otherwise),
                 "table `%" STR_FMT "` has no column `%" STR_FMT "`%s%" STR_FMT "%s",
                 STR_ARG(s->table), STR_ARG(name), near.best.len > 0 ? "; did you mean `" : "",
                 STR_ARG(near.best), near.best.len > 0 ? "`?" : "");
    return NULL;
}
