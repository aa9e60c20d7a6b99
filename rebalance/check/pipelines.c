#include "config.h"

#include "rebalance/check/pipelines.h"

#include "rebalance/doctor/doctor.h"
#include "src/base/map.h"
#include "src/base/mem.h"
#include "src/format/json.h"
#include "sync/definition/diff.h"

#include <stdlib.h>

/* ---- what a pipeline does ---- */

static const char *const identity[] = {"_index", "_id", "_routing", "_version",
                                       "_version_type"};

static const char *identity_of(struct str field)
{
    for (size_t i = 0; i < ARRAY_LEN(identity); i++)
        if (json_string_equal(field, str_from(identity[i])))
            return identity[i];
    return NULL;
}

/* These always set the index. */
static bool is_rerouter(struct str processor)
{
    return str_equal(processor, STR("date_index_name")) || str_equal(processor, STR("reroute"));
}

static const char *find_in(struct json_reader *j);

/* A processor writes to its `target_field` or, without one, to its `field`. */
static const char *find_in_object(struct json_reader *j)
{
    const char *inner = NULL;
    struct str key, field = STR(""), target = STR("");

    if (!json_enter_object(j))
        return NULL;
    while (json_next_member(j, &key)) {
        const bool is_text = json_peek(j) == JSON_STRING;
        const char *found = NULL;

        if (is_text && str_equal(key, STR("field")))
            (void)json_read_string(j, &field);
        else if (is_text && str_equal(key, STR("target_field")))
            (void)json_read_string(j, &target);
        else
            found = is_rerouter(key) && json_skip(j) ? identity[0] : find_in(j);
        inner = inner != NULL ? inner : found;
    }
    return inner != NULL ? inner : identity_of(target.len > 0 ? target : field);
}

static const char *find_in(struct json_reader *j)
{
    const char *found = NULL;

    if (json_peek(j) == JSON_OBJECT)
        return find_in_object(j);
    if (json_peek(j) != JSON_ARRAY || !json_enter_array(j)) {
        (void)json_skip(j);
        return NULL;
    }
    while (json_next_element(j)) {
        const char *one = find_in(j);

        found = found != NULL ? found : one;
    }
    return found;
}

const char *pipeline_find_identity(struct str json)
{
    struct json_reader j;

    json_reader_init(&j, json);
    return find_in(&j);
}

/* ---- asking ---- */

/* What the engine said of one pipeline. */
struct heard_pipeline {
    bool is_there;
    struct err why; /* if it is not */
    struct buf json;
};

struct pipelines_look {
    struct coordinator *co;
    const struct definitions *d;
    struct map *heard; /* by name */
    struct problems *problems;
    bool is_away; /* the engine does not say: ask no more */
};

static void drop(void *heard)
{
    buf_free(&((struct heard_pipeline *)heard)->json);
    free(heard);
}

static const struct heard_pipeline *ask(struct pipelines_look *x, struct str name)
{
    struct heard_pipeline *heard = map_find(x->heard, name);

    if (heard != NULL)
        return heard;
    heard = mem_alloc(1, sizeof(*heard));
    heard->is_there = search_get_pipeline(x->co->opt.search, name, &heard->json, &heard->why);
    (void)map_put(x->heard, name, heard);
    return heard;
}

static bool is_missing(const struct heard_pipeline *heard)
{
    return !heard->is_there && heard->why.kind == ERR_REJECT && heard->why.code == 404;
}

static void check_one(struct pipelines_look *x, const struct table_definition *t)
{
    const struct place place = definitions_place(x->d, t->pipeline, t->place);
    const struct heard_pipeline *heard = ask(x, t->pipeline);
    const char *what = NULL;

    if (is_missing(heard)) {
        problems_add(x->problems, SEVERITY_ERROR, place,
                     "the search engine has no ingest pipeline `%" STR_FMT "`",
                     STR_ARG(t->pipeline));
        problems_fix(x->problems,
                     "create it (PUT /_ingest/pipeline/%" STR_FMT "), or correct `pipeline`",
                     STR_ARG(t->pipeline));
    } else if (!heard->is_there) {
        x->is_away = true;
        problems_add(x->problems, SEVERITY_WARNING, place,
                     "Millrace cannot tell whether the pipeline exists: %s", heard->why.msg);
    } else if ((what = pipeline_find_identity(buf_str(&heard->json))) != NULL) {
        problems_add(x->problems, SEVERITY_ERROR, place,
                     "the ingest pipeline `%" STR_FMT "` sets `%s`, so later changes of a row "
                     "would not find its document",
                     STR_ARG(t->pipeline), what);
        problems_fix(x->problems, "take that processor out of the pipeline; the definition "
                                  "has `index`, `key` and `join` for this");
    }
}

/* diff: only the tables that it changes; NULL: all. */
static void check_all(struct coordinator *co, const struct definitions *d,
                      const struct definition_diff *diff, struct problems *problems)
{
    struct pipelines_look x = {co, d, map_new(), problems, false};

    for (size_t i = 0; i < d->n_tables && !x.is_away; i++) {
        const struct table_definition *t = &d->tables[i];

        if (t->pipeline.len > 0 &&
            (diff == NULL || definition_diff_touches(diff, "table", table_name(t))))
            check_one(&x, t);
    }
    map_free(x.heard, drop);
}

void coordinator_check_pipelines(struct coordinator *co, const struct definitions *d,
                                 const struct definition_diff *diff, struct problems *problems)
{
    check_all(co, d, diff, problems);
}

void coordinator_doctor_pipelines(struct coordinator *co, const struct definitions *d,
                                  struct doctor_list *l)
{
    struct problems *problems = problems_new();

    check_all(co, d, NULL, problems);
    for (size_t i = 0; i < problems_n(problems); i++)
        doctor_add(l, &(struct doctor_check){.id = STR("search.pipelines"),
                                             .group = STR("search engine"),
                                             .status = DOCTOR_FAIL,
                                             .message = problems_get(problems, i)->message,
                                             .why = STR("the index takes no documents"),
                                             .fix = problems_get(problems, i)->fix});
    problems_free(problems);
}
