#include "config.h"

#include "rebalance/state/parts.h"

void coordinator_stored_view(struct coordinator *co, struct stored_view *v)
{
    struct arena *a = arena_new();
    struct stored_version *versions;

    v->arena = a;
    v->catalogue = coordinator_catalogue(co);
    v->definitions = coordinator_definitions(co);
    versions = arena_alloc(a, v->catalogue->n_versions + 1, sizeof(*versions));
    for (size_t i = 0; i < v->catalogue->n_versions; i++)
        versions[i] = v->catalogue->versions[i];
    v->facts = (struct stored_facts){
        .owner = str_from(co->identity.owner),
        .versions = versions,
        .n_versions = v->catalogue->n_versions,
        .wanted = arena_alloc(a, v->definitions->n_tables + 1, sizeof(struct wanted_index)),
        .n_wanted = v->definitions->n_tables,
    };
    for (size_t i = 0; i < v->definitions->n_tables; i++) {
        const struct table_definition *t = &v->definitions->tables[i];

        v->facts.wanted[i] = (struct wanted_index){
            table_index(t), table_name(definition_lead(v->definitions, t))};
    }
    stored_facts_order(&v->facts);
}

void coordinator_stored_view_free(struct stored_view *v)
{
    arena_free(v->arena);
    catalogue_unref(v->catalogue);
    definitions_unref(v->definitions);
}
