#include "config.h"

#include "rebalance/check/taken.h"

#include "rebalance/check/asked.h"

#include "sync/mapping/mapping.h"
#include "sync/mapping/usual.h"

#include <string.h>

#define ENGINE_MS 2000
#define FORBIDDEN 403
#define REFUSED   400

#define BY_PLUGIN "install the engine's plugin for it, or give the field another type"

/* What no index can be created with, in the words of the engines. */
static const struct {
    const char *words, *fix;
} refusals[] = {
    {"No handler for type [", BY_PLUGIN},
    {"The mapper type [", BY_PLUGIN}, /* Elasticsearch 8 */
    {"unknown setting [index.knn]", BY_PLUGIN},
    {"Limit of total fields [",
     "raise index.mapping.total_fields.limit in `settings`, or show fewer columns"},
};

/* Other refusals may be of the question, not of the index. */
static void report_refusal(const struct table_definition *lead, const char *reason,
                           struct problems *problems)
{
    const char *fix = NULL;

    for (size_t i = 0; i < ARRAY_LEN(refusals); i++)
        if (strstr(reason, refusals[i].words) != NULL)
            fix = refusals[i].fix;
    problems_add(problems, fix != NULL ? SEVERITY_ERROR : SEVERITY_WARNING, lead->place,
                 "the search engine does not take the index of `%" STR_FMT "`: %s",
                 STR_ARG(table_name(lead)), reason);
    if (fix != NULL)
        problems_fix(problems, "%s", fix);
}

static bool ask(struct coordinator *co, const struct table_definition *lead, struct str body,
                struct problems *problems)
{
    struct err err = {0};

    if (search_try_index(co->opt.search, body, ENGINE_MS, &err))
        return true;
    if (err.kind == ERR_REJECT && err.code == REFUSED) {
        report_refusal(lead, err.msg, problems);
        return true;
    }
    if (err.kind == ERR_REJECT && err.code == FORBIDDEN)
        problems_add(problems, SEVERITY_NOTE, lead->place,
                     "Millrace may not ask the search engine whether it takes the index of "
                     "`%" STR_FMT "`: %s",
                     STR_ARG(table_name(lead)), err.msg);
    return false;
}

bool coordinator_check_taken(struct coordinator *co, const struct definitions *d,
                             const struct table_definition *lead, struct asked *asked,
                             struct problems *problems)
{
    const struct mapping_request request = {.definitions = d,
                                            .table = lead,
                                            .find = asked_find,
                                            .list = asked_list,
                                            .ctx = asked,
                                            .engine = search_engine(co->opt.search)};
    struct buf body = {0};
    struct err ignored = {0}; /* another check reports an index without a body */
    const bool goes_on = !mapping_index_body(&request, &body, &ignored) ||
                         mapping_is_usual(buf_str(&body)) ||
                         ask(co, lead, buf_str(&body), problems);

    buf_free(&body);
    return goes_on;
}
