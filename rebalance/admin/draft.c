#include "config.h"

#include "rebalance/admin/draft.h"

#include "rebalance/admin/definitions.h"
#include "rebalance/state/parts.h"

#include "src/base/mem.h"
#include "src/format/problem.h"
#include "sync/definition/parse.h"

#include <stdlib.h>

struct definition_file *draft_files(const struct definition_files *files)
{
    struct definition_file *list = mem_alloc(files->n + 1, sizeof(*list));

    for (size_t i = 0; i < files->n; i++)
        list[i] = (struct definition_file){files->list[i].name, files->list[i].text,
                                           files->list[i].folder, files->variables};
    return list;
}

bool draft_refuse(const struct problems *problems, struct buf *json, struct err *err)
{
    const size_t n = problems_count(problems, SEVERITY_ERROR);

    problems_append_json(problems, json);
    return refuse(err, 422, "%zu error%s, nothing was stored", n, n == 1 ? "" : "s");
}

bool coordinator_ask_of_draft(struct coordinator *co, errand_fn run, struct str table,
                              struct str key, const struct definition_files *files,
                              struct buf *json, struct err *err)
{
    struct definition_file *list;
    struct definitions *now, *draft;
    struct problems *problems;
    bool ok;

    if (files == NULL)
        return coordinator_ask_of_table(co, run, table, key, NULL, json, err);
    list = draft_files(files);
    now = coordinator_definitions(co);
    problems = problems_new();
    draft = definition_apply(now, list, files->n, false, problems);
    ok = draft != NULL ? coordinator_ask_of_table(co, run, table, key, draft, json, err)
                       : draft_refuse(problems, json, err);
    problems_free(problems);
    definitions_unref(draft);
    definitions_unref(now);
    free(list);
    return ok;
}
