#include "config.h"

#include "src/search/engine.h"

#include "src/base/buf.h"
#include "src/format/json.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define NEVER UINT32_MAX

static const struct kind {
    const char *name;
    const char *tagline; /* how its tagline in GET / begins */
    unsigned oldest;     /* the oldest version that has all that we require */
    unsigned newest;     /* the newest known major version */
    const char *needs;
} kinds[] = {
    [SEARCH_UNKNOWN] = {"search engine", NULL, 0, 0, ""},
    [SEARCH_OPENSEARCH] = {"OpenSearch", "The OpenSearch Project", 10000, 3, "1.0"},
    [SEARCH_ELASTICSEARCH] = {"Elasticsearch", "You Know, for Search", 71000, 9, "7.10"},
};

/* The version that introduced each feature; plain: also in Elasticsearch "oss". */
static const struct {
    unsigned opensearch, elasticsearch;
    bool plain;
} features[N_ENGINE_FEATURES] = {
    [ENGINE_REQUIRE_ALIAS] = {10000, 71000, true},
    [ENGINE_FLAT_JSON] = {20700, 70300, false},
    [ENGINE_UNSIGNED_LONG] = {20800, 71000, false},
    [ENGINE_COMPATIBLE] = {NEVER, 80000, true},
};

bool engine_has(const struct engine *e, enum engine_feature feature)
{
    const bool is_elastic = e->flavor == SEARCH_ELASTICSEARCH;
    const unsigned since =
        is_elastic ? features[feature].elasticsearch : features[feature].opensearch;

    if (since == NEVER || (is_elastic && e->plain && !features[feature].plain))
        return false;
    return e->version == 0 || e->version >= since;
}

const char *engine_name(const struct engine *e)
{
    return kinds[e->flavor].name;
}

unsigned engine_major(const struct engine *e)
{
    return e->version == 0 ? kinds[e->flavor].newest : e->version / 10000;
}

bool engine_is_new(const struct engine *e)
{
    return e->flavor != SEARCH_UNKNOWN && engine_major(e) > kinds[e->flavor].newest;
}

unsigned engine_compatible(const struct engine *e)
{
    if (!engine_has(e, ENGINE_COMPATIBLE))
        return 0;
    return engine_is_new(e) ? kinds[e->flavor].newest : engine_major(e);
}

/* ---- who it is ---- */

static enum search_flavor flavor_of(struct str body)
{
    enum search_flavor found = SEARCH_UNKNOWN;
    struct buf text = {0};

    if (json_find_text(body, "/version/distribution", &text) &&
        str_equal(buf_str(&text), STR("opensearch")))
        found = SEARCH_OPENSEARCH;
    buf_clear(&text);
    if (found == SEARCH_UNKNOWN && json_find_text(body, "/tagline", &text))
        for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
            if (kinds[i].tagline != NULL &&
                strncmp(text.ptr, kinds[i].tagline, strlen(kinds[i].tagline)) == 0)
                found = (enum search_flavor)i;
    buf_free(&text);
    return found;
}

static unsigned number_of(const char *text)
{
    unsigned parts[3] = {0};

    if (sscanf(text, "%4u.%2u.%2u", &parts[0], &parts[1], &parts[2]) < 1)
        return 0;
    return parts[0] * 10000 + parts[1] * 100 + parts[2];
}

/*
 * OpenSearch 1 and 2 can be set to report 7.10.2, for old clients. The node versions that they
 * can read tell them apart: 1 reads nodes of 6.8, 2 of 7.10. The answer hides the minor
 * version, so we assume the first.
 */
static unsigned undisguise(struct str body)
{
    struct buf wire = {0};
    unsigned version = 10000;

    if (json_find_text(body, "/version/minimum_wire_compatibility_version", &wire) &&
        number_of(wire.ptr) >= 71000)
        version = 20000;
    buf_free(&wire);
    return version;
}

bool engine_identify(struct str body, struct engine *out, struct buf *text, struct err *err)
{
    const size_t from = text->len;
    struct buf build = {0};

    *out = (struct engine){.flavor = flavor_of(body)};
    if (json_find_text(body, "/version/number", text))
        out->version = number_of(text->ptr + from);
    if (out->flavor == SEARCH_UNKNOWN || out->version == 0)
        return err_set(
            err, ERR_REJECT,
            "the server at search.url is not OpenSearch or Elasticsearch; fix: check "
            "the address");
    if (out->flavor == SEARCH_OPENSEARCH && out->version / 10000 == 7)
        out->version = undisguise(body);
    out->plain = out->flavor == SEARCH_ELASTICSEARCH &&
                 json_find_text(body, "/version/build_flavor", &build) &&
                 str_equal(buf_str(&build), STR("oss"));
    buf_free(&build);
    if (out->version >= kinds[out->flavor].oldest)
        return true;
    return err_set(err, ERR_REJECT,
                   "%s %s is too old: it lacks require_alias; fix: upgrade to %s or later",
                   engine_name(out), text->ptr + from, kinds[out->flavor].needs);
}
