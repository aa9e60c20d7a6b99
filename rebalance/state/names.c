#include "config.h"

#include "rebalance/state/parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void coordinator_index_name(struct buf *b, struct str alias, uint64_t number)
{
    buf_printf(b, "%" STR_FMT "_v%" PRIu64, STR_ARG(alias), number);
}

void coordinator_write_alias(struct buf *b, struct str alias, uint64_t number)
{
    coordinator_index_name(b, alias, number);
    buf_append(b, STR("_write"));
}

bool coordinator_split_index_name(const char *index, struct str *alias, uint64_t *number)
{
    const struct str name = str_from(index);
    size_t at = name.len;

    while (at > 0 && name.ptr[at - 1] >= '0' && name.ptr[at - 1] <= '9')
        at--;
    if (at == name.len || at < 3 || memcmp(name.ptr + at - 2, "_v", 2) != 0)
        return false;
    *alias = (struct str){name.ptr, at - 2};
    *number = strtoull(name.ptr + at, NULL, 10);
    return true;
}

const struct table_definition *coordinator_find_table(const struct definitions *d,
                                                      struct str name, struct err *err)
{
    const struct table_definition *t = definitions_table(d, name);

    if (t == NULL)
        t = definition_lead_of(d, name);
    for (size_t i = 0; t == NULL && i < d->n_tables; i++)
        if (definition_names(&d->tables[i], name))
            t = &d->tables[i];
    if (t != NULL)
        return t;
    refuse(err, 404, "no table or index %" STR_FMT " is defined; fix: see millrace table list",
           STR_ARG(name));
    return NULL;
}
